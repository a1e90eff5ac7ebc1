/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Versions of kernels, drivers and firmware, as vendors write them. */
#pragma once

#include <stdbool.h>

/*
 * < 0, 0, > 0: runs of digits compare as numbers ("6.9" before "6.12"), the rest by bytes. A prefix
 * sorts before a longer version, except before '~' ("1.0~rc1" before "1.0"), as in dpkg and rpm. A
 * kernel's release candidate sorts before its release: 6.8.0-rc1 before 6.8 and 6.8.0-1-amd64.
 */
int version_compare(const char *a, const char *b);

/*
 * Whether `have` satisfies `want`: ">=6.1" accepts that version or a later one, "6.1" that version
 * or a refinement ("6.1.0-18-amd64", and no release candidate). An empty `have` never fits.
 */
bool version_fits(const char *want, const char *have);
