/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the sriov section says of a PF's eswitch and of its VFs' addresses: parts of that section.
 */
#pragma once

#include "sections/sections.h"

/*
 * "sriov/PF/eswitch", if the profile gives a mode. It is called twice for a PF: before numvfs
 * is emitted (with_vfs false), for the drivers that change the mode while there is no VF, and
 * after it, for those that have the VFs first.
 */
void sriov_emit_eswitch(const struct section_ctx *ctx, const struct ynode *section,
			const struct pci_fn *pf, bool with_vfs, struct plan *plan);

/* "sriov/PF/vfN/address", if the profile gives any attribute that the PF sets for its VF. */
void sriov_emit_vf_address(const struct section_ctx *ctx, const struct ynode *section,
			   const struct pci_fn *pf, unsigned int vf, struct plan *plan);

/*
 * When all changes of the PF are in the plan: what waits for what, and is made anew by it.
 * numvfs, eswitch (or the other way round), the VF's address, its driver.
 */
void sriov_order(const struct pci_fn *pf, unsigned int vfs, struct plan *plan);
