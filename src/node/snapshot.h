/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A snapshot holds the files of /proc and /sys that planning reads, as a tar archive for `--root`,
 * without the identifiers of the machine (scrub.h). Only reads; skips files that may block behind a
 * stuck driver (uevent, sriov_numvfs).
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"
#include "node/node.h"
#include "sys/root.h"

struct snapshot_result {
	size_t files, links;
	size_t denied;	   /* files that only root may read */
	size_t unreadable; /* other errors, such as the speed of a link that is down */
};

/*
 * Writes the archive to fd. node: the survey of that root. more: patterns of further files, as
 * absolute paths, which the looks at a profile's keys read. -ETIMEDOUT after two minutes; files
 * that cannot be read are counted and left out.
 */
int snapshot_write(const struct root *root, const struct node *node, const struct strv *more,
		   int fd, struct snapshot_result *ret, struct err *err);
/*
 * 0 if the tree is not a snapshot, or has a format that this version can read; else
 * -EPROTONOSUPPORT.
 */
int snapshot_check(const struct root *root, struct err *err);
