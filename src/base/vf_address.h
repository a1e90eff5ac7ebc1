/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Derives addresses of VFs from the PF's address and the VF's index: the same in every boot,
 * without a stored list, and visibly different from a vendor's burnt-in address. Both formulas can
 * be computed by hand, without randomness and without a hash.
 *
 * MAC, from the PF's permanent address p0:p1:p2:p3:p4:p5 and the index i (0..1023):
 *
 *	vendor = p0 << 16 | p1 << 8 | p2
 *	h = (vendor ^ vendor >> 12) & 0xfff
 *	octet 0 = (h >> 6) << 2 | 2		(locally administered, unicast)
 *	octet 1 = (h & 0x3f) << 2 | i >> 8
 *	octet 2 = i & 0xff
 *	octets 3..5 = p3:p4:p5
 *
 * For example, 0c:42:a1:1b:2c:3d gives VF 0 26:94:00:1b:2c:3d and VF 5 26:94:05:1b:2c:3d. Two VFs
 * have the same address only if their PFs have the same last three octets and their vendor parts
 * the same h: never on cards of one vendor part.
 *
 * GUID, from the PF's node GUID and the index i (0..65534): octet 0 | 02 (local), and the 16 bits
 * of octets 3 and 4, which are 0300 on most cards, ^ (i + 1). The node and the port GUID of a VF
 * are equal, as on a card's first port. b8:ce:f6:03:00:1b:2c:3d gives VF 0 ba:ce:f6:03:01:1b:2c:3d.
 * The result is never zero and always differs from the PF's GUID.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define MAC_TEXT 18  /* "02:00:00:00:00:01" */
#define GUID_TEXT 24 /* "02:00:00:00:00:00:00:01" */

/* -ERANGE with a sentence above the last index; -EINVAL for an invalid address. */
int vf_derived_mac(const uint8_t pf[6], unsigned int index, uint8_t ret[6], struct err *err);
int vf_derived_guid(uint64_t pf_node_guid, unsigned int index, uint64_t *ret, struct err *err);

/* The first octet is the most significant, in MACs and GUIDs. */
uint64_t mac_number(const uint8_t mac[6]);
const char *mac_format(uint64_t mac, char ret[MAC_TEXT]);
/* Two hexadecimal digits for each octet, separated by colons. */
bool guid_parse(const char *text, uint64_t *ret);
const char *guid_format(uint64_t guid, char ret[GUID_TEXT]);
