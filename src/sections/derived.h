/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What follows from a profile on a machine: the kernel arguments of each section. Without a
 * node, as far as expect: says enough of it (show, bake).
 */
#pragma once

#include "boot/kargs.h"
#include "node/node.h"
#include "profile/profile.h"

/* What could not be derived. */
struct unknown {
	struct place at; /* of what asks for it; its file belongs to the profile */
	char *text;	 /* a sentence: what is not known, and what would tell */
};

struct derived_section {
	const char *section;
	struct kargs kargs; /* each with its origin */
	VEC(struct unknown) unknown;
};

struct derived {
	VEC(struct derived_section) list; /* sections that give kernel arguments */
};

/*
 * A node that is as expect: says: CPU vendor, CPUs where their number is exact, and which
 * nodes have CPUs where there are as many nodes as sockets. All else of it is unknown.
 * node_free() it.
 */
void node_from_expect(const struct profile *p, struct node *ret);

/* node NULL: from expect:. */
void derive_kargs(const struct root *root, const struct node *node, const struct profile *p,
		  struct derived *ret);
void derived_free(struct derived *d);
