/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A kind with several sorts of targets, which on.item tells apart. */
#pragma once

#include "kinds/kind.h"

/* on.item of a change points to a target_item, or to a struct that begins with one. */
struct target_item {
	const struct kind *kind; /* of the change; look and set are as in struct kind */
	int (*look)(const struct kind_ctx *ctx, struct change *c, struct err *err);
	int (*set)(const struct kind_ctx *ctx, struct change *c, struct err *err);
	/* As in struct kind; NULL: nothing follows the set. */
	int (*complete)(const struct kind_ctx *ctx, struct change *c, struct err *err);
	/*
	 * The wanted values as the kernel's tools show them; the caller frees. NULL: as written in
	 * the profile.
	 */
	char *(*desired)(const struct change *c);
	/* The fault of a change that does not hold; FAULT_NONE: the fault of its section. */
	enum fault fault;
};

/* The functions of a kind whose changes all have a target_item. */
int item_look(const struct kind_ctx *ctx, struct change *c, struct err *err);
int item_set(const struct kind_ctx *ctx, struct change *c, struct err *err);
int item_complete(const struct kind_ctx *ctx, struct change *c, struct err *err);
/* Renders c's desired text, once all values of c are set. */
void item_desired(struct change *c);

/* Ends the look at a device that another network namespace has; returns 0. */
int target_in_namespace(struct change *c, const char *device);
/*
 * Ends the look at a function that has no netdev (here, or yet); returns 0. remedy follows "is its
 * driver bound": " (modules.load)".
 */
int target_no_netdev(const struct root *root, struct change *c, const char *remedy);
/* Ends the look at a VF that does not exist (yet); returns 0. */
int target_no_vf(struct change *c);

/*
 * Ends a look at several values, after c was judged by the values that the driver has. missing: the
 * error of a value that the driver lacks (code 0: it has all), which is the result unless c is
 * optional.
 */
int target_lacks(struct change *c, const struct err *missing, struct err *err);
