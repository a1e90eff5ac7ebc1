/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/stats.h"

#include <string.h>

#include "base/mem.h"

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double stats_quantile(const double *v, size_t n, double q)
{
	cleanup_free double *sorted = xcalloc(n, sizeof(*sorted));
	double pos = q * (double)(n - 1);
	size_t low = (size_t)pos;

	memcpy(sorted, v, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_value);
	if (low + 1 >= n)
		return sorted[n - 1];
	return sorted[low] + (pos - (double)low) * (sorted[low + 1] - sorted[low]);
}

double stats_median(const double *v, size_t n)
{
	return stats_quantile(v, n, 0.5);
}

double stats_spread_pct(const double *v, size_t n)
{
	double median = stats_median(v, n);

	if (median <= 0)
		return 0;
	return 50 * (stats_quantile(v, n, 0.75) - stats_quantile(v, n, 0.25)) / median;
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
	if (!close_to(stats_median(v, half), stats_median(v + half, n - half), pct))
		return false;

	/* A drift shows between the halves; a beat with a periodic disturbance here. */
	cleanup_free double *even = xcalloc(n, sizeof(*even));
	cleanup_free double *odd = xcalloc(n, sizeof(*odd));

	for (size_t i = 0; i < n; i++)
		(i % 2 ? odd : even)[i / 2] = v[i];
	return close_to(stats_median(even, n - half), stats_median(odd, half), pct);
}
