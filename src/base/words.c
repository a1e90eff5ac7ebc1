/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/words.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/str.h"

/*
 * Words that set the same variable to different values: drivers/pci/pci.c,
 * drivers/iommu/amd/init.c, ...
 */
static const char *const groups[][5] = {
	{"pcie_bus_tune_off", "pcie_bus_safe", "pcie_bus_perf", "pcie_bus_peer2peer"},
	{"pgtbl_v1", "pgtbl_v2"},
	{"active", "passive"},
};

static bool is_of(const char *word, const char *const *group)
{
	for (; *group; group++)
		if (streq(word, *group))
			return true;
	return false;
}

/*
 * Whether s ends in suffix; *ret_stem: the length before it. "sm_on" ends in "on", "option" does
 * not.
 */
static bool ends(const char *s, const char *suffix, size_t *ret_stem)
{
	size_t n = strlen(s), m = strlen(suffix);

	if (n < m || !streq(s + n - m, suffix))
		return false;
	*ret_stem = n - m;
	return n == m || s[n - m - 1] == '_';
}

static bool switched(const char *on, const char *off)
{
	size_t i, j;

	return ends(on, "on", &i) && ends(off, "off", &j) && i == j && strncmp(on, off, i) == 0;
}

static bool negated(const char *a, const char *no)
{
	return *a && str_starts(no, "no") && streq(no + 2, a);
}

/* "realloc" is "realloc=on". */
static bool assigned(const char *a, const char *b)
{
	size_t i = strcspn(a, "="), j = strcspn(b, "=");

	if (i != j || strncmp(a, b, i) != 0 || (!a[i] && !b[j]))
		return false;
	return !streq(a[i] ? a + i + 1 : "on", b[j] ? b + j + 1 : "on");
}

bool words_oppose(const char *a, const char *b)
{
	if (streq(a, b))
		return false;
	for (size_t i = 0; i < array_len(groups); i++)
		if (is_of(a, groups[i]) && is_of(b, groups[i]))
			return true;
	return switched(a, b) || switched(b, a) || negated(a, b) || negated(b, a) || assigned(a, b);
}

/* --- modes of a boot ----------------------------------------------------------------------- */

struct boot_word {
	const char *arg; /* the whole argument, or its beginning if '*' is last */
	const char *mode;
};

/*
 * Boots that end without the gate, or in which a person works at a prompt, as systemd(1),
 * systemd-debug-generator(8), dracut.cmdline(7), initramfs-tools(7) and friendly-recovery of Ubuntu
 * read them. units/railhead-trial.timer leaves these boots alone by the same words
 * (tests/boot_words.bats compares): a row is one argument, or a key with any value ('=' before
 * '*').
 */
static const struct boot_word without_gate[] = {
	{"rescue", "rescue mode"},
	{"single", "rescue mode"},
	{"s", "rescue mode"},
	{"S", "rescue mode"},
	{"1", "rescue mode"},
	{"-s", "rescue mode"},
	{"rd.rescue", "rescue mode"},
	{"recovery", "rescue mode"},
	{"emergency", "emergency mode"},
	{"-b", "emergency mode"},
	{"rd.emergency", "emergency mode"},
	{"systemd.unit=rescue.target", "rescue mode"},
	{"systemd.unit=rescue.service", "rescue mode"},
	{"systemd.unit=rescue-ssh.target", "rescue mode"},
	{"systemd.unit=runlevel1.target", "rescue mode"},
	{"systemd.unit=emergency.target", "emergency mode"},
	{"systemd.unit=emergency.service", "emergency mode"},
	{"rd.systemd.unit=rescue.target", "rescue mode"},
	{"rd.systemd.unit=rescue.service", "rescue mode"},
	{"rd.systemd.unit=emergency.target", "emergency mode"},
	{"rd.systemd.unit=emergency.service", "emergency mode"},
	{"systemd.unit=system-update.target", "an offline update"},
	{"systemd.unit=selinux-autorelabel.target", "an SELinux relabel"},
	{"systemd.break", "a boot stopped for debugging"},
	{"systemd.break=*", "a boot stopped for debugging"},
	{"rd.systemd.break", "an initramfs stopped for debugging"},
	{"rd.systemd.break=*", "an initramfs stopped for debugging"},
	{"rd.break", "an initramfs stopped for debugging"},
	{"rd.break=*", "an initramfs stopped for debugging"},
	{"rdbreak", "an initramfs stopped for debugging"},
	{"rdbreak=*", "an initramfs stopped for debugging"},
	{"rd.cmdline=ask", "an initramfs stopped for debugging"},
	/*
	 * For initramfs-tools, mkinitcpio and live-boot; neither the kernel nor systemd reads
	 * these.
	 */
	{"break", "an initramfs stopped for debugging"},
	{"break=*", "an initramfs stopped for debugging"},
};

/* Boots in which the gate, if it runs, gives its verdict (or /proc/vmcore says what they are). */
static const struct boot_word with_gate[] = {
	{"systemd.unit=kdump*", "a crash kernel"},
	{"rd.systemd.unit=kdump*", "a crash kernel"},
	{"rd.live.*", "a live system"},
	{"root=live:*", "a live system"},
	{"boot=live", "a live system"},
	{"boot=casper", "a live system"},
	{"netroot=*", "a root file system over the network"},
	{"nfsroot=*", "a root file system over the network"},
	{"root=/dev/nfs", "a root file system over the network"},
	{"root=nfs", "a root file system over the network"},
	{"root=nfs:*", "a root file system over the network"},
	{"root=nfs4", "a root file system over the network"},
	{"root=nfs4:*", "a root file system over the network"},
	{"root=iscsi", "a root file system over the network"},
	{"root=iscsi:*", "a root file system over the network"},
	{"root=nbd", "a root file system over the network"},
	{"root=nbd:*", "a root file system over the network"},
};

static bool is_systemd(const char *init)
{
	static const char *const names[] = {"/sbin/init",	    "/usr/sbin/init",
					    "/lib/systemd/systemd", "/usr/lib/systemd/systemd",
					    "/bin/systemd",	    "/usr/bin/systemd"};

	for (size_t i = 0; i < array_len(names); i++)
		if (streq(init, names[i]))
			return true;
	return false;
}

static const char *mode_of(const struct boot_word *words, size_t n, const char *arg)
{
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(words[i].arg);

		if (words[i].arg[len - 1] == '*' ? strncmp(arg, words[i].arg, len - 1) == 0
						 : streq(arg, words[i].arg))
			return words[i].mode;
	}
	return NULL;
}

const char *arg_boot_mode(const char *arg)
{
	const char *mode = mode_of(without_gate, array_len(without_gate), arg);

	if (!mode)
		mode = mode_of(with_gate, array_len(with_gate), arg);
	if (!mode && str_starts(arg, "init=") && !is_systemd(arg + strlen("init=")))
		return "another init";
	return mode;
}

const char *param_value(const char *text)
{
	if (strcasecmp(text, "y") == 0)
		return "1";
	return strcasecmp(text, "n") == 0 ? "0" : text;
}

bool commas_have(const char *text, const char *word)
{
	while (*text) {
		size_t len = strcspn(text, ",");

		if (len == strlen(word) && strncmp(text, word, len) == 0)
			return true;
		text += len + (text[len] == ',');
	}
	return false;
}
