/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/mode.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/words.h"
#include "kargs/kargs.h"
#include "sys/machine.h"
#include "sys/read.h"

/* If one of these keys is repeated, the last occurrence counts. */
static bool is_overruled(const struct kargs *words, size_t i)
{
	static const char *const keys[] = {"systemd.unit", "rd.systemd.unit", "init", "railhead"};
	const char *word = words->v[i].text;

	for (size_t k = 0; k < array_len(keys); k++)
		for (size_t j = i + 1; karg_same_key(word, keys[k]) && j < words->n; j++)
			if (karg_same_key(words->v[j].text, keys[k]))
				return true;
	return false;
}

static bool is_off(const char *word)
{
	static const char *const words[] = {"railhead=off", "railhead=0", "railhead=no",
					    "railhead=false"};

	for (size_t i = 0; i < array_len(words); i++)
		if (karg_equal(word, words[i]))
			return true;
	return false;
}

/* systemd reads the words behind "--" as well. */
static enum boot_mode mode_of_cmdline(const char *cmdline, char **why)
{
	cleanup_kargs struct kargs words = {0};
	enum boot_mode mode = BOOT_NORMAL;

	kargs_split_all(&words, cmdline);
	for (size_t i = 0; i < words.n && mode != BOOT_OFF; i++) {
		const char *word = words.v[i].text, *special = arg_boot_mode(word);

		if (is_overruled(&words, i))
			continue;
		if (is_off(word)) {
			mode = BOOT_OFF;
			free(*why);
			*why = xstrdup("railhead=off on the kernel command line");
		} else if (special && mode == BOOT_NORMAL) {
			mode = BOOT_SPECIAL;
			*why = xasprintf("%s (%s)", special, word);
		}
	}
	return mode;
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

	return !other && (!root->live || machine_boots_from(root));
}

enum boot_mode boot_mode(const struct root *root, const char *cmdline, char **why)
{
	cleanup_free char *text = NULL;
	enum boot_mode mode = mode_of_cmdline(cmdline, &text);

	if (mode == BOOT_NORMAL && root->live)
		text = mode_of_machine(root);
	if (mode == BOOT_NORMAL && text)
		mode = BOOT_SPECIAL;
	if (why)
		*why = take_ptr(text);
	return mode;
}
