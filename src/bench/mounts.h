/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What /proc/self/mountinfo says of mounts (proc(5)). */
#pragma once

#include <stdbool.h>

struct mount {
	char type[32];	    /* "nfs4", "xfs" */
	char source[256];   /* "server:/export", "/dev/nvme0n1p1" */
	char transport[16]; /* of nfs: "rdma", "tcp"; "" not told */
};

/* The mount of that number in the text. */
bool mounts_find(const char *mountinfo, int id, struct mount *ret);
/* Whether something is mounted on the directory, by its absolute path. */
bool mounts_has(const char *mountinfo, const char *dir);
/*
 * What makes a mount slow, if it is to be reached by another transport than it is: the caller
 * frees it. NULL: it is as wanted, nothing was wanted (""), or it says nothing.
 */
char *mounts_cause(const struct mount *m, const char *want);
