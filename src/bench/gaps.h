/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A histogram of durations in buckets of 1/16 of an octave, with count and sum of each bucket, so
 * that only the position inside a bucket is lost. The durations are gaps between successive reads
 * of the clock, or times of requests.
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
/* Adds all durations of `other`. */
void gaps_merge(struct gaps *g, const struct gaps *other);

/*
 * The longest wait of work that arrives at a random moment, except for a share of the moments
 * (0.0001: p99.99), in ns. It is a quantile over time, because in a gap of length g all waits from
 * 0 to g are equally likely. A quantile over the reads would ignore the 0.01 % longest gaps: 2,000
 * of them in half a second, however long they are.
 */
double gaps_wait(const struct gaps *g, double share);

/* The quantile over the durations themselves, in ns: for q 0.99, 99 % are as short. 0: no
 * durations.
 */
double gaps_quantile(const struct gaps *g, double q);
