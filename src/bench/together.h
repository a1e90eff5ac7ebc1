/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several benchmarks in one process, which initialises a driver's library once for all of them:
 *
 *   railhead-bench together "30000 gpu_health --gpu A & 30000 gpu_health --gpu B; 9000 gpu_copy
 * ..."
 *
 * What stands between two ";" is a round: its benchmarks run at the same time, each in a thread
 * of its own, and the next round begins when all have ended. The number is the milliseconds that
 * each may take. Each prints its line when it has ended, with its place in the text as "task"
 * (from 0), "started_us" of CLOCK_MONOTONIC and "took_us".
 *
 * What takes longer ends the whole process, since a thread that hangs in a driver can't be ended:
 * the benchmarks without a line are the caller's to run alone. Only those that depend on nothing
 * of their process but threads can run so (struct benchmark, .together).
 */
#pragma once

#include "base/err.h"

struct together;

/* -EINVAL: the text is none of these. Free with together_free(). */
int together_parse(struct together **ret, const char *text, struct err *err);
/* In a child; returns the exit status for main(). */
int together_run(struct together *t);
void together_free(struct together *t); /* NULL is fine */
