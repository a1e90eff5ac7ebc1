/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several benchmarks in one process, which initialises a driver's library once for all of them:
 *
 *   railhead-bench together "30000 gpu_health --gpu A & 30000 gpu_health --gpu B; 9000 gpu_copy
 * ..."
 *
 * ";" separates rounds. The benchmarks of a round run at the same time, each in its own thread, and
 * the next round begins when all have ended. The number is the time limit of the benchmark in
 * milliseconds. Each benchmark prints its line when it ends, with "task", its place in the text
 * (from 0), "started_us" of CLOCK_MONOTONIC and "took_us".
 *
 * A benchmark over its limit ends the whole process, because a thread that hangs in a driver can't
 * be ended. The caller then runs the benchmarks without a line alone. Only benchmarks that need
 * no process of their own can run together (struct benchmark, .gpu).
 */
#pragma once

#include "base/err.h"

struct together;

/* -EINVAL: the text is invalid. Free with together_free(). */
int together_parse(struct together **ret, const char *text, struct err *err);
/* In a child; returns the exit status for main(). */
int together_run(struct together *t);
void together_free(struct together *t); /* NULL is fine */
