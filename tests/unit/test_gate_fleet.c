/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tolerance limits against published tables, and what they promise of fleets. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/mem.h"
#include "gate/fleet.h"
#include "gate/tolerance.h"

static void near(double got, double want, double by)
{
	if (!(fabs(got - want) <= by))
		fail_msg("%f, wanted %f", got, want);
}

/* ISO 16269-6 and the tables of Odeh and Owen; the row of 43 is the NIST handbook's example. */
static void test_factors(void **state)
{
	static const struct {
		double n, beyond, confidence, k;
	} t[] = {
		{2, 0.01, 0.95, 37.094},   {3, 0.01, 0.95, 10.553}, {10, 0.01, 0.95, 3.981},
		{10, 0.05, 0.95, 2.911},   {43, 0.10, 0.99, 1.874}, {50, 0.001, 0.95, 3.766},
		{1e6, 0.01, 0.95, 2.3295},
	};

	(void)state;
	near(normal_quantile(0.975), 1.959964, 1e-5);
	near(normal_quantile(4e-5), -3.944400, 1e-5);
	for (size_t i = 0; i < array_len(t); i++)
		near(tolerance_factor(t[i].n, t[i].n - 1, t[i].beyond, t[i].confidence), t[i].k,
		     t[i].k * 5e-4);
}

/* --- fleets ----------------------------------------------------------------------------------- */

enum { NODES = 40, RUNS = 5 };
static const struct promise PROMISE = {0.001, 0.05, 10};

static uint64_t seed;

static double uniform(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static struct series fleet(double between, double within)
{
	struct series s = {.id = "m"};

	for (size_t i = 0; i < NODES; i++) {
		double level = 100 * exp(between * normal());

		for (int r = 0; r < RUNS; r++)
			vec_push(&s.list, ((struct sample){i, level * exp(within * normal())}));
	}
	return s;
}

/* In 95 of 100 calibrations no more than the promise is below the threshold. */
static void test_promise(void **state)
{
	enum { TIMES = 200 };
	const double between = 0.01, within = 0.005, spread = hypot(between, within);
	int broken = 0;

	(void)state;
	seed = 1;
	for (int i = 0; i < TIMES; i++) {
		struct series s = fleet(between, within);
		struct node_left left[NODES] = {0};
		double below;
		struct fit fit;

		fleet_leave_out(QUANTITY_RATE, &s, 1, &PROMISE, left, NODES);
		assert_true(fleet_fit(QUANTITY_RATE, &s, &PROMISE, left, &fit));
		below = erfc(log(100 / fit.threshold) / spread / M_SQRT2) / 2;
		broken += below > PROMISE.false_blocks / (double)PROMISE.figures;
		near(fit.spread, spread, spread / 3);
		vec_free(&s.list);
	}
	assert_in_range(broken, 0, TIMES / 10);
}

/* The same of a time, whose threshold lies above. */
static void test_time(void **state)
{
	struct node_left left[NODES] = {0};
	struct series s;
	struct fit rate, time;

	(void)state;
	seed = 2;
	s = fleet(0.01, 0.002);
	assert_true(fleet_fit(QUANTITY_RATE, &s, &PROMISE, left, &rate));
	for (size_t i = 0; i < s.list.n; i++)
		s.list.v[i].value = 1e4 / s.list.v[i].value;
	assert_true(fleet_fit(QUANTITY_TIME, &s, &PROMISE, left, &time));
	near(time.threshold, 1e4 / rate.threshold, 1e-6);
	near(fleet_finds(QUANTITY_TIME, &time, time.threshold),
	     1 / (1 - fleet_finds(QUANTITY_RATE, &rate, rate.threshold)) - 1, 1e-6);
	vec_free(&s.list);
}

static void spoil(struct series *s, size_t node, double by, int runs)
{
	for (size_t i = 0; i < s->list.n; i++)
		if (s->list.v[i].node == node && runs-- > 0)
			s->list.v[i].value *= by;
}

static void test_left_out(void **state)
{
	struct node_left left[NODES] = {[7] = {.why = LEFT_LACKS}};
	struct series s;

	(void)state;
	seed = 3;
	s = fleet(0.005, 0.002);
	spoil(&s, 3, 11 / 12.0, RUNS);
	spoil(&s, 4, 1.1, RUNS);
	spoil(&s, 5, 0.9, 1);
	spoil(&s, 7, 0.5, RUNS);
	fleet_leave_out(QUANTITY_RATE, &s, 1, &PROMISE, left, NODES);
	for (size_t i = 0; i < NODES; i++)
		assert_int_equal(left[i].why, i == 3   ? LEFT_SLOW
					      : i == 4 ? LEFT_FAST
					      : i == 5 ? LEFT_INTERMITTENT
					      : i == 7 ? LEFT_LACKS
						       : LEFT_NOT);
	near(left[3].by, 1 / 12.0, 0.02);
	vec_free(&s.list);
}

/* As many nodes as it says find the loss, and one less does not. */
static void test_lacks(void **state)
{
	struct fit fit = {.typical = 100, .between = 0.01, .nodes = 5, .runs = 5, .spread = 0.01};
	struct promise p = {0.001, 0.075, 10};
	size_t lacks = fleet_lacks(&fit, &p);

	(void)state;
	assert_in_range(lacks, 1, 100);
	fit.nodes = fit.runs = 5 + lacks;
	assert_int_equal(fleet_lacks(&fit, &p), 0);
	fit.nodes = fit.runs = 5 + lacks - 1;
	assert_int_equal(fleet_lacks(&fit, &p), 1);
	/* However many: three standard deviations are not ten. */
	p.loss = 0.03;
	assert_true(fleet_lacks(&fit, &p) == SIZE_MAX);
}

/* One run, runs that are all the same, and nothing. */
static void test_little(void **state)
{
	struct node_left left[1] = {0};
	struct series s = {.id = "m"};
	struct fit fit;

	(void)state;
	assert_false(fleet_fit(QUANTITY_RATE, &s, &PROMISE, left, &fit));
	vec_push(&s.list, ((struct sample){0, 100}));
	assert_true(fleet_fit(QUANTITY_RATE, &s, &PROMISE, left, &fit));
	assert_true(fit.threshold > 0 && fit.threshold < 95);
	for (int i = 0; i < 20; i++)
		vec_push(&s.list, ((struct sample){0, 100}));
	assert_true(fleet_fit(QUANTITY_RATE, &s, &PROMISE, left, &fit));
	near(fit.threshold, 98.8, 0.3);
	vec_free(&s.list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_factors), cmocka_unit_test(test_promise),
		cmocka_unit_test(test_time),	cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_lacks),	cmocka_unit_test(test_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
