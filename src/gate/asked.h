/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside this room: what a driver knows of a device is asked before the benchmarks load the device,
 * and again after them, as counters are looked at (checks/counters.h). So a fault that stood before
 * is told from one that the load brought out, which an idle device does not have.
 *
 * A device that must be reset or replaced before it takes work ("unfit" of the line: memory that
 * cannot be trusted, a GPU that its driver has lost), or whose driver does not answer, takes no
 * load. Its figures would be those of a part that goes away, and its load may leave processes in
 * the kernel that no signal ends, on which the reset and an orderly reboot then wait. Whatever else
 * is wrong (lanes that are missing, clocks held down, ECC that is off) keeps no load off: who opens
 * the node or corrects it must know all that is slow, at once. Neither does a fault that by on_fail
 * blocks nothing: the profile wants its figures then.
 */
#pragma once

#include "checks/probe.h"

/* Which of the probes load a device that another of them asks about. True: some do. */
bool asked_find(struct probes *all);
/*
 * After the look before the load: keeps what stood then, and declines the loads of what takes none.
 */
void asked_take(struct probes *all);
/* After the last look: loads that were declined follow from what was asked. */
void asked_end(struct probes *all);
/* Whether to ask it again after the load. */
bool asked_answers(const struct probe *p);
