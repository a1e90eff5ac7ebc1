/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Views: the settings of a device set, or of a PCI function, as every reader of them must see them.
 * Those of a set and of the sets around it (in:), or of all sets that have the function, are one
 * map: maps are merged key by key, and of two other values that of the narrower set counts.
 * `optional` is an exception, because each set adds to it (sections/members.h).
 *
 * A view borrows scalars and lists from the profile, and only its maps are its own. The entries of
 * narrower sets come first.
 */
#pragma once

#include "node/node.h"
#include "profile/profile.h"

/* Device sets, the narrowest first; of equally narrow ones in the order of the profile. */
struct set_list {
	VEC(const struct selector *) list; /* vec_free() */
};

enum { SETS_DEPTH_MAX = 8 }; /* nesting of sets */

/* The set and those around it; bounded, because sets of an invalid profile may form a circle. */
void sets_around(const struct profile *p, const struct selector *s, struct set_list *ret);
size_t set_depth(const struct profile *p, const struct selector *s); /* 0: within no other */
/* The sets that have the function. */
void sets_with(const struct profile *p, const struct device_sets *sets, const struct pci_fn *fn,
	       struct set_list *ret);

/* The sections of the profile that name these sets: a map of sections. Caller: view_free(). */
struct ynode *view_new(const struct profile *p, const struct set_list *sets);
struct ynode *set_view(const struct profile *p,
		       const struct selector *s); /* with those around it */
/* Of one section; NULL: it names none of the sets. Caller: view_free(). */
struct ynode *view_of_section(const struct ynode *section, const struct set_list *sets);
void view_free(struct ynode *view);
#define cleanup_view __attribute__((__cleanup__(view_freep)))
static inline void view_freep(struct ynode **view)
{
	view_free(*view);
}
