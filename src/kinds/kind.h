/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside this room and for those who look and set: what kinds (plan/kind.h) are given. */
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

const struct kind *kind_find(const char *name); /* NULL: none is called so */
/* Takes a file of kind_file away where there is no plan to do so. */
int file_remove(const struct root *root, const char *path, struct err *err);
/*
 * The look of the change's kind. A change of whose file another section wants a different value is
 * failed instead, whatever is there: nobody sets the file.
 */
int kind_look(const struct kind_ctx *ctx, struct change *c, struct err *err);
/* Before a look that is to see the machine as it is now. */
void kinds_forget(const struct change *c);
