/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words of comma lists in kernel arguments (intel_iommu=on,sm_on), which handlers read one
 * after another, so that a later word may undo an earlier one.
 */
#pragma once

#include <stdbool.h>

/*
 * Whether two words of one list undo one another: on and off, sm_on and sm_off, pt and
 * nopt, realloc and realloc=off, hpmemsize=1M and hpmemsize=2M, pcie_bus_safe and
 * pcie_bus_perf. Equal words do not.
 */
bool words_oppose(const char *a, const char *b);
