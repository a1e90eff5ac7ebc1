/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kind knows how to look at one sort of target and how to set it. Each is a file that
 * exports one const struct, and a line in table.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "node/node.h"
#include "plan/change.h"
#include "sys/root.h"

struct acs;

struct kind_ctx {
	const struct root *root;
	const struct node *node;
	enum stage running; /* what is absent in early may still come; later it is a fault */
	bool retry;	    /* apply --retry: rejected kernel arguments are tried once more */
	uint64_t waited;    /* microseconds that the stage has waited for its devices to come */
	/*
	 * Of a set that blocks: what it waits for by itself, it waits for until then, by
	 * clock_usec(). A moment later its worker is given up. Else 0.
	 */
	uint64_t deadline;
	struct acs *acs; /* of sys/acs.h: what was read of bridges in this run */
};

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
	 * NULL, or: what looks have kept for one another, in this process, is old. c: a change
	 * that was just set, of whatever kind; NULL: all of it.
	 */
	void (*forget)(const struct change *c);
	/* *in gets the kernel function that a worker sleeps in, if it is known. Or NULL. */
	enum whereabouts (*where)(const struct root *root, pid_t worker, struct str *in);
	const char *line; /* what sets that queue stand in line for: "the kernel's lock for ..." */
};

const struct kind *kind_get(enum kind_id id);
/*
 * The look of the change's kind. A change of whose file another section wants a different value is
 * failed instead, whatever is there: nobody sets the file.
 */
int kind_look(const struct kind_ctx *ctx, struct change *c, struct err *err);
/* Before a look that is to see the machine as it is now. */
void kinds_forget(const struct change *c);

extern const struct kind kind_attr, kind_file, kind_bootenv, kind_module, kind_vf, kind_netlink,
	kind_roce, kind_pci, kind_irq, kind_check;
