/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What GRUB makes of railhead.env, for any content: a model of the snippet, of load_env
 * (loader/envblk.h) and of save_env. env_parse() rejects a file that differs from ours by a byte;
 * GRUB is lenient, and may still boot a slot of a damaged file. tests/grub_reader.bats holds it
 * against GRUB's own programs.
 *
 * save_env (grub_envblk_set) writes into the first of two lines for one name, or appends a line
 * before the trailing '#', if there is room. It rejects a file in which the last byte before the
 * trailing '#' is not a line feed.
 *
 * grub-editenv is built from the same envblk.c. Unlike the loader it creates a missing file, and
 * writes the whole file again, where save_env writes into the blocks of the file if the file has
 * all its blocks. The loader also unpacks a file that is compressed with gzip (with xz or lzo, if
 * their modules are loaded); the model does not, and reports such a file as one that does not load.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kargs/env_layout.h"

/* Longer than any kernel accepts: GRUB or the kernel cuts the line before (2048 on x86, arm64). */
#define ENV_GRUB_KARGS_SIZE 4096

struct env_grub {
	bool loads;	       /* load_env accepts the file */
	bool taken_by_snippet; /* the file has our layout, and the snippet follows the selectors */
	char slot;	       /* of the next boot: 'a', 'b' or ENV_NONE */
	bool trial;	       /* the slot is on trial, because GRUB can disarm the trial */
	bool left_out;	       /* the next boot gets the slot's mark, but not its args */
	/*
	 * The words of $railhead_kargs, separated by single blanks, as the unquoted variable at the
	 * end of a linux line passes them; "" without a slot. GRUB's linux command puts a backslash
	 * before each quote and backslash in them.
	 */
	char kargs[ENV_GRUB_KARGS_SIZE];
};

/*
 * Computes how the snippet (dracut/grub.d/05_railhead.in) reads a file of these len bytes.
 * can_save: GRUB can write to the file's disk, and the file has no holes.
 */
void env_grub_read(const char *buf, size_t len, bool can_save, struct env_grub *ret);
/* The same, and changes buf as save_env changes the file. */
void env_grub_boot(char *buf, size_t len, bool can_save, struct env_grub *ret);

/*
 * Changes buf, a file that loads, as save_env does when the snippet takes a trial: railhead_try
 * becomes t. False, and buf is unchanged, if save_env rejects the file.
 */
bool env_grub_take(char *buf, size_t len);
