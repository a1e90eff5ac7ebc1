/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Figures that become worse from boot to boot: those that must be found, and healthy nodes, where
 * none may be. The bounds of gate/trend.h were chosen on other random numbers; what counts as
 * healthy here, and the seed, were written down before the first run:
 *
 *   1,000 nodes of 4 figures and 100 boots each, looked at after each boot. A figure has noise of
 *   0.1 to 3 % (uniform in the logarithm); of every three nodes one has normal noise, one noise
 *   with heavy tails (Student's t with 3 degrees of freedom), one normal noise in steps of 0.1 %.
 *   One figure in fifty is an outlier, 5 to 30 % low. In one boot of ten the node is another (a
 *   kernel, a firmware), and its figures step by up to 10 %. One boot of five takes its figures
 *   over. Not one trend may be found.
 *
 * TREND_NODES=100000 in the environment looks at more of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "gate/trend.h"

enum { NODES = 1000, FIGURES = 4, BOOTS = 100, RUNS = 1000 };

/* --- noise -------------------------------------------------------------------------------- */

static uint64_t seed;

/* xorshift64: the same on each machine. From 0 to below 1. */
static double uniform(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (double)(seed >> 11) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform());
}

static double student_3(void)
{
	double a = normal(), b = normal(), c = normal();

	return normal() / sqrt((a * a + b * b + c * c) / 3) / sqrt(3);
}

enum noise { NOISE_NORMAL, NOISE_HEAVY, NOISE_STEPS, NOISE_COUNT };

static double noisy(double level, double sd, enum noise noise)
{
	double value = level * (1 + sd * (noise == NOISE_HEAVY ? student_3() : normal()));
	double step = level / 1000;

	/* Heavy tails may reach below nothing, which no figure does. */
	if (value < level / 10)
		value = level / 10;
	return noise == NOISE_STEPS ? step * round(value / step) : value;
}

/* --- healthy nodes ------------------------------------------------------------------------ */

static bool healthy_figure_has_trend(enum noise noise, bool more_is_worse)
{
	double sd = 0.001 * pow(30, uniform()), level = 1e11;
	struct trend_point points[BOOTS];
	size_t n = 0, segment = 0;
	struct trend trend;
	bool found = false;

	for (size_t boot = 0; boot < BOOTS; boot++) {
		double value;

		if (uniform() < 0.1) {
			segment++;
			level *= 0.9 + 0.2 * uniform();
		}
		value = noisy(level, sd, noise);
		if (uniform() < 0.02)
			value *= 0.95 - 0.25 * uniform();
		if (uniform() < 0.2)
			continue;
		points[n++] = (struct trend_point){boot, segment, value};
		found |= trend_find(points, n, more_is_worse, &trend);
	}
	return found;
}

static void test_healthy(void **state)
{
	const char *nodes = getenv("TREND_NODES");
	long n = nodes ? strtol(nodes, NULL, 10) : NODES, ill = 0;

	(void)state;
	seed = 20261127;
	for (long node = 0; node < n; node++) {
		bool found = false;

		for (int f = 0; f < FIGURES; f++)
			found |= healthy_figure_has_trend((enum noise)(node % NOISE_COUNT), f % 2);
		ill += found;
	}
	if (nodes)
		printf("%ld of %ld healthy nodes have a trend\n", ill, n);
	assert_true(n > 0);
	assert_int_equal(ill, 0);
}

/* --- figures that become worse ------------------------------------------------------------ */

/* After how many boots a figure is found that falls by that share a boot; 0: not within BOOTS. */
static size_t boots_until(double fall, double sd)
{
	struct trend_point points[BOOTS];
	struct trend trend;

	for (size_t i = 0; i < BOOTS; i++) {
		double level = 1e11 * (1 - fall * (double)i);

		points[i] = (struct trend_point){i, 0, noisy(level, sd, NOISE_NORMAL)};
		if (trend_find(points, i + 1, false, &trend))
			return i + 1;
	}
	return 0;
}

