/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/mode.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/kargs.h"
#include "sys/read.h"

static bool is_one_of(const char *s, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (streq(s, list[i]))
			return true;
	return false;
}

#define ONE_OF(s, ...)                                   \
	is_one_of(s, (const char *const[]){__VA_ARGS__}, \
		  sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* Words that systemd(1) and dracut.cmdline(7) take as a mode of their own. */
static const char *mode_of_word(const char *w)
{
	if (ONE_OF(w, "rescue", "single", "s", "S", "1", "-s", "rd.rescue"))
		return "rescue mode";
	if (ONE_OF(w, "emergency", "-b", "rd.emergency"))
		return "emergency mode";
	if (ONE_OF(w, "rd.break", "rdbreak") || str_starts(w, "rd.break="))
		return "an initramfs stopped for debugging";
	if (str_starts(w, "rd.live.") || str_starts(w, "root=live:") ||
	    ONE_OF(w, "boot=live", "boot=casper"))
		return "a live system";
	if (str_starts(w, "netroot=") || str_starts(w, "nfsroot=") || str_starts(w, "root=nfs:") ||
	    str_starts(w, "root=nfs4:") || str_starts(w, "root=iscsi:") ||
	    str_starts(w, "root=nbd:") ||
	    ONE_OF(w, "root=/dev/nfs", "root=nfs", "root=nfs4", "root=iscsi", "root=nbd"))
		return "a root file system over the network";
	return NULL;
}

static bool is_systemd(const char *init)
{
	return ONE_OF(init, "/sbin/init", "/usr/sbin/init", "/lib/systemd/systemd",
		      "/usr/lib/systemd/systemd", "/bin/systemd", "/usr/bin/systemd");
}

static bool is_mode_unit(const char *unit)
{
	return str_starts(unit, "rescue.") || str_starts(unit, "emergency.") ||
	       str_starts(unit, "runlevel1.") || str_starts(unit, "kdump");
}

/* Of keys that are given twice, the last one counts. */
static char *mode_of_keys(const char *cmdline)
{
	static const char *const unit_keys[] = {"systemd.unit", "rd.systemd.unit"};
	cleanup_free char *init = kargs_value(cmdline, "init");

	for (size_t i = 0; i < array_len(unit_keys); i++) {
		cleanup_free char *unit = kargs_value(cmdline, unit_keys[i]);

		if (unit && is_mode_unit(unit))
			return xasprintf("%s=%s", unit_keys[i], unit);
	}
	if (init && !is_systemd(init))
		return xasprintf("another init (init=%s)", init);
	return NULL;
}

static char *mode_of_cmdline(const char *cmdline)
{
	cleanup_kargs struct kargs words = {0};

	kargs_split(&words, cmdline, NULL);
	for (size_t i = 0; i < words.n; i++) {
		const char *mode = mode_of_word(words.v[i].text);

		if (mode)
			return xasprintf("%s (%s)", mode, words.v[i].text);
	}
	return mode_of_keys(cmdline);
}

/* The environment of init, one NUL-terminated string after another. */
static bool init_is_in_container(const struct root *root)
{
	cleanup_free char *env = NULL;
	size_t len = 0;

	if (read_file(root, READ_TEXT_MAX, &env, &len, NULL, "proc/1/environ") < 0)
		return false;
	for (size_t i = 0; i < len; i += strlen(env + i) + 1)
		if (str_starts(env + i, "container="))
			return true;
	return false;
}

static char *mode_of_machine(const struct root *root)
{
	/* Set by the initramfs of kexec-tools; /proc/vmcore exists in a crash kernel alone. */
	if (getenv("IN_KDUMP") || root_exists(root, "proc/vmcore"))
		return xstrdup("a crash kernel (kdump)");
	if (root_exists(root, "run/systemd/container") || init_is_in_container(root))
		return xstrdup("a container");
	return NULL;
}

static bool switched_off(const char *cmdline)
{
	cleanup_free char *v = kargs_value(cmdline, "railhead");

	return v && ONE_OF(v, "off", "0", "no", "false");
}

enum boot_mode boot_mode(const struct root *root, const char *cmdline, char **why)
{
	cleanup_free char *special = NULL;

	if (why)
		*why = NULL;
	if (switched_off(cmdline)) {
		if (why)
			*why = xstrdup("railhead=off on the kernel command line");
		return BOOT_OFF;
	}
	special = mode_of_cmdline(cmdline);
	if (!special && root->live)
		special = mode_of_machine(root);
	if (!special)
		return BOOT_NORMAL;
	if (why)
		*why = take_ptr(special);
	return BOOT_SPECIAL;
}
