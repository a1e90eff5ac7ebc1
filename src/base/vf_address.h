/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses of VFs that follow from the PF's own and the VF's index: the same in every boot,
 * without a list to keep, and by eye to be told apart from what a vendor has burnt in. No
 * randomness and no hash: both formulas can be worked out by hand.
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
 * So 0c:42:a1:1b:2c:3d gives VF 0 26:94:00:1b:2c:3d and VF 5 26:94:05:1b:2c:3d. Two VFs have
 * the same address only if their PFs have the same last three octets and their vendor parts
 * the same h: never on cards of one vendor part.
 *
 * GUID, from the PF's node GUID and the index i (0..65534): octet 0 | 02 (local), and the 16
 * bits of octets 3 and 4, which are 0300 on most cards, ^ (i + 1). Node and port GUID of a VF
 * are the same, as those of a card's first port are. b8:ce:f6:03:00:1b:2c:3d gives VF 0
 * ba:ce:f6:03:01:1b:2c:3d. Never zero, and never the PF's own.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define MAC_TEXT 18  /* "02:00:00:00:00:01" */
#define GUID_TEXT 24 /* "02:00:00:00:00:00:00:01" */

/* -ERANGE with a sentence above the last index; -EINVAL for an address that is none. */
int vf_derived_mac(const uint8_t pf[6], unsigned int index, uint8_t ret[6], struct err *err);
int vf_derived_guid(uint64_t pf_node_guid, unsigned int index, uint64_t *ret, struct err *err);

/* Of both the first octet is the most significant. */
uint64_t mac_number(const uint8_t mac[6]);
const char *mac_format(uint64_t mac, char ret[MAC_TEXT]);
/* Two hexadecimal digits an octet with colons between. */
bool guid_parse(const char *text, uint64_t *ret);
const char *guid_format(uint64_t guid, char ret[GUID_TEXT]);
