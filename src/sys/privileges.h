/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a site's own program may do: it runs as a user, without that user's further groups,
 * with the capabilities that it was given and no way to get others (no_new_privs, an empty
 * bounding set; capabilities(7)).
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "sys/root.h"

#define PRIVILEGES_NOBODY 65534 /* where the password file has no "nobody" */

struct privileges {
	uid_t uid;
	gid_t gid;
	uint64_t capabilities; /* 1 << CAP_...; whatever the uid is, it has no others */
};

/*
 * The user's numbers, from the password file below root: users of a directory service are not
 * known this early. name NULL: nobody. -ENOENT with a sentence for a user that is not there.
 */
int privileges_user(const struct root *root, const char *name, struct privileges *ret,
		    struct err *err);

/* "CAP_NET_RAW" is added. -EINVAL with a sentence for what this kernel has not. */
int privileges_add(struct privileges *p, const char *capability, struct err *err);

/*
 * Whether a program may be run for the gate: an absolute path to a regular file which can be
 * executed; it and all directories above it belong to root, and others may not write there. A
 * directory with the sticky bit counts as one that they may not. Links are followed: *ret gets
 * the path behind them, the caller frees it. Of the machine itself, not of a root.
 */
int privileges_program(const char *path, char **ret, struct err *err);

/*
 * After fork, in the child: becomes that. 0, or a negative errno, and *what says of which step;
 * the process must not go on then.
 */
int privileges_take(const struct privileges *p, const char **what);
