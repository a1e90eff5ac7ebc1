/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For sections that name device sets: the values that apply to one PCI function. */
#pragma once

#include "sections/sections.h"

/* The functions of all sets named in the section, each once, sorted by address. */
struct fn_list {
	const struct pci_fn **v;
	size_t n;
	size_t cap;
};
void overlay_functions(const struct section_ctx *ctx, const struct ynode *section,
		       struct fn_list *ret);

/*
 * The value of a key ("vfs", "vf.driver") for fn, from the narrowest set of the section that has fn
 * and the key; NULL: no set has both.
 */
const struct ynode *overlay_value(const struct section_ctx *ctx, const struct ynode *section,
				  const struct pci_fn *fn, const char *path);

/*
 * Calls emit for each of these functions and each key of a set that has a value for the function.
 */
void overlay_each_key(const struct section_ctx *ctx, const struct ynode *section,
		      const struct field *keys,
		      void (*emit)(const struct section_ctx *ctx, const struct ynode *section,
				   const struct pci_fn *fn, const struct field *key,
				   const struct ynode *value, struct plan *plan),
		      struct plan *plan);

/* Appends the keys, each once, that these sets have for fn in the map at path. */
void overlay_keys(const struct section_ctx *ctx, const struct ynode *section,
		  const struct pci_fn *fn, const char *path, struct strv *ret);

/*
 * Fills c->optional and c->drift_warns for a key of fn, such as "mtu" or "dcqcn.np.cnp_dscp": from
 * `optional` (true, or a list with the key's first word) and `on_drift`, each of the narrowest set
 * of the section that has it.
 */
void overlay_govern(const struct section_ctx *ctx, const struct ynode *section,
		    const struct pci_fn *fn, const char *path, struct change *c);

/* Whether said, true or a list, includes the first word of path; false for NULL. */
bool overlay_names_key(const struct ynode *said, const char *path);

/* The governing keys, the last keys of a set: optional = OPTIONAL_KEYS("mtu", "rings") */
#define OPTIONAL_KEYS(...) OPTIONAL_KEYS_OF("set", __VA_ARGS__)
#define GOVERNING_KEYS(table) GOVERNING_KEYS_OF("set", "driver or kernel", table)

/* The number of VFs that section sriov wants on fn; 0 without one. */
unsigned int overlay_vfs(const struct section_ctx *ctx, const struct pci_fn *fn);
