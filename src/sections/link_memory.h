/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the receive rings of section link take much of the memory. */
#pragma once

#include "profile/rules.h"

/*
 * Warns where rings of so many descriptors, with a buffer each, take more than a fiftieth of the
 * memory of the node, or of the least that expect.memory lets pass. Of a set that does not say
 * rings.rx nothing is counted.
 */
void rings_fit_the_memory(struct ruling *r);
