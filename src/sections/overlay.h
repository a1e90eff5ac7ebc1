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

/* The keys of the map at that path that any of those sets has for fn, once each; appends. */
void overlay_keys(const struct section_ctx *ctx, const struct ynode *section,
		  const struct pci_fn *fn, const char *path, struct strv *ret);

/* How many VFs the profile's sriov section wants on fn; 0 if it says nothing of it. */
unsigned int overlay_vfs(const struct section_ctx *ctx, const struct pci_fn *fn);
