/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pool: one thread pinned to each of some CPUs. In a short window, which begins on all of them at
 * the same moment, all threads repeat a piece of work.
 *
 * A window's rate is the sum over the threads of the median rate of the thread's pieces, so that
 * pieces which an interrupt or a stolen CPU stretched do not count. The window is its own if the
 * threads were on their CPUs from the common start to its end, by CLOCK_THREAD_CPUTIME_ID. That
 * clock leaves out the time of other tasks, of interrupts where the kernel accounts for them, and
 * the steal time that a hypervisor reports.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/err.h"
#include "base/units.h"
#include "bench/windows.h"

struct pool;

/*
 * Does one piece as member `who` (0..n-1) and returns its amount (bytes, hops); all
 * pieces of one work are equal. A member that only occupies its CPU returns 0.
 */
typedef size_t (*pool_work)(void *ctx, size_t who);

/* CPUs that this process may not run on are left out. -ENODEV when none is left. */
int pool_start(struct pool **ret, const struct cpus *cpus, size_t most, struct err *err);
size_t pool_size(const struct pool *p);
int pool_cpu(const struct pool *p, size_t who);

/* Every member does one piece, however long it takes (first touch). */
void pool_once(struct pool *p, pool_work work, void *ctx);

/* Every member does at least three pieces. */
void pool_window(struct pool *p, pool_work work, void *ctx, uint64_t window_ns, struct window *ret);

/* Share of the time of all windows so far in which the members had their CPUs, in percent. */
double pool_own_pct(const struct pool *p);

void pool_stop(struct pool *p); /* NULL is fine */

/*
 * Pins the calling thread to the permitted CPUs of the set, and removes the others from the set.
 * Isolated CPUs are permitted, although no inherited mask has them; CPUs that are offline or
 * outside the cpuset are not. -EINVAL: no CPU is permitted, and the thread is unchanged.
 */
int run_on(struct cpus *cpus);

uint64_t clock_of(clockid_t clock); /* in ns */
uint64_t clock_ns(void);	    /* CLOCK_MONOTONIC */
void sleep_ns(uint64_t ns);
