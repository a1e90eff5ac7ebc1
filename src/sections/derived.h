/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings derived from a profile for a machine: the kernel arguments of each section. Without a
 * node they are derived from expect:, as far as it suffices (show, bake).
 */
#pragma once

#include "kargs/kargs.h"
#include "node/node.h"
#include "profile/profile.h"

/* A setting that could not be derived. */
struct unknown {
	struct place at; /* of the key that asks for it; its file belongs to the profile */
	char *text;	 /* a sentence: the missing fact, and how to supply it */
};

struct derived_section {
	const char *section;
	struct kargs kargs; /* each with its origin */
	VEC(struct unknown) unknown;
};

struct derived {
	VEC(struct derived_section) list; /* with kernel arguments, or unknown */
};

/*
 * A node with the properties that expect: states: the CPU vendor, the CPUs if their number is
 * exact, and the NUMA nodes with CPUs if there are as many nodes as sockets. All other properties
 * are unknown. Free it with node_free().
 */
void node_from_expect(const struct profile *p, struct node *ret);

/* node NULL: derive from expect:. */
void derive_kargs(const struct root *root, const struct node *node, const struct profile *p,
		  struct derived *ret);
void derived_free(struct derived *d);
