/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

#include "bench/benchmark.h"

extern const struct benchmark storage_read;

/*
 * The request that a boot begins with, of a file that has so many (at least 1): the same for the
 * whole boot, another one in the next, which a cache that this boot has filled does not have.
 */
uint64_t storage_first(const char *boot_id, uint64_t requests);
