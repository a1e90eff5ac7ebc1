/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside this room: jobs of the bench program that may share a process, so that a driver's library
 * is initialised once for all of them (bench/together.h).
 */
#pragma once

#include "gate/bench.h"

/*
 * bench_run() until end (CLOCK_MONOTONIC, in microseconds), with the jobs for which shares[i] is
 * true in one process. If that process crashes or hangs, the jobs without a line run again alone,
 * so that a failure belongs to one job.
 */
int together_run_jobs(struct bench_job *jobs, const bool *shares, size_t n, uint64_t end,
		      struct err *err);
