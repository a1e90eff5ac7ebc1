/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pool: one thread pinned to each of some CPUs, which all do a piece of work again and
 * again for a short window that begins on all of them at the same moment.
 *
 * A window's rate is the sum over the threads of the median rate of the pieces that the
 * thread did in it: a piece that an interrupt or a stolen CPU stretched does not count. The
 * window is its own if the threads were on their CPUs from the common start to its end, which
 * their clocks say (CLOCK_THREAD_CPUTIME_ID: without what other tasks had, interrupts where
 * the kernel accounts for them, and what a hypervisor says that it has taken).
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
 * Does one piece as member `who` (0..n-1) and returns how much that was (bytes, hops); all
 * pieces of one work are equal. A member that only keeps its CPU from others returns 0.
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

/* How much of the time of all windows so far the members had their CPUs, in percent. */
double pool_own_pct(const struct pool *p);

void pool_stop(struct pool *p); /* NULL is fine */

/*
 * Puts the calling thread on those of the CPUs that it may run on, and leaves these in the set:
 * isolated ones too, though they are in no inherited mask; none that is offline or outside the
 * cpuset. -EINVAL: there are none, and nothing has changed.
 */
int run_on(struct cpus *cpus);

uint64_t clock_of(clockid_t clock); /* in ns */
uint64_t clock_ns(void);	    /* CLOCK_MONOTONIC */
void sleep_ns(uint64_t ns);
