/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

#include "bench/benchmark.h"

extern const struct benchmark storage_read;

/*
 * The request that a run begins with, of a file that has so many (at least 1): the same for all
 * runs of a boot that have that budget. The next boot has another one, and so has the gate's
 * second, longer look: a cache that the first has filled would answer it.
 */
uint64_t storage_first(const char *boot_id, uint64_t budget_ms, uint64_t requests);
