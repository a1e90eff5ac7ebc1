/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a run's time. The gate sends SIGTERM shortly before the deadline (gate/bench.h):
 * a benchmark then ends its set-up with -EAGAIN, or its windows with the figures so far.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"

/* Handles SIGTERM from here on. The signal does not interrupt system calls. */
void time_over_listen(void);
/* Sets or clears the state that SIGTERM sets, for benchmarks that share a process (together.h). */
void time_over_set(bool is_over);
/* Any thread may call it, between any two pieces of work. */
bool time_is_over(void);
/* -EAGAIN "its time was over while WHAT", for a benchmark that has nothing to report yet. */
int err_time_over(struct err *err, const char *what);
