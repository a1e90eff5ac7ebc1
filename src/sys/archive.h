/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tar archives through libarchive, which is opened (dlopen) by the first call only: no
 * verb but those that read or write a snapshot needs it. Where it is missing every
 * function fails with -ELIBACC and a text that says what to install.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct tar_writer; /* opaque */

/* Writes to fd, which stays the caller's. Names are relative, without "./". */
int tar_create(int fd, struct tar_writer **ret, struct err *err);
int tar_add_file(struct tar_writer *w, const char *name, const void *data, size_t len,
		 struct err *err);
int tar_add_link(struct tar_writer *w, const char *name, const char *target, struct err *err);
int tar_add_dir(struct tar_writer *w, const char *name, struct err *err);
/* Writes what is left. */
int tar_finish(struct tar_writer *w, struct err *err);
/* Frees; after tar_finish, or instead of it. NULL is fine. */
void tar_free(struct tar_writer *w);

/* What unpacking a foreign archive may cost. */
enum {
	TAR_ENTRIES_MAX = 300000,
	TAR_BYTES_MAX = 256 << 20, /* of all files together */
};

/*
 * Unpacks a tar archive (plain, gzip, bzip2, xz, zstd) into the directory dirfd, which
 * should be empty and private. Files become 0600, directories 0700. -EINVAL: no such
 * archive, or an entry that a captured tree has no use for: an absolute path or one with
 * "..", a path through a symbolic link, a device, a hard link. -EFBIG: beyond the limits.
 */
int tar_unpack(const char *path, int dirfd, struct err *err);
