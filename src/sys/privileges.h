/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The privileges of a site's own program: it runs as a user, without the user's supplementary
 * groups, with only the given capabilities, and cannot gain others (no_new_privs, an empty bounding
 * set; capabilities(7)). sys/isolation.h has what separates it from the machine.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "sys/root.h"

struct privileges {
	bool own_user; /* a user that no other process has, chosen when the program starts */
	uid_t uid;     /* else this one */
	gid_t gid;
	uint64_t capabilities; /* 1 << CAP_...; the only capabilities, even for uid 0 */
	bool network;	       /* the machine's, else only a loopback of its own */
};

/*
 * The user's ids, from the password file below root, because users of a directory service are not
 * known this early. -ENOENT with a sentence for an unknown user.
 */
int privileges_user(const struct root *root, const char *name, struct privileges *ret,
		    struct err *err);

/* Adds a capability, "CAP_NET_RAW". -EINVAL with a sentence if this kernel lacks the capability. */
int privileges_add(struct privileges *p, const char *capability, struct err *err);

/*
 * Whether the gate may run a program below root: an absolute path to a regular, executable file
 * that root alone decides (sys/trust.h). 0, or a negative errno with a sentence.
 */
int privileges_program(const struct root *root, const char *path, struct err *err);
/*
 * Takes on the privileges in the child, after fork. 0, or a negative errno, and *what names the
 * failed step; the process must not go on then.
 */
int privileges_take(const struct privileges *p, const char **what);
