/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The facts that a trial of kernel arguments is judged by: the looks at this boot's changes and
 * checks, its measurements, and the carriers of the functions that the profile's sets name or that
 * carry a default route. Items that only warn, depend on the arguments themselves, or are held back
 * (engine/hold_back.h) are left out.
 */
#pragma once

#include "boot/trial.h"
#include "engine/record.h"
#include "engine/run.h"

/*
 * Runs after the gate's looks. In a boot on trial it waits up to 30 s for the carriers that were up
 * before (boot/attempts.h). The caller sets the other members of the outcome.
 */
void fitness_look(struct run *run, const struct measurements *measured, struct outcome *ret);
/* Keeps the carriers that came up after the verdict, unless this boot is still on trial. */
void fitness_learn(struct run *run);
