/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections that speak of device sets: what holds for one PCI function. */
#pragma once

#include "sections/sections.h"

/* The functions that any set named in the section has, once each, by address. */
struct fn_list {
	const struct pci_fn **v;
	size_t n;
	size_t cap;
};
void overlay_functions(const struct section_ctx *ctx, const struct ynode *section,
		       struct fn_list *ret);

/*
 * The value of a key ("vfs", "vf.driver") for fn: from the narrowest of the section's sets
 * that has fn and the key; NULL if none has it.
 */
const struct ynode *overlay_value(const struct section_ctx *ctx, const struct ynode *section,
				  const struct pci_fn *fn, const char *path);

/* Calls emit with each key of a set, of each of those functions, that has a value for it. */
void overlay_each_key(const struct section_ctx *ctx, const struct ynode *section,
		      const struct field *keys,
		      void (*emit)(const struct section_ctx *ctx, const struct ynode *section,
				   const struct pci_fn *fn, const struct field *key,
				   const struct ynode *value, struct plan *plan),
		      struct plan *plan);

/* The keys of the map at that path that any of those sets has for fn, once each; appends. */
void overlay_keys(const struct section_ctx *ctx, const struct ynode *section,
		  const struct pci_fn *fn, const char *path, struct strv *ret);

/*
 * Whether the driver or kernel may lack a key for fn, "mtu" or "dcqcn.np.cnp_dscp", and what
 * becomes of a later change: by `optional`, true or a list with the key's first word, and by
 * `on_drift`, each of the section's narrowest set that says it. Fills optional and drift_warns of
 * c.
 */
void overlay_govern(const struct section_ctx *ctx, const struct ynode *section,
		    const struct pci_fn *fn, const char *path, struct change *c);

/* Whether said, true or a list, has the first word of a path; NULL has none. */
bool overlay_names_key(const struct ynode *said, const char *path);

/* The keys for that, the last of a set's keys: OPTIONAL_KEYS(optional, "mtu", "rings"); */
#define OPTIONAL_KEYS(table, ...) OPTIONAL_KEYS_OF("set", table, __VA_ARGS__)
#define GOVERNING_KEYS(table) GOVERNING_KEYS_OF("set", "driver or kernel", table)

/* How many VFs the profile's sriov section wants on fn; 0 if it says nothing of it. */
unsigned int overlay_vfs(const struct section_ctx *ctx, const struct pci_fn *fn);
