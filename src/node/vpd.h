/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Vital Product Data of a PCI function: a list of resources, one of which (VPD-R) holds
 * two-letter keywords (PCI Local Bus Specification 3.0, appendix I). The data comes from
 * the card: every length in it is checked.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VPD_MAX 32768 /* the address has 15 bits */

struct vpd_field {
	const uint8_t *data; /* into the caller's buffer */
	size_t len;
};

/* The first field of that two-letter keyword in a VPD-R resource. */
bool vpd_find(const void *vpd, size_t len, const char *key, struct vpd_field *ret);
/* The field PN without white space at its end; NULL if there is none. The caller frees. */
char *vpd_part_number(const void *vpd, size_t len);
/*
 * A VPD that holds PN, and V3 if it is not NULL, for snapshots: without the serial numbers of the
 * card's. Each is cut at 255 bytes.
 */
char *vpd_with(const char *pn, const char *v3, size_t *ret_len);
