/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/rounds.h"

#include "base/mem.h"
#include "base/quantile.h"
#include "bench/pool.h"
#include "bench/stats.h"
#include "bench/time_over.h"

#define GAP_LEAST_NS 1000000u
#define WARM_PCT 2.0

static bool near(double a, double b)
{
	double low = a < b ? a : b, high = a < b ? b : a;

	return (high - low) * 100 <= WARM_PCT * low;
}

int rounds_warm_up(struct rounds *r, struct err *err)
{
	uint64_t end = clock_ns() + r->budget_ns / 4;
	double last[ROUNDS_KINDS] = {0};
	bool steady = false;

	while (!steady && !time_is_over()) {
		steady = true;
		for (size_t k = 0; k < r->kinds; k++) {
			double rate;
			int e = r->window(r->ctx, k, &rate, err);

			if (e < 0)
				return e;
			steady &= near(rate, last[k]);
			last[k] = rate;
		}
		steady |= clock_ns() >= end;
	}
	return 0;
}

static bool agreed(const struct rounds *r)
{
	for (size_t k = 0; k < r->kinds; k++)
		if (!stats_agree(r->rates[k], r->n, ROUNDS_LEAST, r->agree_pct))
			return false;
	return true;
}

/* The rest of a window's slot, at least GAP_LEAST_NS. */
static uint64_t gap_after(const struct rounds *r, uint64_t window_ns)
{
	uint64_t slot = r->budget_ns / (r->kinds * ROUNDS_MOST);

	return slot > window_ns + GAP_LEAST_NS ? slot - window_ns : GAP_LEAST_NS;
}

static int one_round(struct rounds *r, struct err *err)
{
	for (size_t k = 0; k < r->kinds; k++) {
		uint64_t start = clock_ns();
		int e = r->window(r->ctx, k, &r->rates[k][r->n], err);

		if (e < 0)
			return e;
		sleep_ns(gap_after(r, clock_ns() - start));
	}
	r->n++;
	return 0;
}

int rounds_run(struct rounds *r, struct err *err)
{
	uint64_t start = clock_ns();
	int e = 0;

	r->n = 0;
	queue_look(&r->queue);
	while (e == 0 && r->n < ROUNDS_MOST && !agreed(r) && !time_is_over()) {
		if (r->n >= ROUNDS_FLOOR && clock_ns() - start > r->budget_ns)
			break;
		e = one_round(r, err);
	}
	r->took_ns = clock_ns() - start;
	return e || r->n ? e : err_time_over(err, "its first round was measured");
}

double rounds_median(const struct rounds *r, size_t kind)
{
	return median_of(r->rates[kind], r->n);
}

size_t rounds_lowest(const struct rounds *r)
{
	size_t low = 0;

	for (size_t k = 1; k < r->kinds; k++)
		if (rounds_median(r, k) < rounds_median(r, low))
			low = k;
	return low;
}

void rounds_report(const struct rounds *r, const char *const names[], json_t *line)
{
	size_t low = rounds_lowest(r);

	json_object_set_new(line, "value", json_integer((json_int_t)rounds_median(r, low)));
	json_object_set_new(line, "unit", json_string("B/s"));
	for (size_t k = 0; k < r->kinds; k++)
		json_object_set_new(line, names[k], json_integer((json_int_t)rounds_median(r, k)));
	json_object_set_new(line, "spread_pct", json_real(stats_spread_pct(r->rates[low], r->n)));
	json_object_set_new(line, "windows", json_integer((json_int_t)(r->n * r->kinds)));
	json_object_set_new(line, "windows_ms", json_integer((json_int_t)(r->took_ns / 1000000)));
	queue_report(&r->queue, line);
	if (r->n < ROUNDS_LEAST)
		json_object_set_new(line, "note",
				    json_sprintf("only %zu rounds fitted the budget", r->n));
}
