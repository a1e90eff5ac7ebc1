/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel argument of pairs.acs, by which the bridges between each NIC and its GPU get the ACS
 * that pairs.p2p wants.
 *
 * It is made of the topology in sysfs alone: config space can't be read in an initramfs without
 * libpci, and an argument that depended on the registers that it sets would be gone in the boot
 * after. A port without ACS takes no notice of it (pci_enable_acs() of drivers/pci/pci.c). Whose a
 * Data Direct function is stands in the VPD, which ACS does not change, and which sysfs has without
 * a driver.
 */
#pragma once

#include "node/nearness.h"
#include "profile/section.h"

/* acs: set */
bool pairs_set_acs(const struct ynode *section);
/* One whose GPU is too far is a fault of its own, and no bridge's. within: a word of pairs.within
 */
bool pair_is_near(const struct pair *p, const struct ynode *within);

/* Of struct section. -EOPNOTSUPP: the kernel can't set the bits that are wanted, or no bits are
 * known by which Data Direct is as wanted. */
int pairs_kargs(const struct section_ctx *ctx, const struct ynode *section, struct kargs *wanted,
		struct err *err);
extern const struct kargs_need pairs_needs[];
