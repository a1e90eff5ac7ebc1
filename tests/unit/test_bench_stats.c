/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/quantile.h"
#include "bench/stats.h"
#include "bench/windows.h"

#define near(a, b) assert_true((a) > (b)-1e-9 && (a) < (b) + 1e-9)

static void test_median(void **state)
{
	const double one[] = {7}, even[] = {4, 1, 3, 2}, odd[] = {9, -1, 5};

	(void)state;
	near(median_of(one, 1), 7);
	near(median_of(even, 4), 2.5);
	near(median_of(odd, 3), 5);
	near(even[0], 4); /* the input is left alone */
}

static void test_quantiles(void **state)
{
	const double v[] = {50, 10, 40, 20, 30};

	(void)state;
	near(quantile_of(v, 5, 0), 10);
	near(quantile_of(v, 5, 1), 50);
	near(quantile_of(v, 5, 0.25), 20);
	near(quantile_of(v, 5, 0.9), 46);
}

static void test_spread(void **state)
{
	const double flat[] = {5, 5, 5, 5}, v[] = {50, 10, 40, 20, 30}, none[] = {0, 0};

	(void)state;
	near(stats_spread_pct(flat, 4), 0);
	near(stats_spread_pct(v, 5), 100.0 / 3);
	near(stats_spread_pct(none, 2), 0);
}

/* What it is for: outliers downwards, as many as a third, leave the figure alone. */
static void test_outliers(void **state)
{
	double v[30];

	(void)state;
	for (size_t i = 0; i < array_len(v); i++)
		v[i] = i % 3 ? 100 + (double)(i % 5) * 0.1 : 20;
	assert_true(median_of(v, array_len(v)) > 99.9);
}

static void fill(double *v, size_t n, double base)
{
	for (size_t i = 0; i < n; i++)
		v[i] = base;
}

static void test_agree(void **state)
{
	double v[20];

	(void)state;
	fill(v, 20, 100);
	assert_true(stats_agree(v, 20, 12, 0.5));
	assert_false(stats_agree(v, 11, 12, 0.5)); /* too few */
	assert_false(stats_agree(v, 3, 0, 0.5));
	v[3] = v[17] = 10;
	assert_true(stats_agree(v, 20, 12, 0.5)); /* outliers do not count */
}

static void test_no_agreement(void **state)
{
	double v[20];

	(void)state;
	fill(v, 10, 100);
	fill(v + 10, 10, 101); /* it got faster meanwhile */
	assert_false(stats_agree(v, 20, 12, 0.5));
	assert_true(stats_agree(v, 20, 12, 1.1));
	for (size_t i = 0; i < 20; i++) /* every other window was disturbed */
		v[i] = i % 2 ? 100 : 90;
	assert_false(stats_agree(v, 20, 12, 0.5));
}

static void add(struct windows *w, size_t n, double rate, double whole, bool own)
{
	struct window one = {.rate = rate, .whole = whole, .ns = 1e6, .own = own};

	while (n-- > 0)
		windows_add(w, &one);
}

static const char *invalid(const struct windows *w)
{
	static char text[96];
	json_t *line = json_object();
	const char *said;

	windows_report(w, line);
	said = json_string_value(json_object_get(line, "invalid"));
	snprintf(text, sizeof(text), "%s", said ? said : "");
	json_decref(line);
	return text;
}

/* Windows that were not its own count only where fewer than WINDOWS_FEW others are there. */
static void test_windows(void **state)
{
	struct windows w = {0};

	(void)state;
	add(&w, WINDOWS_FEW - 1, 100, 100, true);
	add(&w, 20, 50, 50, false);
	near(windows_median(&w), 50);
	assert_string_equal(invalid(&w), "its CPUs were taken away in 20 of 27 windows");
	add(&w, 1, 100, 100, true);
	near(windows_median(&w), 100);
	near(windows_spread_pct(&w), 0);
	assert_string_equal(invalid(&w), "");
	windows_free(&w);
}

/* However short a run is: more than half of them are enough, half are not. */
static void test_few_windows(void **state)
{
	struct windows w = {0};

	(void)state;
	add(&w, 2, 50, 50, false);
	add(&w, 2, 100, 100, true);
	near(windows_median(&w), 75);
	assert_string_equal(invalid(&w), "its CPUs were taken away in 2 of 4 windows");
	add(&w, 1, 100, 100, true);
	near(windows_median(&w), 100);
	assert_string_equal(invalid(&w), "");
	windows_free(&w);
}

/* A stall of the length of 30 windows in one of them: no median sees it, the time does. */
static void test_whole_time(void **state)
{
	struct window stalled = {.rate = 100, .whole = 100.0 / 31, .ns = 31e6, .own = true};
	struct windows w = {0};
	double usual = 0, own = 0;

	(void)state;
	add(&w, 89, 100, 100, true);
	windows_add(&w, &stalled);
	stalled.own = false; /* another task had the CPU: it does not count */
	windows_add(&w, &stalled);
	near(windows_median(&w), 100);
	windows_add_time(&w, &usual, &own);
	near(usual / 1e6, 90);
	near(own / 1e6, 120);
	stalled.nearly_own = true; /* for a little of it: nobody else made the window so long */
	windows_add(&w, &stalled);
	near(windows_median(&w), 100);
	usual = own = 0;
	windows_add_time(&w, &usual, &own);
	near(usual / 1e6, 91);
	near(own / 1e6, 151);
	windows_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_median),	   cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_spread),	   cmocka_unit_test(test_outliers),
		cmocka_unit_test(test_agree),	   cmocka_unit_test(test_no_agreement),
		cmocka_unit_test(test_windows),	   cmocka_unit_test(test_few_windows),
		cmocka_unit_test(test_whole_time),
	};

	return cmocka_run_group_tests_name("bench_stats", tests, NULL, NULL);
}
