/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/windows.h"

#include <string.h>

#include "bench/stats.h"

void windows_add(struct windows *w, double figure, bool disturbed)
{
	if (disturbed && w->n_disturbed < WINDOWS_MOST)
		w->disturbed[w->n_disturbed++] = figure;
	else if (!disturbed && w->n_clean < WINDOWS_MOST)
		w->clean[w->n_clean++] = figure;
}

size_t windows_count(const struct windows *w)
{
	return w->n_clean + w->n_disturbed;
}

/* Those that count. */
static size_t gather(const struct windows *w, double *ret)
{
	memcpy(ret, w->clean, w->n_clean * sizeof(*ret));
	if (w->n_clean >= WINDOWS_FEW)
		return w->n_clean;
	memcpy(ret + w->n_clean, w->disturbed, w->n_disturbed * sizeof(*ret));
	return windows_count(w);
}

double windows_median(const struct windows *w)
{
	double v[2 * WINDOWS_MOST];
	size_t n = gather(w, v);

	return stats_median(v, n);
}

double windows_spread_pct(const struct windows *w)
{
	double v[2 * WINDOWS_MOST];
	size_t n = gather(w, v);

	return stats_spread_pct(v, n);
}

bool windows_agree(const struct windows *w, size_t least, double pct)
{
	return stats_agree(w->clean, w->n_clean, least, pct);
}
