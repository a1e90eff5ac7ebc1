/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/windows.h"

#include "base/mem.h"
#include "base/quantile.h"
#include "bench/stats.h"

void windows_add(struct windows *w, const struct window *one)
{
	vec_push(&w->list, *one);
	w->n_own += one->own;
}

static bool are_enough(const struct windows *w)
{
	return w->n_own >= WINDOWS_FEW || 2 * w->n_own > w->list.n;
}

static bool counts(const struct windows *w, const struct window *one)
{
	return one->own || !are_enough(w);
}

static double of_rates(const struct windows *w, double (*estimate)(const double *v, size_t n))
{
	cleanup_free double *v = xcalloc(w->list.n, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < w->list.n; i++)
		if (counts(w, &w->list.v[i]))
			v[n++] = w->list.v[i].rate;
	return estimate(v, n);
}

double windows_median(const struct windows *w)
{
	return of_rates(w, median_of);
}

double windows_spread_pct(const struct windows *w)
{
	return of_rates(w, stats_spread_pct);
}

void windows_add_time(const struct windows *w, double *usual_ns, double *own_ns)
{
	double median = windows_median(w);

	for (size_t i = 0; i < w->list.n; i++) {
		const struct window *one = &w->list.v[i];

		if (!counts(w, one) && !one->nearly_own)
			continue;
		*usual_ns += one->ns * one->whole / median;
		*own_ns += one->ns;
	}
}

void windows_report(const struct windows *w, json_t *line)
{
	json_object_set_new(line, "windows", json_integer((json_int_t)w->list.n));
	json_object_set_new(line, "disturbed", json_integer((json_int_t)(w->list.n - w->n_own)));
	json_object_set_new(line, "spread_pct", json_real(windows_spread_pct(w)));
	if (!are_enough(w))
		json_object_set_new(line, "invalid",
				    json_sprintf("its CPUs were taken away in %zu of %zu windows",
						 w->list.n - w->n_own, w->list.n));
}

void windows_free(struct windows *w)
{
	vec_free(&w->list);
	w->n_own = 0;
}
