/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults that appeared under the load of the gate's benchmarks. Later looks run without that load
 * and do not find them again: a retry of the gate, a recheck, or the gate of the next boot if it
 * reuses the figures.
 */
#pragma once

#include "engine/record.h"

/* In the reason of a change that is of_load. */
#define JUDGED_UNDER_LOAD "the load was that of the benchmarks"
/* In the reason of a change that is not of_load, and held before the load. */
#define SINCE_THE_LOAD "failed under the load of the benchmarks"

/* Whether a load caused the reason. */
bool under_load_is(const struct reason *r);
/*
 * Adds those reasons of the recorded verdict that kept no work out and that the looks of the run
 * could not find.
 */
void under_load_keep(const struct record *r, const struct run *run, struct verdict *v);
