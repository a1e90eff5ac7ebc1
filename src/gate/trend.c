/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gate/trend.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/quantile.h"

/* Sums over segments. */
struct pairs {
	double later_more; /* pairs with a greater later point, minus pairs with a smaller one */
	double variance;   /* of later_more, for noise alone */
	size_t boots;	   /* spanned by the pairs */
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double variance_of(double n)
{
	return n * (n - 1) * (2 * n + 5) / 18;
}

/* The variance without the part of pairs of equal values. */
static double variance_with_ties(const struct trend_point *p, size_t n)
{
	double v[TREND_WINDOW], variance = variance_of((double)n);
	size_t run = 1;

	for (size_t i = 0; i < n; i++)
		v[i] = p[i].value;
	qsort(v, n, sizeof(*v), by_value);
	for (size_t i = 1; i <= n; i++, run++)
		if (i == n || v[i] > v[i - 1]) {
			variance -= variance_of((double)run);
			run = 0;
		}
	return variance;
}

static void add_segment(const struct trend_point *p, size_t n, struct pairs *pairs)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			pairs->later_more += (p[k].value > p[i].value) - (p[k].value < p[i].value);
	pairs->variance += variance_with_ties(p, n);
	pairs->boots += p[n - 1].boot - p[0].boot;
}

/* The number of points in the segment of the first one. */
static size_t segment_length(const struct trend_point *p, size_t n)
{
	size_t len = 1;

	while (len < n && p[len].segment == p[0].segment)
		len++;
	return len;
}

/* The median slope of the logarithm, per boot. There must be a pair. */
static double median_slope(const struct trend_point *p, size_t n)
{
	cleanup_free double *slopes = xcalloc(n * (n - 1) / 2, sizeof(*slopes));
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n && p[k].segment == p[i].segment; k++)
			slopes[count++] =
				log(p[k].value / p[i].value) / (double)(p[k].boot - p[i].boot);
	return median_of(slopes, count);
}

bool trend_find(const struct trend_point *points, size_t n, bool more_is_worse, struct trend *ret)
{
	size_t used = n < TREND_WINDOW ? n : TREND_WINDOW;
	const struct trend_point *p = n > used ? points + (n - used) : points;
	struct pairs pairs = {0};
	double worse, z;

	for (size_t i = 0, len; i < used; i += len) {
		len = segment_length(p + i, used - i);
		add_segment(p + i, len, &pairs);
	}
	worse = more_is_worse ? pairs.later_more : -pairs.later_more;
	/* Kendall's continuity correction: the count takes only even or only odd values. */
	z = pairs.variance > 0 ? (worse - 1) / sqrt(pairs.variance) : 0;
	if (z < TREND_Z_LEAST)
		return false;
	ret->percent = 100 * (exp(median_slope(p, used) * (double)pairs.boots) - 1);
	ret->boots = pairs.boots + 1;
	ret->z = z;
	return fabs(ret->percent) >= TREND_PERCENT_LEAST;
}
