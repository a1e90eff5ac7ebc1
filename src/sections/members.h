/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For sections that name device sets: the functions of these sets, with what is set on each. */
#pragma once

#include "profile/view.h"
#include "kinds/target.h"
#include "sections/sections.h"

struct field; /* of profile/schema.h */

struct member {
	const struct pci_fn *fn;
	struct ynode *settings; /* of the section, of all sets that have fn: see profile/view.h */
	VEC(const struct ynode *) optional; /* of each of these sets, the narrowest first */
};

struct members {
	VEC(struct member) list; /* each function once, sorted by address */
};

void members_find(const struct section_ctx *ctx, const struct ynode *section, struct members *ret);
void members_free(struct members *m);

/* The value at a path ("vfs", "vf.driver"), or NULL. A map lives as long as the member. */
const struct ynode *member_value(const struct member *m, const char *path);

/*
 * Fills c->optional and c->drift_warns for a key such as "mtu" or "dcqcn.np.cnp_dscp". A set adds
 * to the `optional` of wider sets (true, or a list with the key's first word), but false ends it;
 * on_drift is of the narrowest set that has it.
 */
void member_govern(const struct member *m, const char *path, struct change *c);
/* Whether said, true or a list, includes the first word of path; false for NULL. */
bool optional_has(const struct ynode *said, const char *path);

/* The governing keys, the last keys of a set: static const struct spec keys = MAP(..., HERE) */
#define GOVERNING_KEYS(keys) GOVERNING_KEYS_OF("set", "driver or kernel", keys)

/* A scalar or list that another section sets on fn, or NULL. */
const struct ynode *function_value(const struct section_ctx *ctx, const char *section,
				   const struct pci_fn *fn, const char *path);
/* The number of VFs that section sriov wants; 0 without one. m: of that section. */
unsigned int member_vfs(const struct member *m);
unsigned int function_vfs(const struct section_ctx *ctx, const struct pci_fn *fn);

/* --- changes ------------------------------------------------------------------------------- */

/*
 * The changes of a section whose rows are settings of a member: each row with an item, which begins
 * with a struct target_item, is one change of the item's kind. Without an item a row has rows below
 * it, or governs others. The change is "SECTION/ADDR/PATH", in the member's lane; a row that judges
 * is a check of the gate. A scalar is its wanted value.
 */
struct settings {
	/*
	 * Adds a list, a map, or the value of one key of a row that is a map: name and item are the
	 * key's, or the row's name and NULL. NULL: the section has scalars alone.
	 */
	void (*add)(struct change *c, const char *name, const void *item,
		    const struct ynode *value);
	/* Adds what is special about a change of the section, whose values it has. */
	void (*extend)(const struct section_ctx *ctx, const struct member *m, struct change *c);
};

/* A change with all but its values and extend(). path: "dcqcn.np.cnp_dscp" */
struct change *setting_begin(const struct section_ctx *ctx, const struct member *m,
			     const struct field *row, const char *path, struct place at,
			     struct plan *plan);
void setting_emit(const struct section_ctx *ctx, const struct member *m, const struct field *row,
		  struct plan *plan);
/* As section.emit: all rows of all members. */
void settings_emit(const struct section_ctx *ctx, const struct ynode *node, struct plan *plan);
