/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/quantile.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double quantile_of(const double *v, size_t n, double q)
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

double median_of(const double *v, size_t n)
{
	return quantile_of(v, n, 0.5);
}
