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

static const struct {
	const char *arg; /* the whole argument, or its beginning if '*' is last */
	const char *mode;
} modes[] = {
	{"rescue", "rescue mode"},
	{"single", "rescue mode"},
	{"s", "rescue mode"},
	{"S", "rescue mode"},
	{"1", "rescue mode"},
	{"-s", "rescue mode"},
	{"rd.rescue", "rescue mode"},
	{"emergency", "emergency mode"},
	{"-b", "emergency mode"},
	{"rd.emergency", "emergency mode"},
	{"systemd.unit=rescue.*", "rescue mode"},
	{"systemd.unit=runlevel1.*", "rescue mode"},
	{"systemd.unit=emergency.*", "emergency mode"},
	{"systemd.unit=kdump*", "a crash kernel"},
	{"rd.systemd.unit=rescue.*", "rescue mode"},
	{"rd.systemd.unit=runlevel1.*", "rescue mode"},
	{"rd.systemd.unit=emergency.*", "emergency mode"},
	{"rd.systemd.unit=kdump*", "a crash kernel"},
	{"rd.break", "an initramfs stopped for debugging"},
	{"rd.break=*", "an initramfs stopped for debugging"},
	{"rdbreak", "an initramfs stopped for debugging"},
	/*
	 * For initramfs-tools, mkinitcpio and live-boot; neither the kernel nor systemd reads
	 * these.
	 */
	{"break", "an initramfs stopped for debugging"},
	{"break=*", "an initramfs stopped for debugging"},
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

const char *arg_boot_mode(const char *arg)
{
	for (size_t i = 0; i < array_len(modes); i++) {
		size_t len = strlen(modes[i].arg);

		if (modes[i].arg[len - 1] == '*' ? strncmp(arg, modes[i].arg, len - 1) == 0
						 : streq(arg, modes[i].arg))
			return modes[i].mode;
	}
	if (str_starts(arg, "init=") && !is_systemd(arg + strlen("init=")))
		return "another init";
	return NULL;
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
