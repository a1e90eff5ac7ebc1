/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The structures of the firmware's SMBIOS table, which only root can read. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/root.h"

enum { SMBIOS_MEMORY_DEVICE = 17 }; /* SMBIOS 3.7, 7.18 */

struct smbios {
	char *table; /* free() */
	size_t len;
	/* The structure that smbios_next() has found: */
	const uint8_t *at;
	size_t formatted, size; /* bytes: without and with its strings */
};

/* Ends with the errors of read_start(); -ENOENT: the machine has no table. */
int smbios_read(const struct root *root, struct smbios *ret);
/* Moves to the next structure of that type, the first if s->at is NULL. */
bool smbios_next(struct smbios *s, uint8_t type);
