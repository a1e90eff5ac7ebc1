/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults that appeared under the load of the gate's benchmarks. Later looks run without that load
 * and do not find them again: a retry of the gate, a recheck, or the gate of the next boot if it
 * reuses the figures.
 */
#pragma once

#include "engine/record.h"

/*
 * Adds those findings of the recorded verdict that kept no work out and that the looks of the run
 * could not find.
 */
void under_load_keep(const struct record *r, const struct run *run, struct verdict *v);
