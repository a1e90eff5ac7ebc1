/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For this room and its callers: the context that kinds (plan/kind.h) are given. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "node/node.h"
#include "plan/finding.h"
#include "plan/kind.h"
#include "sys/root.h"

struct acs;
struct change; /* of plan/change.h */

struct kind_ctx {
	const struct root *root;
	const struct node *node;
	enum stage running; /* devices that are absent in early may still come; later their absence
			       is a fault */
	uint64_t waited;    /* microseconds that the stage has waited for its devices to come */
	/*
	 * For a set that blocks: the end of its own waits, by clock_usec(). Its worker is given up
	 * a moment later. Otherwise 0.
	 */
	uint64_t deadline;
	struct acs *acs;	/* of sys/acs.h: the bridges that were read in this run */
	struct kernel_log *log; /* of sys/kernel_log.h: what the GPU driver wrote there */
};

const struct kind *kind_find(const char *name); /* NULL: unknown name */
/* Removes a file of kind_file where no plan does so. */
int file_remove(const struct root *root, const char *path, struct err *err);
/*
 * Runs the look of the change's kind. A change fails instead, whatever its file has, if another
 * section wants a different value of the file, because no section then sets the file.
 */
int kind_look(const struct kind_ctx *ctx, struct change *c, struct err *err);
/* Call before a look that must see the present state of the machine. */
void kinds_forget(const struct change *c);
