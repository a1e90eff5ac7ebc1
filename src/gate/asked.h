/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside this room: the gate queries a device's driver before the benchmarks load the device, and
 * again afterwards, as it does with counters (checks/counters.h). Two queries distinguish a fault
 * that was there before from a fault that the load provoked, which an idle device does not show.
 *
 * A device gets no load if it must be reset or replaced first ("unfit" in the line: its memory
 * cannot be trusted, the driver has lost the GPU) or if its driver does not answer: its figures
 * would describe a failing part, and the load may leave processes in the kernel that no signal
 * ends and that block the reset and an orderly reboot. Any other fault (missing lanes, low clocks,
 * ECC off) leaves the load on, because the person who admits or repairs the node needs every slow
 * part at once. A fault that blocks nothing by its on_fail leaves the load on too, because the
 * profile wants the figures then.
 */
#pragma once

#include "checks/probe.h"

/* Finds the probes that load a device which another probe queries. True: there are some. */
bool asked_find(struct probes *all);
/* After the look before the load: keeps the faults seen so far, and declines the loads of unfit
 * devices. */
void asked_take(struct probes *all);
/* After the last look: marks a declined load as a consequence of a query that failed and blocks. */
void asked_end(struct probes *all);
/* Whether the probe is queried again after the load. */
bool asked_answers(const struct probe *p);
