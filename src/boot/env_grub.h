/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes the values that GRUB reads from railhead.env, for any content. env_parse() rejects a
 * file that differs from ours by a byte; GRUB is lenient, and may still boot a slot of a damaged
 * file. Pure, no I/O. Read in the sources of GRUB 2.06 to 2.12 (and of Fedora's and Red Hat's
 * packages), which agree on all of this:
 *
 *  - grub-core/lib/envblk.c, grub_envblk_open: the file begins with the signature line and is
 *    longer than that line. There is no upper limit (grub-core/commands/loadenv.c,
 *    read_envblk_file), nor a fixed size.
 *  - grub_envblk_iterate: a line that begins with '#' is a comment. Any other line is a name up to
 *    the next '=', even if the '=' stands on a later line, and a value up to the next line feed. A
 *    backslash, in a comment too, hides the next byte from the search for the end of the line; in a
 *    value the backslash is then dropped. A carriage return or a blank is part of the name or value
 *    around it. Reading ends at an entry without '=' or without a line feed before the end of the
 *    file; the entries before it are kept.
 *  - Names and values end at a NUL. Of two lines for one name load_env takes the last, but save_env
 *    (grub_envblk_set) writes into the first, or appends a line before the trailing '#', if there
 *    is room. save_env rejects a file in which the last byte before the trailing '#' is not a line
 *    feed.
 *
 * grub-editenv is built from the same envblk.c. Unlike the loader it creates a missing file, and
 * writes the whole file again, where save_env writes into the blocks of the file if the file has
 * all its blocks. The loader also unpacks a file that is compressed with gzip (with xz or lzo, if
 * their modules are loaded); this code does not, and reports such a file as one that does not load.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "boot/env_layout.h"

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

/* Whether load_env and grub-editenv accept the file. */
bool env_grub_loads(const char *buf, size_t len);
/*
 * Calls `each` for each variable of a file that loads, in the order of the file. Cuts the variables
 * out of buf in place: buf loses its text, and name and value are valid as long as buf.
 */
void env_grub_each(char *buf, size_t len,
		   void (*each)(const char *name, const char *value, void *data), void *data);
/*
 * Changes buf, a file that loads, as save_env does when the snippet takes a trial: railhead_try
 * becomes t. False, and buf is unchanged, if save_env rejects the file.
 */
bool env_grub_take(char *buf, size_t len);
