/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/mode.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/words.h"
#include "boot/kargs.h"
#include "sys/read.h"

/* If one of these keys is repeated, the last occurrence counts. */
static const char *const keys[] = {"systemd.unit", "rd.systemd.unit", "init"};

static bool is_of_keys(const char *word)
{
	for (size_t i = 0; i < array_len(keys); i++)
		if (karg_same_key(word, keys[i]))
			return true;
	return false;
}

static char *mode_of_keys(const char *cmdline)
{
	for (size_t i = 0; i < array_len(keys); i++) {
		cleanup_free char *value = kargs_value(cmdline, keys[i]);
		cleanup_free char *word = value ? xasprintf("%s=%s", keys[i], value) : NULL;
		const char *mode = word ? arg_boot_mode(word) : NULL;

		if (mode)
			return xasprintf("%s (%s)", mode, word);
	}
	return NULL;
}

static char *mode_of_cmdline(const char *cmdline)
{
	cleanup_kargs struct kargs words = {0};

	kargs_split(&words, cmdline, NULL);
	for (size_t i = 0; i < words.n; i++) {
		const char *word = words.v[i].text, *mode = arg_boot_mode(word);

		if (mode && !is_of_keys(word))
			return xasprintf("%s (%s)", mode, word);
	}
	return mode_of_keys(cmdline);
}

/* Reads the environment of init, one NUL-terminated string after another. */
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
	/* The initramfs of kexec-tools sets IN_KDUMP; /proc/vmcore exists only in a crash kernel.
	 */
	if (getenv("IN_KDUMP") || root_exists(root, "proc/vmcore"))
		return xstrdup("a crash kernel (kdump)");
	if (root_exists(root, "run/systemd/container") || init_is_in_container(root))
		return xstrdup("a container");
	return NULL;
}

bool boot_is_of_machine(const struct root *root)
{
	cleanup_free char *other = root->live ? mode_of_machine(root) : NULL;

	return !other;
}

static bool switched_off(const char *cmdline)
{
	static const char *const words[] = {"off", "0", "no", "false"};
	cleanup_free char *v = kargs_value(cmdline, "railhead");

	for (size_t i = 0; v && i < array_len(words); i++)
		if (streq(v, words[i]))
			return true;
	return false;
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
