/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slowness that no accounting shows, for railhead-bench as tests/bench/gate-load has it (ld's
 * --wrap): as SMIs or a halted clock would, all pieces of work of its memory benchmarks stop
 * together for a share of each period, on the CPU and at its expense.
 *
 *   STALLS=PERCENT:PERIOD_US railhead-bench-stalls memory_bandwidth ...
 *
 * In any time t the work of (1 - PERCENT/100) t is done, but for the fraction of a period.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/chain.h"
#include "bench/pool.h"
#include "bench/stream.h"

static uint64_t period_ns, stalled_ns; /* of each period, at its begin */

__attribute__((constructor)) static void read_stalls(void)
{
	const char *text = getenv("STALLS");
	unsigned int percent, us;

	if (!text)
		return;
	if (sscanf(text, "%u:%u", &percent, &us) != 2 || percent > 90 || us == 0) {
		fprintf(stderr, "STALLS=%s: expected PERCENT:PERIOD_US\n", text);
		exit(2);
	}
	period_ns = us * 1000ull;
	stalled_ns = period_ns * percent / 100;
}

/* How much of the time before t was not stalled. */
static uint64_t worked(uint64_t t)
{
	uint64_t into = t % period_ns;

	return t / period_ns * (period_ns - stalled_ns) +
	       (into > stalled_ns ? into - stalled_ns : 0);
}

/* Work that took so long with nothing in its way is over as late as the stalls allow. */
static void stall_since(uint64_t start)
{
	uint64_t took = clock_ns() - start, due = worked(start) + took;

	while (worked(clock_ns()) < due)
		;
}

const void *__real_chain_walk(const void *at, size_t hops);
const void *__wrap_chain_walk(const void *at, size_t hops);

const void *__wrap_chain_walk(const void *at, size_t hops)
{
	uint64_t start = clock_ns();
	const void *to = __real_chain_walk(at, hops);

	if (period_ns)
		stall_since(start);
	return to;
}

static const struct stream_ops *real;

static void slow_read(const void *src, size_t len)
{
	uint64_t start = clock_ns();

	real->read[STREAM_IN_ORDER](src, len);
	stall_since(start);
}

static void slow_write(void *dst, size_t len)
{
	uint64_t start = clock_ns();

	real->write(dst, len);
	stall_since(start);
}

static void slow_copy(void *dst, const void *src, size_t len)
{
	uint64_t start = clock_ns();

	real->copy[STREAM_IN_ORDER](dst, src, len);
	stall_since(start);
}

const struct stream_ops *__real_stream_pick(void);
const struct stream_ops *__wrap_stream_pick(void);

const struct stream_ops *__wrap_stream_pick(void)
{
	static struct stream_ops slow;

	real = __real_stream_pick();
	slow = (struct stream_ops){.name = real->name,
				   .usable = real->usable,
				   .read = {slow_read, slow_read},
				   .write = slow_write,
				   .copy = {slow_copy, slow_copy}};
	return period_ns ? &slow : real;
}
