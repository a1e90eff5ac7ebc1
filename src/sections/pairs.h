/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel argument of pairs.acs, which gives the bridges between each NIC and its GPU the ACS
 * bits that pairs.p2p needs.
 *
 * The argument is derived from the topology in sysfs alone, because an argument that depended on
 * the registers that it sets would disappear at the next boot. A port without ACS ignores it
 * (pci_enable_acs() of drivers/pci/pci.c). The VPD tells which NIC a Data Direct function belongs
 * to; ACS does not change the VPD, and sysfs has it without a driver.
 */
#pragma once

#include "node/nearness.h"
#include "profile/section.h"

/* Whether the section has acs: set. */
bool pairs_set_acs(const struct ynode *section);
/*
 * A pair whose GPU is too far away is a fault of its own, not of a bridge. within: a word of
 * pairs.within.
 */
bool pair_is_near(const struct pair *p, const struct ynode *within);

/*
 * See struct section. -EOPNOTSUPP: the kernel cannot set the wanted bits, or no bits are known that
 * make Data Direct work as wanted.
 */
int pairs_kargs(const struct section_ctx *ctx, const struct ynode *section, struct kargs *wanted,
		struct err *err);
extern const struct kargs_need pairs_needs[];
