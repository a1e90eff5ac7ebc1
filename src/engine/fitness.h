/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a trial of kernel arguments is judged by: the looks at this boot's changes and checks, and
 * the node's ways out. Never a measurement, what is only waited for, what only warns, nor what
 * depends on the arguments themselves.
 *
 * The ways out are the PCI functions whose netdevs have carried a default route, or are protected
 * by the profile, and had a carrier, in a boot whose arguments were as the profile has them. They
 * are kept in /var/lib/railhead.
 */
#pragma once

#include "base/vec.h"
#include "engine/run.h"

/*
 * After the gate's looks: ids of what failed (health_add()). In a boot that has all its arguments,
 * and no trial: nothing is looked at, and its ways out are kept, where they are others than before.
 * Else those that are kept are looked at, and waited for, 30 s.
 */
void fitness_look(struct run *run, struct strv *failed);
/* Later in a boot that is not on trial, when the network is up: keeps its ways out. */
void fitness_learn(const struct run *run);
