/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the load of the gate's benchmarks brought out. A later look of the boot has no load and does
 * not find it again, be it a retry of the gate, a recheck, or the gate of the next boot that takes
 * the figures over.
 */
#pragma once

#include "engine/record.h"

/* In the reason of a change that is of_load; of one that is not, and held before the load. */
#define JUDGED_UNDER_LOAD "the load was that of the benchmarks"
#define SINCE_THE_LOAD "so since the load of the benchmarks"

/* Whether the reason is of something that a load brought out. */
bool under_load_is(const struct reason *r);
/*
 * Adds the reasons of the recorded verdict that kept no work out, and that the looks of the run
 * cannot have found.
 */
void under_load_keep(const struct record *r, const struct run *run, struct verdict *v);
