/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Thresholds from numbers. What the verb does with them is in tests/calibrate.bats. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/units.h"
#include "fragment.h"
#include "gate/calibrate.h"

#define assert_text(haystack, needle)                                \
	do {                                                         \
		const char *h_ = (haystack), *n_ = (needle);         \
		if (!strstr(h_, n_))                                 \
			fail_msg("'%s' does not hold '%s'", h_, n_); \
	} while (0)

/* Rounded to the side that passes more, and taken by the parsers of profiles. */
static void test_text(void **state)
{
	static const struct {
		enum quantity q;
		double threshold;
		const char *text;
		int (*parse)(const char *s, uint64_t *ret);
	} t[] = {
		{QUANTITY_RATE, 19170999999.0, "19170MB/s", parse_rate},
		{QUANTITY_RATE, 19170000000.0, "19170MB/s", parse_rate},
		{QUANTITY_RATE, 400000.0, "1MB/s", parse_rate},
		{QUANTITY_TIME, 83.0, "83ns", parse_latency},
		{QUANTITY_TIME, 83.01, "84ns", parse_latency},
		{QUANTITY_TIME, 0.5, "1ns", parse_latency},
		{QUANTITY_TIME, 52341.2, "52342ns", parse_latency},
		{QUANTITY_MESSAGES, 2134999.0, "2134K/s", parse_message_rate},
		{QUANTITY_MESSAGES, 9999.9, "9999/s", parse_message_rate},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_free char *text = calibration_text(t[i].q, t[i].threshold);
		uint64_t value;

		assert_string_equal(text, t[i].text);
		assert_int_equal(t[i].parse(text, &value), 0);
		if (t[i].q == QUANTITY_TIME)
			assert_true((double)value >= t[i].threshold);
		else if (value > 1000000)
			assert_true((double)value <= t[i].threshold);
	}
}

/* --- from measurements to the section --------------------------------------------------------- */

/* A good node, and its profile's checks. */
struct good {
	struct profile profile;
	json_t *doc;
};

static struct good good(const char *name, const char *checks)
{
	cleanup_free char *text = xasprintf("gate: {checks: {%s}}\n", checks);
	struct good n = {.profile = {.name = (char *)"sku", .digest = "abcdef0123456789"}};

	n.profile.doc = fragment(text);
	n.doc = calibration_new(name, &n.profile, NULL, "b", 0);
	return n;
}

static void good_free(struct good *n)
{
	json_decref(n->doc);
	ynode_free(n->profile.doc);
}

static void add_reading(struct measurement *m, const char *name, enum quantity q, double value)
{
	vec_push(&m->readings.list, ((struct reading){name, q, value, 1, false}));
}

static struct measurement measurement(const char *check, const char *tail, enum change_state is)
{
	return (struct measurement){
		.id = xasprintf("gate/%s/%s", check, tail), .check = xstrdup(check), .state = is};
}

/* One run of one reading in each of n members "m0", "m1", ... */
static void run_of(struct good *to, const char *check, const char *name, enum quantity q,
		   const double *values, size_t n)
{
	struct measurements m = {0};
	struct err err = {0};

	for (size_t i = 0; i < n; i++) {
		cleanup_free char *tail = xasprintf("m%zu", i);
		struct measurement one =
			measurement(check, tail, i % 2 ? CHANGE_SLOW : CHANGE_SAME);

		add_reading(&one, name, q, values[i]);
		vec_push(&m.list, one);
	}
	if (calibration_add(to->doc, &to->profile, &m, &err) < 0)
		fail_msg("%s", err.text);
	measurements_free(&m);
}

static char *section_of(json_t *doc, struct strv *notes)
{
	struct err err = {0};
	char *text;

	assert_int_equal(calibration_check(doc, &err), 0);
	if (calibration_section(&doc, 1, 0.001, 0.05, &text, notes, &err) < 0)
		fail_msg("%s", err.text);
	return text;
}

/* Of a check's members, each with a spread of its own, the lowest threshold is that of all. */
static void test_members(void **state)
{
	static const double spread[] = {1.001, 0.999, 1, 1.0005, 0.9995, 1};
	struct good n = good("node42", "memory: {min: 1GB/s}");
	struct strv notes = {0};
	cleanup_free char *text = NULL;

	(void)state;
	for (size_t i = 0; i < array_len(spread); i++) {
		const double runs[] = {30e9 * spread[i], 20e9 * spread[i], 29e9 * spread[i]};

		run_of(&n, "memory", "min", QUANTITY_RATE, runs, 3);
	}
	text = section_of(n.doc, &notes);
	assert_text(text, "\nschema: 1\ngate:\n  checks:\n    memory:\n");
	assert_text(text, "# 3 figures; by their thresholds together at most 0.1 % of the gates of "
			  "this node are");
	assert_text(text, "6 runs; weakest of 3: gate/memory/m1, 20.0 GB/s; runs spread by 0.07 %");
	assert_text(text, "\n      min: 19712MB/s\n");
	assert_text(text,
		    "      members:\n        \"m0\": {min: 29568MB/s}\n        \"m2\": {min: ");
	assert_int_equal(notes.n, 1);
	assert_string_equal(
		notes.v[0],
		"memory.min: gate/memory/m1 is 33.3 % worse than the best member. If the "
		"member has lost a part, the threshold accepts the loss");
	strv_free(&notes);
	good_free(&n);
}

