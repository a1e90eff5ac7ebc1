/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts of a profile, a machine or a plan as keys and values, so that any two lists can be held
 * against each other.
 */
#pragma once

#include "engine/history.h"
#include "node/inventory.h"
#include "node/node.h"
#include "plan/change.h"
#include "profile/profile.h"

struct known {
	char *key; /* "link.rails.mtu", "pci/0000:18:00.0/driver", "value/sysctl/vm.swappiness" */
	char *value;
	char *place;   /* "FILE:LINE:COL"; or NULL */
	bool thing;    /* key is a thing that facts are of, and value describes the thing */
	double number; /* the value, where noise is said */
	double noise;  /* percent by which two numbers differ by themselves; 0: it is no number */
};

struct facts {
	VEC(struct known) list;
};

/*
 * Each scalar and list of scalars, but for name and version; maps and other lists are things.
 * Appends, as all of these do.
 */
void facts_of_profile(const struct profile *p, struct facts *ret);
/* What `survey` shows, but for what changes by itself and what is only one of the kernel's numbers.
 */
void facts_of_machine(const struct node *node, const struct inventory *inv, struct facts *ret);
/* What was found of each change that has a value now. */
void facts_of_plan(const struct plan *plan, struct facts *ret);
/*
 * What a plan that was looked at wants and what it found, by the ids of changes, each with the
 * profile's line; equal where a change holds. What only the gate measures is left out.
 */
void facts_of_wanted(const struct plan *plan, struct facts *wanted, struct facts *found);
/* A boot of a history. */
struct boot_at {
	const struct history *history;
	size_t boot;
};

/*
 * What a boot came to and stood on (facts_boot.c). Figures that one of the two took over from an
 * earlier boot are left out; the noise is that of the later one, which knows more.
 */
void facts_of_boot(const struct boot_at *at, const struct boot_at *other, struct facts *ret);
/* Takes value and place over. */
void facts_add(struct facts *ret, const char *key, char *value, char *place, bool thing);
void facts_free(struct facts *facts);

struct difference {
	const char *key;
	const struct known *a, *b; /* NULL: that side has none */
	double percent;		   /* from a to b, of two numbers; else NAN */
	bool noise;		   /* by no more than two such numbers differ by themselves */
};

struct differences {
	VEC(struct difference) list; /* in the order of a; what b alone has stands last */
	size_t compared, noise;	     /* of the list are so many noise */
};

/* Of a thing that one side lacks the thing alone is a difference. Points into a and b. */
void facts_compare(const struct facts *a, const struct facts *b, struct differences *ret);
