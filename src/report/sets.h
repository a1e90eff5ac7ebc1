/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The account of a profile's device sets on a node: the members of each set, the expected number,
 * and the functions that each predicate left out. Text and JSON are renderings of the account.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "node/node.h"
#include "profile/profile.h"

/* A function that a predicate left out. */
struct left_out {
	const struct pci_fn *fn;
	char *why; /* "the card has 2, expected 1" */
};

struct exclusion {
	const char *predicate;	   /* "pci", "ports", "in", "protect", "vf" */
	size_t count;		   /* all functions that it left out */
	VEC(struct left_out) list; /* only of the class of the set's devices */
};

struct set_account {
	const struct device_set *set;
	VEC(struct exclusion) excluded;
	struct strv keeps; /* a protected set: "0000:3d:00.0 from rails" */
};

struct sets_account {
	struct device_sets sets;
	VEC(struct set_account) list;
};

/* Points into node and profile. Fails as device_sets_resolve() does. */
int sets_account(const struct node *node, const struct profile *profile, struct sets_account *ret,
		 struct err *err);
void sets_account_free(struct sets_account *a);

json_t *sets_to_json(const struct sets_account *a);
void sets_render(FILE *out, const struct sets_account *a, bool aligned);
