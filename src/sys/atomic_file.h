/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Atomic writes for the doors that write (state.h, machine.h, archive.h); only sys/ includes this
 * file.
 */
#pragma once

#include <sys/types.h>

#include "base/err.h"
#include "sys/root.h"

/*
 * Opens dir below root; `create` makes missing directories (mkdir -p). Returns an fd or a negative
 * errno.
 */
int atomic_open_dir(const struct root *root, const char *dir, int create, struct err *err);

/*
 * Writes name in dirfd: temporary file, fsync, rename, fsync of the directory. A crash at any point
 * leaves the old file or the new file. The umask takes nothing of the mode.
 */
int atomic_write_at(int dirfd, const char *name, const void *data, size_t len, mode_t mode,
		    struct err *err);

/* Repeats write(2) until all bytes are written. */
int write_all(int fd, const void *data, size_t len);
