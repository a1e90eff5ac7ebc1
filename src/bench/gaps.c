/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/gaps.h"

static size_t bucket_of(uint64_t ns)
{
	unsigned int octave;

	if (ns < 16)
		return (size_t)ns;
	octave = 63 - (unsigned int)__builtin_clzll(ns);
	return (octave - 3) * 16 + ((ns >> (octave - 4)) & 15);
}

void gaps_add(struct gaps *g, uint64_t ns)
{
	size_t i = bucket_of(ns);

	g->count[i]++;
	g->sum[i] += ns;
	if (ns > g->most)
		g->most = ns;
}

void gaps_merge(struct gaps *g, const struct gaps *other)
{
	for (size_t i = 0; i < GAP_BUCKETS; i++) {
		g->count[i] += other->count[i];
		g->sum[i] += other->sum[i];
	}
	if (other->most > g->most)
		g->most = other->most;
}

/*
 * The time in which arriving work waits longer than x is the sum of g - x over the gaps g above x.
 * Goes through the buckets from the longest down, with the mean of each bucket for its gaps, and
 * finds the x for which that time is `share` of all time.
 */
double gaps_wait(const struct gaps *g, double share)
{
	double allowed = 0, count = 0, sum = 0;

	for (size_t i = 0; i < GAP_BUCKETS; i++)
		allowed += share * (double)g->sum[i];
	for (size_t i = GAP_BUCKETS; i-- > 0;) {
		if (g->count[i] == 0)
			continue;
		double mean = (double)g->sum[i] / (double)g->count[i];

		if (sum - count * mean > allowed)
			break;
		count += (double)g->count[i];
		sum += (double)g->sum[i];
	}
	return count > 0 ? (sum - allowed) / count : 0;
}

double gaps_quantile(const struct gaps *g, double q)
{
	uint64_t all = 0, seen = 0;

	for (size_t i = 0; i < GAP_BUCKETS; i++)
		all += g->count[i];
	for (size_t i = 0; i < GAP_BUCKETS; i++) {
		seen += g->count[i];
		if (g->count[i] && (double)seen >= q * (double)all)
			return (double)g->sum[i] / (double)g->count[i];
	}
	return 0;
}
