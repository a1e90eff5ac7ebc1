/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rule: the receive rings of section link must not take much of the memory. */
#pragma once

struct ruling; /* of profile/rules.h */

/*
 * Warns if the buffers of the receive rings take more than a fiftieth of the memory: the node's, or
 * else the minimum that expect.memory accepts. Sets without rings.rx are not counted.
 */
void rings_fit_the_memory(struct ruling *r);
