/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a run's time. The gate sends SIGTERM shortly before the deadline (gate/bench.h):
 * a benchmark then ends its set-up with -EAGAIN, and its windows with what it has measured.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"

/* Listens to SIGTERM from here on. A system call that the signal interrupts goes on. */
void time_over_listen(void);
/* As if the signal had come, and no more: for benchmarks that share a process (together.h). */
void time_over_set(bool is_over);
/* May be asked by any thread, between any two pieces of work. */
bool time_is_over(void);
/* -EAGAIN "its time was over while WHAT", for a benchmark that has nothing to report yet. */
int err_time_over(struct err *err, const char *what);
