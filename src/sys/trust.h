/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether root alone decides what a path leads to: the file, and each directory on the way to it
 * from the root, those of links too, belong to root, and neither group nor others can write to
 * them. As with sshd's files (safe_path() of OpenSSH's misc.c), group root and the sticky bit are
 * no exceptions. An ACL that lets others write shows in the mode: its mask is the group's (acl(5)).
 */
#pragma once

#include "base/err.h"
#include "sys/root.h"

enum trust {
	TRUST_ALL,	/* judge nothing: a captured tree */
	TRUST_UNSHARED, /* judge modes alone: a tree whose builder owns it until it is an image */
	TRUST_ROOT,
};

/* For files that railhead writes below root: TRUST_ROOT for the machine itself, and for root. */
enum trust trust_of_writes(const struct root *root);
/* For files that railhead believes: the same, and TRUST_ALL for a tree that it only looks at. */
enum trust trust_of_reads(const struct root *root);

/*
 * As root_open(), of a path that root alone decides. -EPERM: another user has a say, and *err names
 * the file or directory, with the command that mends it.
 */
int trust_open(const struct root *root, enum trust trust, const char *path, int flags,
	       struct err *err);
/* -EPERM if a user other than root decides which files are in the directory; else 0. */
int trust_listing(const struct root *root, enum trust trust, const char *dir, struct err *err);
/*
 * -EPERM if a user other than root decides what is found at the path, now or later; else 0, also if
 * nothing is there. A device or a socket at its end may be another user's.
 */
int trust_way(const struct root *root, const char *path, struct err *err);
