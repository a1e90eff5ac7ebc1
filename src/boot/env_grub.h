/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What GRUB takes from railhead.env, whatever is in it. env_parse() refuses a file that is
 * not ours to the byte; GRUB is lenient, and may boot a slot of a damaged file all the
 * same. Pure, no I/O. Read in the sources of GRUB 2.06 to 2.12 (and of Fedora's and Red
 * Hat's packages), where nothing of this differs:
 *
 *  - grub-core/lib/envblk.c, grub_envblk_open: the file begins with the signature line and
 *    is longer than that; there is no upper limit (grub-core/commands/loadenv.c,
 *    read_envblk_file), nor is the size a certain one.
 *  - grub_envblk_iterate: a line that begins with '#' is a comment. Any other is a name up
 *    to the next '=', even if that stands on a later line, and a value up to the next line
 *    feed. A backslash, in a comment too, hides the byte behind it from the end of the
 *    line; in a value it is then dropped. A carriage return or a blank is part of the name
 *    or value that it stands in. What has no '=' or no line feed before the end of the
 *    file ends the reading; what was read before is kept.
 *  - Names and values end at a NUL. Of two lines for one name load_env takes the last, but
 *    save_env (grub_envblk_set) writes into the first, or appends one to what stands before
 *    the '#' at the end, if there is room. It refuses a file whose last byte that is no '#'
 *    is no line feed.
 *
 * grub-editenv is built from the same envblk.c. It differs from the loader in that it
 * creates a file that does not exist, and writes the file anew where save_env writes into
 * the blocks that the file has, if it has them all. And the loader unpacks a file that is
 * compressed with gzip (with xz or lzo, if their modules are loaded): that is not followed
 * here, such a file is none that loads.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "boot/env_layout.h"

/* More than a kernel takes: GRUB or the kernel cuts the line before (2048 on x86, arm64). */
#define ENV_GRUB_KARGS_SIZE 4096

struct env_grub {
	bool loads;	       /* load_env accepts the file */
	bool taken_by_snippet; /* it says our layout: the snippet goes by the selectors */
	char slot;	       /* that the next boot gets: 'a', 'b' or ENV_NONE */
	bool trial;	       /* it gets it on trial: GRUB can write that down */
	bool left_out;	       /* it gets the slot's mark without the slot's args */
	/*
	 * The words of $railhead_kargs with one blank between them, as the variable, unquoted
	 * at the end of a linux line, brings them; "" without a slot. GRUB's linux command
	 * puts a backslash before each quote and backslash that is in there.
	 */
	char kargs[ENV_GRUB_KARGS_SIZE];
};

/*
 * What the snippet (dracut/grub.d/05_railhead.in) makes of a file of these len bytes.
 * can_save: whether GRUB can write to the file's disk, and the file has no holes.
 */
void env_grub_read(const char *buf, size_t len, bool can_save, struct env_grub *ret);
/* The same, and buf becomes what save_env leaves of the file. */
void env_grub_boot(char *buf, size_t len, bool can_save, struct env_grub *ret);

/* Whether load_env and grub-editenv accept the file. */
bool env_grub_loads(const char *buf, size_t len);
/*
 * Each variable of a file that loads, in the order of the file. Cuts them out of buf in
 * place: its text is lost, name and value are good for as long as buf is.
 */
void env_grub_each(char *buf, size_t len,
		   void (*each)(const char *name, const char *value, void *data), void *data);
/*
 * What save_env makes of a file that loads when the snippet takes a trial: railhead_try
 * becomes t. False, and buf as it was, if save_env refuses the file.
 */
bool env_grub_take(char *buf, size_t len);
