/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mounts, from /proc/self/mountinfo (proc(5)). */
#pragma once

#include <stdbool.h>

struct mount {
	char type[32];	    /* "nfs4", "xfs" */
	char source[256];   /* "server:/export", "/dev/nvme0n1p1" */
	char transport[16]; /* of nfs: "rdma", "tcp"; "": not reported */
};

/* The mount of that number in the text. */
bool mounts_find(const char *mountinfo, int id, struct mount *ret);
/* Whether something is mounted on the directory, by its absolute path. */
bool mounts_has(const char *mountinfo, const char *dir);
/*
 * The cause of a slow mount: its transport differs from `want`. The caller frees it. NULL: the
 * transport is as wanted, want is "", or the mount reports no transport.
 */
char *mounts_cause(const struct mount *m, const char *want);
