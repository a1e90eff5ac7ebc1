/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers that the gate judges: measured now, or (gate.reuse of the profile) those of the
 * boot before, if it ended in an orderly reboot and everything that they stand on is the same.
 * The looks, and the benchmarks that put no load on the machine, are done in every boot.
 */
#pragma once

#include <stdbool.h>

#include "engine/record.h"

/*
 * Into the record. again: measured, whatever the boot before has left. loaded: gets the names of
 * the checks whose benchmarks put load on the machine now.
 */
int numbers_take(const struct run *run, bool again, struct record *r, struct strv *loaded,
		 struct err *err);
/* Measures what could not be measured yet, or undisturbed; the others stay. */
int numbers_take_rest(const struct run *run, struct record *r, struct strv *loaded,
		      struct err *err);
/* With the verdict in the record: leaves what the next boot may use (engine/pass.h). */
int numbers_pass(const struct run *run, const struct record *r, struct err *err);
