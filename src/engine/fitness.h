/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges a trial of kernel arguments by the looks at this boot's changes and checks, and by the
 * node's ways out. Ignored are measurements, items that are only waited for or only warn, and items
 * that depend on the arguments themselves.
 *
 * A way out is a PCI function with a carrier whose netdev has carried a default route, or which the
 * profile protects, in a boot that had the profile's arguments. The ways out are kept in
 * /var/lib/railhead.
 */
#pragma once

#include "base/vec.h"
#include "engine/run.h"

/*
 * Runs after the gate's looks; failed gets the ids of failed items (health_add()). A boot that has
 * all its arguments and no trial looks at nothing, and stores its ways out if they have changed.
 * Any other boot looks at the stored ways out, and waits up to 30 s for them.
 */
void fitness_look(struct run *run, struct strv *failed);
/* Stores the ways out of a boot that is not on trial, later, when the network is up. */
void fitness_learn(const struct run *run);
