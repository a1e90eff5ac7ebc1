/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A kind whose targets are of several sorts: on.item says which one it is. */
#pragma once

#include "kinds/kind.h"

/* on.item of a change points to one, or to a struct that begins with one. */
struct target_item {
	const struct kind *kind; /* of the change; look and set are as those of a kind */
	int (*look)(const struct kind_ctx *ctx, struct change *c, struct err *err);
	int (*set)(const struct kind_ctx *ctx, struct change *c, struct err *err);
	/* As that of a kind; NULL: nothing comes behind. */
	int (*complete)(const struct kind_ctx *ctx, struct change *c, struct err *err);
	/* The wanted values as the kernel's tools show them; the caller frees. NULL: as the
	 * profile says them. */
	char *(*desired)(const struct change *c);
	/* Which fault it is if the change does not hold; FAULT_NONE: that of its section. */
	enum fault fault;
};

/* Those of a kind all of whose changes have one. */
int item_look(const struct kind_ctx *ctx, struct change *c, struct err *err);
int item_set(const struct kind_ctx *ctx, struct change *c, struct err *err);
int item_complete(const struct kind_ctx *ctx, struct change *c, struct err *err);
/* Renders c's desired, once all its values are there. */
void item_desired(struct change *c);

/*
 * What the look at a function finds that has no netdev (here, yet); 0. remedy: follows "is its
 * driver bound", " (modules.load)".
 */
int target_no_netdev(const struct root *root, struct change *c, const char *remedy);
/* What the look at a VF finds that is not there (yet); 0. */
int target_no_vf(struct change *c);

/*
 * The end of a look at several values, c judged by those that the driver has. missing: what it
 * says of one that it has not (code 0: it has all), which is the result, unless c is optional.
 */
int target_lacks(struct change *c, const struct err *missing, struct err *err);
