/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tar archives through libarchive, which the first call opens (dlopen), because only the verbs that
 * read or write a snapshot need it. If the library is missing, every function fails with -ELIBACC
 * and a text that names the package to install.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct tar_writer; /* opaque */

/* Writes to fd, which the caller still owns. Names are relative, without "./". */
int tar_create(int fd, struct tar_writer **ret, struct err *err);
int tar_add_file(struct tar_writer *w, const char *name, const void *data, size_t len,
		 struct err *err);
int tar_add_link(struct tar_writer *w, const char *name, const char *target, struct err *err);
int tar_add_dir(struct tar_writer *w, const char *name, struct err *err);
/* Writes the remaining data. */
int tar_finish(struct tar_writer *w, struct err *err);
/* Frees the writer, after tar_finish() or instead of it. NULL is permitted. */
void tar_free(struct tar_writer *w);

/* Limits for unpacking a foreign archive. */
enum {
	TAR_ENTRIES_MAX = 300000,
	TAR_BYTES_MAX = 256 << 20, /* of all files together */
};

/*
 * Unpacks a tar archive (plain, gzip, bzip2, xz, zstd) into the directory dirfd, which should be
 * empty and private. Files become 0600, directories 0700. -EINVAL: not an archive of these kinds,
 * or an entry that a captured tree never has: an absolute path, a path with "..", a path through a
 * symbolic link, a device, a hard link. -EFBIG: beyond the limits.
 */
int tar_unpack(const char *path, int dirfd, struct err *err);
