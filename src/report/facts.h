/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts of a profile, a machine or a plan as keys and values, so that any two lists can be
 * compared.
 */
#pragma once

#include "engine/history.h"
#include "node/inventory.h"
#include "node/node.h"

struct plan; /* of plan/plan.h */
struct profile;

struct known {
	char *key; /* "link.rails.mtu", "pci/0000:18:00.0/driver", "value/sysctl/vm.swappiness" */
	char *value;
	char *place;   /* "FILE:LINE:COL"; or NULL */
	bool thing;    /* key is a thing that facts are of, and value describes the thing */
	double number; /* the value, where noise is set */
	double noise;  /* percent by which two numbers differ by chance; 0: not a number */
};

struct facts {
	VEC(struct known) list;
};

/*
 * Each scalar and list of scalars, except name and version; maps and other lists are things.
 * Appends to ret, as all these functions do.
 */
void facts_of_profile(const struct profile *p, struct facts *ret);
/* The facts of `survey`, except those that change by themselves and the kernel's own numbers. */
void facts_of_machine(const struct node *node, const struct inventory *inv, struct facts *ret);
/* The found value of each change that has a value now. */
void facts_of_plan(const struct plan *plan, struct facts *ret);
/*
 * The wanted and found values of a plan after a look, by the ids of changes, each with the
 * profile's line; equal where a change holds. The gate's measurements are left out.
 */
void facts_of_wanted(const struct plan *plan, struct facts *wanted, struct facts *found);
/* A boot of a history. */
struct boot_at {
	const struct history *history;
	size_t boot;
};

/*
 * The results of a boot and the parts that they depend on (facts_boot.c). Figures that either boot
 * reused from an earlier one are left out. The noise comes from the later boot, which knows more.
 */
void facts_of_boot(const struct boot_at *at, const struct boot_at *other, struct facts *ret);
/* Takes ownership of value and place. */
void facts_add(struct facts *ret, const char *key, char *value, char *place, bool thing);
void facts_free(struct facts *facts);

struct difference {
	const char *key;
	const struct known *a, *b; /* NULL: missing on that side */
	double percent;		   /* from a to b, of two numbers; else NAN */
	bool noise;		   /* by no more than two such numbers differ by chance */
};

struct differences {
	VEC(struct difference) list; /* in the order of a; keys of b alone come last */
	size_t compared, noise;	     /* noise: how many in the list are noise */
};

/* A thing that one side lacks is one difference, without its facts. Points into a and b. */
void facts_compare(const struct facts *a, const struct facts *b, struct differences *ret);
