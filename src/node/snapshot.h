/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A snapshot: what planning reads of /proc and /sys, as a tar archive that `--root` takes,
 * scrubbed of what identifies one machine (scrub.h). Reads only; files that may block
 * behind a stuck driver (uevent, sriov_numvfs) are not read.
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"
#include "node/node.h"
#include "sys/root.h"

struct snapshot_result {
	size_t files, links;
	size_t denied;	   /* files that only root may read */
	size_t unreadable; /* other errors: a link that is down has no speed */
};

/*
 * Writes the archive to fd. node: the survey of that root. more: patterns of further files, whole
 * paths, which the looks at a profile's keys read. -ETIMEDOUT if it takes over two
 * minutes; a file that can't be read is counted and left out.
 */
int snapshot_write(const struct root *root, const struct node *node, const struct strv *more,
		   int fd, struct snapshot_result *ret, struct err *err);
/* 0 if the tree is no snapshot or one that this version can read; else -EPROTONOSUPPORT. */
int snapshot_check(const struct root *root, struct err *err);
