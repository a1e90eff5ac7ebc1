/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capabilities, as in capabilities(7) and linux/capability.h. Sets have a bit for each. */
#pragma once

#include <stdint.h>

#define CAPABILITY(number) (UINT64_C(1) << (number))

/* "CAP_NET_RAW" -> 13; -1: no kernel has the capability. */
int capability_number(const char *name);

/* The capabilities that this process may use. */
uint64_t capabilities_permitted(void);
/*
 * Drops all others from the bounding set, so that no program that this process executes can regain
 * them, root's neither. 0, or a negative errno: -EPERM without CAP_SETPCAP.
 */
int capabilities_bound(uint64_t keep);
/*
 * Drops all others, and keeps these over execve(2) also of a user other than root, without file
 * capabilities (inheritable and ambient). 0, or a negative errno: -EPERM if one is not permitted.
 */
int capabilities_keep(uint64_t keep);