/* Of a time the highest is the weakest, and the threshold lies above. */
static void test_time(void **state)
{
	static const double runs[][2] = {{100, 99}, {100.2, 99.2}, {99.8, 99}, {100, 99}};
	struct good n = good("node42", "latency: {max: 1us}");
	struct strv notes = {0};
	cleanup_free char *text = NULL;

	(void)state;
	for (size_t i = 0; i < array_len(runs); i++)
		run_of(&n, "latency", "max", QUANTITY_TIME, runs[i], 2);
	text = section_of(n.doc, &notes);
	assert_text(text, "4 runs; weakest of 2: gate/latency/m0, 100.0 ns; runs spread by 0.16 %");
	assert_text(text, "\n      max: 102ns\n");
	assert_int_equal(notes.n, 0);
	good_free(&n);
}

/* A share of the set stays what it is: its floor is the node's own number. */
static void test_floor(void **state)
{
	static const double values[] = {10e9, 10.1e9};
	struct good n = good("node42", "rails: {min: \"90% of set\", floor: 1GB/s}");
	struct strv notes = {0};
	cleanup_free char *text = NULL;

	(void)state;
	for (int i = 0; i < 5; i++)
		run_of(&n, "rails", "min", QUANTITY_RATE, values, 2);
	text = section_of(n.doc, &notes);
	assert_text(text, "\n      floor: 9841MB/s\n");
	assert_null(strstr(text, "min:"));
	good_free(&n);
}

/* Several keys of one check, and several checks: each figure has its part of the promise. */
static void test_keys(void **state)
{
	static const double rate[] = {10e9}, messages[] = {2e6}, more[] = {5e9};
	struct good n = good("node42", "rails: {min: 1GB/s, min_messages: 1M/s}, x: {min: 1GB/s}");
	struct strv notes = {0};
	cleanup_free char *text = NULL;

	(void)state;
	for (int i = 0; i < 5; i++) {
		run_of(&n, "rails", "min", QUANTITY_RATE, rate, 1);
		run_of(&n, "rails", "min_messages", QUANTITY_MESSAGES, messages, 1);
		run_of(&n, "x", "min", QUANTITY_RATE, more, 1);
	}
	text = section_of(n.doc, &notes);
	assert_text(text, "# 3 figures");
	assert_text(text, "    rails:\n      # 5 runs;");
	assert_text(text, "      min: 9836MB/s\n      # 5 runs;");
	assert_text(text, "      min_messages: 1967K/s\n    x:\n");
	assert_text(text, "      min: 4918MB/s\n");
	good_free(&n);
}

static void test_not_measured(void **state)
{
	static const enum change_state bad[] = {CHANGE_FAILED, CHANGE_CANNOT_MEASURE,
						CHANGE_NOT_YET, CHANGE_UNSUPPORTED};

	(void)state;
	for (size_t i = 0; i < array_len(bad); i++) {
		struct good n = good("node42", "memory: {min: 1GB/s}");
		struct measurements m = {0};
		struct measurement good = measurement("memory", "m0", CHANGE_SAME);
		struct measurement one = measurement("memory", "m1", bad[i]);
		struct err err = {0};

		add_reading(&good, "min", QUANTITY_RATE, 1e9);
		one.reason = xstrdup("it was not there");
		vec_push(&m.list, good);
		vec_push(&m.list, one);
		assert_int_equal(calibration_add(n.doc, &n.profile, &m, &err), -EINVAL);
		assert_string_equal(err.text, "gate/memory/m1: it was not there");
		measurements_free(&m);
		good_free(&n);
	}
}

/* How many errors there were is judged by itself, and no threshold comes of it. */
static void test_faults(void **state)
{
	struct good n = good("node42", "memory: {min: 1GB/s}");
	struct measurements m = {0};
	struct measurement one = measurement("memory", "m0", CHANGE_SAME);
	struct err err = {0};

	(void)state;
	add_reading(&one, "faults", QUANTITY_FAULTS, 0);
	vec_push(&m.list, one);
	assert_int_equal(calibration_add(n.doc, &n.profile, &m, &err), -EINVAL);
	assert_text(err.text, "has no measured check with a threshold");
	measurements_free(&m);
	good_free(&n);
}

/*
 * Thresholds of ten runs on a machine whose runs spread by 3 %: none of a hundred gates there is
 * blocked, and every one of a machine that is 20 % slower is.
 */
static void test_hundred_gates(void **state)
{
	enum { GATES = 100, RUNS = 10 };
	struct good n = good("node42", "memory: {min: 1GB/s}");
	struct strv notes = {0};
	cleanup_free char *text = NULL;
	uint32_t seed = 12345, false_blocks = 0, missed = 0;
	const char *min;
	uint64_t limit;
	char word[32];

	(void)state;
	for (int i = 0; i < RUNS + GATES; i++) {
		double value;

		seed = seed * 1664525 + 1013904223;
		value = 20e9 * (0.97 + 0.06 * (seed >> 8) / 16777216.0);
		if (i < RUNS) {
			run_of(&n, "memory", "min", QUANTITY_RATE, &value, 1);
			continue;
		}
		if (i == RUNS) {
			text = section_of(n.doc, &notes);
			min = strstr(text, "min: ");
			assert_int_equal(sscanf(min, "min: %31s", word), 1);
			assert_int_equal(parse_rate(word, &limit), 0);
		}
		false_blocks += value < (double)limit;
		missed += value * 0.8 >= (double)limit;
	}
	assert_int_equal(false_blocks, 0);
	assert_int_equal(missed, 0);
	/* That spread is too wide for the loss which is found where nothing else is said. */
	assert_int_equal(notes.n, 1);
	assert_text(notes.v[0], "not of 5.0 %: the figures of good nodes spread by ");
	strv_free(&notes);
	good_free(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),   cmocka_unit_test(test_members),
		cmocka_unit_test(test_time),   cmocka_unit_test(test_floor),
		cmocka_unit_test(test_keys),   cmocka_unit_test(test_not_measured),
		cmocka_unit_test(test_faults), cmocka_unit_test(test_hundred_gates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
