/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers that the gate judges: measured now, or (gate.reuse of the profile) the numbers of the
 * previous boot, if it ended in an orderly reboot and their whole basis is unchanged. Looks, and
 * benchmarks that put no load on the machine, run in every boot.
 */
#pragma once

#include <stdbool.h>

#include "engine/record.h"

/*
 * Puts the numbers into the record. again: measure, and ignore the numbers of the previous boot.
 * loaded gets the names of the checks whose benchmarks have put load on the machine now.
 */
int numbers_take(const struct run *run, bool again, struct record *r, struct strv *loaded,
		 struct err *err);
/* Measures only where a measurement was impossible before, or disturbed; the others stay. */
int numbers_take_rest(const struct run *run, struct record *r, struct strv *loaded,
		      struct err *err);
/*
 * After the verdict, once an hour, and at each look while an answer keeps work out: asks the
 * drivers again what the checks without load ask, which disturbs no job. The answers replace those
 * of the record. Held-down clocks are no news, because a job's own load may hold them down.
 * unanswered gets a warning for each device whose driver did not answer; it stays until the next
 * question. Never fails: a question that could not be put is not answered.
 */
void numbers_ask(const struct run *run, struct record *r, struct findings *unanswered);
/* With the verdict in the record: stores the numbers that the next boot may use (engine/pass.h). */
int numbers_pass(const struct run *run, const struct record *r, struct err *err);
