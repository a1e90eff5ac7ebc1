/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A histogram of durations in buckets of 1/16 of an octave: count and sum, so that only where in a
 * bucket a duration lies is lost. They are gaps between successive looks at the clock, or what
 * requests took.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define GAP_BUCKETS 976

struct gaps {
	uint64_t count[GAP_BUCKETS];
	uint64_t sum[GAP_BUCKETS]; /* ns */
	uint64_t most;		   /* ns */
};

void gaps_add(struct gaps *g, uint64_t ns);
/* Adds all of the other's. */
void gaps_merge(struct gaps *g, const struct gaps *other);

/*
 * How long work that comes at a random moment waits at most, but for a share of the moments
 * (0.0001: p99.99), in ns: in a gap of length g all waits from 0 to g are as likely. That is a
 * quantile over time. One over the looks themselves would leave out the 0.01 % longest gaps:
 * 2,000 of them in half a second, whatever they cost.
 */
double gaps_wait(const struct gaps *g, double share);

/* The quantile over the durations themselves, in ns: 0.99 of them are as short. 0: there are none.
 */
double gaps_quantile(const struct gaps *g, double q);
