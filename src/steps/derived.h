/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What follows from a profile on a machine: the kernel arguments of each section. Without a
 * node, as far as expect: says enough of it (show, bake).
 */
#pragma once

#include "boot/kargs.h"
#include "node/node.h"
#include "profile/profile.h"

struct derived_section {
	const char *section;
	struct kargs kargs;  /* each with its origin */
	struct strv unknown; /* sentences: what could not be derived, and what would tell */
};

struct derived {
	VEC(struct derived_section) list; /* sections that give kernel arguments */
};

/*
 * A node that is as expect: says: CPU vendor, and CPUs where their number is exact. All else
 * of it is unknown. node_free() it.
 */
void node_from_expect(const struct profile *p, struct node *ret);

/* node NULL: from expect:. */
void derive_kargs(const struct root *root, const struct node *node, const struct profile *p,
		  struct derived *ret);
void derived_free(struct derived *d);
