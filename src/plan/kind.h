/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kind knows how to look at one sort of target and how to set it. Each is a file of the room
 * kinds/ that exports one const struct, and a line in that room's table.c. Changes refer to their
 * kind; the linker brings it.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "sys/root.h"

struct change;
struct kind_ctx; /* of kinds/kind.h */

/* Where a worker is that has not come back from the kernel. */
enum whereabouts {
	WHERE_UNKNOWN, /* it has ended, or this kernel does not say */
	WHERE_AT_WORK,
	WHERE_IN_LINE, /* it waits for a lock that another set of its sort may hold */
};

struct kind {
	const char *name;
	/*
	 * Set may block in the kernel: it runs in a worker that can be abandoned. What such
	 * a set leaves in the struct change is lost with the child; only the error returns.
	 */
	bool blocks;
	/* It is there or not: an optional one may be kept away by anything. */
	bool optional_may_fail;
	/* A set may only begin what others go on with: that it still waits then is no failure. */
	bool begins;
	/* Fills observed and state (SAME, DIFFERS, WAITS, UNSUPPORTED; reason with the last
	 * two). An error means that it could not look: the change is failed. Never writes. */
	int (*look)(const struct kind_ctx *ctx, struct change *c, struct err *err);
	/* Makes it so. NULL: nothing of this kind is ever set. */
	int (*set)(const struct kind_ctx *ctx, struct change *c, struct err *err);
	/*
	 * NULL, or: whether what a set has begun is complete, as a driver's devices come behind its
	 * bind. 1: it is, and observed says so. 0: nothing comes behind this set. -EAGAIN with
	 * *err saying what is missing: asked again after the next uevent, until the set's
	 * deadline. Another error: it never will be. Asked in the engine's own process, for all
	 * sets of a phase at a time, where a worker for each would wake up for the events of all
	 * others. Never blocks or writes.
	 */
	int (*complete)(const struct kind_ctx *ctx, struct change *c, struct err *err);
	/*
	 * NULL, or: called once when a phase is over that has set changes of this kind, for what is
	 * to be told to others once and not for each. The last of them fails where this does.
	 */
	int (*after)(const struct kind_ctx *ctx, struct err *err);
	/* *in gets the kernel function that a worker sleeps in, if it is known. Or NULL. */
	enum whereabouts (*where)(const struct root *root, pid_t worker, struct str *in);
	const char *line; /* what sets that queue stand in line for: "the kernel's lock for ..." */
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
extern const struct kind kind_check;	 /* a fact to be judged; never set */
extern const struct kind kind_benchmark; /* a number that only the gate takes; plan lists it */
