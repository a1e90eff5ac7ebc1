/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kind knows how to look at one sort of target and how to set it. Each kind is a file of the room
 * kinds/ that exports one const struct, and a line in that room's table.c. Changes point to their
 * kind.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "sys/root.h"

struct change;
struct kind_ctx; /* of kinds/kind.h */

/* Where a worker is that has not returned from the kernel. */
enum whereabouts {
	WHERE_UNKNOWN, /* the worker has ended, or this kernel does not report it */
	WHERE_AT_WORK,
	WHERE_IN_LINE, /* the worker waits for a lock that another set of its sort may hold */
};

struct kind {
	const char *name;
	/*
	 * Set may block in the kernel, so it runs in a worker that can be abandoned. Only its error
	 * returns, because its writes to the struct change are lost with the child process.
	 */
	bool blocks;
	/* An optional change of this kind may fail for any reason. */
	bool optional_may_fail;
	/* A set may start work that others finish: a change that still waits then has not failed.
	 */
	bool begins;
	/* Fills observed and state (SAME, DIFFERS, WAITS, UNSUPPORTED; reason with the last
	 * two). An error means that the look failed: the change is failed. Never writes. */
	int (*look)(const struct kind_ctx *ctx, struct change *c, struct err *err);
	/* Sets the target to the wanted value. NULL: changes of this kind are never set. */
	int (*set)(const struct kind_ctx *ctx, struct change *c, struct err *err);
	/*
	 * NULL, or: whether a set is complete, since for example devices appear after a bind. 1:
	 * complete, with observed filled. 0: nothing follows this set. -EAGAIN, with *err naming
	 * the missing part: called again after the next uevent, until the set's deadline. Another
	 * error: the set will never complete. Called in the engine's own process for all sets of a
	 * phase, because workers would each wake up for the events of all others. Never blocks or
	 * writes.
	 */
	int (*complete)(const struct kind_ctx *ctx, struct change *c, struct err *err);
	/*
	 * NULL, or: called once after a phase that has set changes of this kind, to inform other
	 * programs once for all changes. If it fails, the last of these changes fails.
	 */
	int (*after)(const struct kind_ctx *ctx, struct err *err);
	/* *in gets the kernel function in which a worker sleeps, if it is known. May be NULL. */
	enum whereabouts (*where)(const struct root *root, pid_t worker, struct str *in);
	const char *line; /* the lock for which sets queue: "the kernel's lock for ..." */
};

extern const struct kind kind_attr;    /* a file of procfs or sysfs, or a glob of them */
extern const struct kind kind_file;    /* a drop-in that railhead owns */
extern const struct kind kind_bootenv; /* kernel arguments of the next boot */
extern const struct kind kind_module;
extern const struct kind kind_vf; /* number of VFs, driver of a VF */
extern const struct kind kind_netlink;
extern const struct kind kind_roce;  /* congestion control and RDMA's defaults, by vendor */
extern const struct kind kind_pci;   /* a function's config space */
extern const struct kind kind_irq;   /* affinity of a function's vectors */
extern const struct kind kind_block; /* queues of a function's disks */
extern const struct kind kind_mount;
extern const struct kind kind_limit;	 /* a resource limit of running processes; never set */
extern const struct kind kind_check;	 /* a fact that is judged; never set */
extern const struct kind kind_benchmark; /* a number that only the gate measures; plan lists it */
