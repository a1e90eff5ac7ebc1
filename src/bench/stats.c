/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/stats.h"

#include "base/mem.h"
#include "base/quantile.h"

double stats_spread_pct(const double *v, size_t n)
{
	double median = median_of(v, n);

	if (median <= 0)
		return 0;
	return 50 * (quantile_of(v, n, 0.75) - quantile_of(v, n, 0.25)) / median;
}

static bool close_to(double a, double b, double pct)
{
	double low = a < b ? a : b, high = a < b ? b : a;

	return (high - low) * 100 <= pct * low;
}

bool stats_agree(const double *v, size_t n, size_t least, double pct)
{
	size_t half = n / 2;

	if (n < least || n < 4)
		return false;
	if (!close_to(median_of(v, half), median_of(v + half, n - half), pct))
		return false;

	/* A drift shows between the halves; a beat with a periodic disturbance here. */
	cleanup_free double *even = xcalloc(n, sizeof(*even));
	cleanup_free double *odd = xcalloc(n, sizeof(*odd));

	for (size_t i = 0; i < n; i++)
		(i % 2 ? odd : even)[i / 2] = v[i];
	return close_to(median_of(even, n - half), median_of(odd, half), pct);
}