static size_t found_within(size_t boots, double fall, double sd)
{
	size_t n = 0;

	seed = 5;
	for (size_t i = 0; i < RUNS; i++) {
		size_t at = boots_until(fall, sd);

		n += at && at <= boots;
	}
	return n;
}

/* Less 5 % over 20 boots: by the 20th, nearly always; with more noise it takes more boots. */
static void test_worse(void **state)
{
	(void)state;
	assert_true(found_within(20, 0.05 / 19, 0.003) >= RUNS * 99 / 100);
	assert_true(found_within(28, 0.05 / 19, 0.01) >= RUNS * 90 / 100);
	assert_true(found_within(40, 0.05 / 19, 0.02) >= RUNS * 75 / 100);
}

static bool find(size_t n, double (*value)(size_t i), bool more_is_worse, struct trend *ret)
{
	struct trend_point points[BOOTS];

	for (size_t i = 0; i < n; i++)
		points[i] = (struct trend_point){i, 0, value(i)};
	return trend_find(points, n, more_is_worse, ret);
}

static double falls(size_t i)
{
	return 1e11 - 5e9 * (double)i / 19;
}

static double rises(size_t i)
{
	return 100 + (double)i;
}

static double stays(size_t i)
{
	(void)i;
	return 7;
}

/* So little that no operator would look for its cause. */
static double falls_a_little(size_t i)
{
	return 1e11 - 1e7 * (double)i;
}

static double falls_in_steps(size_t i)
{
	return (double)(30 - i / 4);
}

static double falls_once(size_t i)
{
	return i < 20 ? 100 : 90;
}

static void test_direction(void **state)
{
	struct trend t;

	(void)state;
	assert_true(find(20, falls, false, &t));
	assert_float_equal(t.percent, -5, 0.1);
	assert_int_equal(t.boots, 20);
	assert_false(find(20, falls, true, &t)); /* a latency that falls is no loss */
	assert_true(find(20, rises, true, &t));
	assert_float_equal(t.percent, 19, 0.5);
	assert_false(find(20, rises, false, &t));
}

static void test_bounds(void **state)
{
	struct trend t;

	(void)state;
	assert_false(trend_find(NULL, 0, false, &t));
	for (size_t n = 1; n < 14; n++)
		assert_false(find(n, falls, false, &t));
	assert_false(find(BOOTS, stays, false, &t));
	assert_false(find(BOOTS, falls_a_little, false, &t));
	assert_true(find(40, falls_in_steps, false, &t)); /* equal values do not hide it */
	/* A pair of equal values is no noise: without any, one step is no chance. */
	assert_true(find(40, falls_once, false, &t));
	assert_false(find(30, falls_once, false, &t));
	assert_true(find(BOOTS, falls, false, &t));
	assert_int_equal(t.boots, TREND_WINDOW); /* what was long ago is over */
}

/* A kernel in the middle, with which all is faster: the fall goes on. */
static void test_segments(void **state)
{
	struct trend_point points[30];
	struct trend t;

	(void)state;
	for (size_t i = 0; i < 30; i++)
		points[i] = (struct trend_point){i, i >= 15, falls(i) * (i >= 15 ? 1.2 : 1)};
	assert_true(trend_find(points, 30, false, &t));
	assert_float_equal(t.percent, -7.3, 0.5);
	/* The step alone is no fall. */
	for (size_t i = 0; i < 30; i++)
		points[i] = (struct trend_point){i, i >= 15, i >= 15 ? 80 : 100};
	assert_false(trend_find(points, 30, false, &t));
}

/* Boots that took their figures over lie in between: the slope is of boots. */
static void test_gaps(void **state)
{
	struct trend_point points[20];
	struct trend t;

	(void)state;
	for (size_t i = 0; i < 20; i++)
		points[i] = (struct trend_point){3 * i, 0, falls(i)};
	assert_true(trend_find(points, 20, false, &t));
	assert_int_equal(t.boots, 58);
	assert_float_equal(t.percent, -5, 0.1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_healthy),	  cmocka_unit_test(test_worse),
		cmocka_unit_test(test_direction), cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_segments),  cmocka_unit_test(test_gaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
