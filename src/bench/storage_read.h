/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

#include "bench/benchmark.h"

extern const struct benchmark storage_read;

/*
 * The first request of a run, of a file with `requests` (at least 1) requests: the same for all
 * runs of a boot with that budget. The next boot and the gate's second, longer look begin at
 * another request, because a cache that the first run filled would answer the same one.
 */
uint64_t storage_first(const char *boot_id, uint64_t budget_ms, uint64_t requests);
