/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts of a profile, a machine or a plan as keys and values, so that any two lists can be held
 * against each other.
 */
#pragma once

#include "node/inventory.h"
#include "node/node.h"
#include "plan/change.h"
#include "profile/profile.h"

struct known {
	char *key; /* "link.rails.mtu", "pci/0000:18:00.0/driver", "value/sysctl/vm.swappiness" */
	char *value;
	char *place; /* "FILE:LINE:COL"; or NULL */
	bool thing;  /* key is a thing that facts are of, and value describes the thing */
};

struct facts {
	VEC(struct known) list;
};

/*
 * Each scalar and list of scalars, but for name and version; maps and other lists are things.
 * Appends, as all of these do.
 */
void facts_of_profile(const struct profile *p, struct facts *ret);
/* What `survey` shows, but for what changes by itself and what is only a number of the kernel's. */
void facts_of_machine(const struct node *node, const struct inventory *inv, struct facts *ret);
/* What was found of each change that has a value now. */
void facts_of_plan(const struct plan *plan, struct facts *ret);
/*
 * What a plan that was looked at wants and what it found, by the ids of changes, each with the
 * profile's line; equal where a change holds. What only the gate measures is left out.
 */
void facts_of_wanted(const struct plan *plan, struct facts *wanted, struct facts *found);
void facts_free(struct facts *facts);

struct difference {
	const char *key;
	const struct known *a, *b; /* NULL: that side has none */
};

struct differences {
	VEC(struct difference) list; /* in the order of a; what b alone has stands last */
	size_t compared;
};

/* Of a thing that one side lacks the thing alone is a difference. Points into a and b. */
void facts_compare(const struct facts *a, const struct facts *b, struct differences *ret);
