/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads GRUB's environment blocks as GRUB does, with any content. Pure, no I/O. From the sources of
 * GRUB 2.06 to 2.12 (and of Fedora's and Red Hat's packages), which agree on all of this:
 *
 *  - grub-core/lib/envblk.c, grub_envblk_open: the file begins with the signature line and is
 *    longer than that line. There is no upper limit (grub-core/commands/loadenv.c,
 *    read_envblk_file), nor a fixed size.
 *  - grub_envblk_iterate: a line that begins with '#' is a comment. Any other line is a name up to
 *    the next '=', even if the '=' is on a later line, and a value up to the next line feed. A
 *    backslash, in a comment too, hides the next byte from the search for the end of the line; in a
 *    value the backslash is then dropped. A carriage return or a blank is part of the name or value
 *    around it. Reading ends at an entry without '=' or without a line feed before the end of the
 *    file; the entries before it are kept.
 *  - Names and values end at a NUL. Of two lines for one name load_env takes the last.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether load_env and grub-editenv accept the file. */
bool envblk_loads(const char *buf, size_t len);
/*
 * Calls `each` for each variable of a file that loads, in the order of the file. Cuts the variables
 * out of buf in place: buf loses its text, and name and value are valid as long as buf.
 */
void envblk_each(char *buf, size_t len,
		 void (*each)(const char *name, const char *value, void *data), void *data);
