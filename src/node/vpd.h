/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Vital Product Data of a PCI function: a list of resources. The resource VPD-R holds two-letter
 * keywords (PCI Local Bus Specification 3.0, appendix I). The card supplies the data, so every
 * length is checked.
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

/* Finds the first field with that two-letter keyword in a VPD-R resource. */
bool vpd_find(const void *vpd, size_t len, const char *key, struct vpd_field *ret);
/* The field PN without trailing white space; NULL if absent. The caller frees. */
char *vpd_part_number(const void *vpd, size_t len);
/*
 * A VPD for snapshots, with PN and, if not NULL, V3, and without the card's serial numbers. Each
 * value is cut at 255 bytes.
 */
char *vpd_with(const char *pn, const char *v3, size_t *ret_len);
