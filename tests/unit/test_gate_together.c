/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs that share a process: whose line is whose, and what is run alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "../lib/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "gate/together.h"
#include "sys/clock.h"
#include "tree.h"

#define N 4
#define LONG_MS 600000 /* is over where the program puts the clock forward: "pass 5000" */
#define MEASURED(task) "{\"result\":\"measured\",\"value\":1,\"took_us\":5,\"task\":" task "}"
#define ALONE "{\"result\":\"measured\",\"value\":2}"

static const struct strv a = {.v = (char *[]){(char *)"a"}, .n = 1};
static const struct strv b = {.v = (char *[]){(char *)"b"}, .n = 1};

/*
 * Four jobs: of a, of a, of b, and one that shares no process; so in the text it is first, third;
 * second. The program notes its words in "starts". The clock stands, but for what the program says.
 */
static void run(const struct tmp *t, const char *together, struct bench_job jobs[N])
{
	static const char *const names[N] = {"one", "two", "three", "four"};
	static const bool shares[N] = {true, true, true, false};
	cleanup_free char *program = xstrdup(tmp_path(t, "program"));
	cleanup_free char *text = xasprintf("#!/bin/sh\necho \"$@\" >>%s/starts\n"
					    "[ $1 = together ] || { echo '" ALONE "'; exit; }\n"
					    "pass() { truncate -s +$1 %s/clock; }\n%s\n",
					    t->dir, t->dir, together);
	struct err err = {0};

	tmp_write(t, "program", text);
	assert_int_equal(chmod(program, 0755), 0);
	for (size_t i = 0; i < N; i++)
		jobs[i] = (struct bench_job){.argv = {program, names[i], "--x", "1"},
					     .deadline_ms = LONG_MS,
					     .resources = i < 2 ? &a : &b};
	assert_int_equal(together_run_jobs(jobs, shares, N, clock_usec() + LONG_MS * 1000ull, &err),
			 0);
}

static void clear(struct bench_job jobs[N])
{
	for (size_t i = 0; i < N; i++)
		bench_job_clear(&jobs[i]);
}

static double value(const struct bench_job *job)
{
	return json_number_value(json_object_get(job->result, "value"));
}

static void test_lines(void **state)
{
	const struct tmp *t = *state;
	struct bench_job jobs[N];
	uint64_t before = clock_usec();

	run(t,
	    "echo '" MEASURED("2") "'; echo '" MEASURED(
		    "0") "'\n"
			 "echo '{\"result\":\"not yet\",\"reason\":\"a port\",\"task\":1}'",
	    jobs);
	assert_int_equal(jobs[0].state, CHANGE_SAME);
	assert_int_equal(jobs[0].duration_us, 5);
	assert_int_equal(jobs[0].started_us, 0); /* the line has none */
	assert_in_range(jobs[3].started_us, before, clock_usec());
	assert_null(json_object_get(jobs[0].result, "task"));
	assert_null(json_object_get(jobs[0].result, "took_us"));
	assert_int_equal(jobs[1].state, CHANGE_SAME); /* task 2: of the second round */
	assert_int_equal(jobs[2].state, CHANGE_NOT_YET);
	assert_string_equal(jobs[2].reason, "a port");
	assert_true(value(&jobs[3]) == 2);

	assert_text(tree_text(t, "starts"),
		    "together 600000 one --x 1 & 600000 three --x 1; 600000 two --x 1\n");
	assert_text(tree_text(t, "starts"), "four --x 1\n");
	assert_null(strstr(tree_text(t, "starts"), "\none"));
	clear(jobs);
}

/* When each began, as its line has it: within the time of the process, or it is not known. */
static void test_started(void **state)
{
	static const char *const wrong[] = {"1", "99999999999999999", "-1", "\"x\""};
	struct bench_job jobs[N];
	uint64_t begun = clock_usec() + 5000; /* between its start and its end */
	cleanup_free char *line = xasprintf("pass 9; echo '{\"result\":\"measured\",\"value\":1,"
					    "\"task\":0,\"started_us\":%llu}'",
					    (unsigned long long)begun);

	run(*state, line, jobs);
	assert_int_equal(jobs[0].started_us, begun);
	assert_null(json_object_get(jobs[0].result, "started_us"));
	assert_in_range(jobs[1].started_us, jobs[0].started_us, clock_usec()); /* alone */
	clear(jobs);
	for (size_t i = 0; i < array_len(wrong); i++) {
		cleanup_free char *text = xasprintf(
			"echo '{\"result\":\"measured\",\"value\":1,\"task\":0,\"started_us\":%s}'",
			wrong[i]);

		run(*state, text, jobs);
		assert_true(value(&jobs[0]) == 1);
		assert_int_equal(jobs[0].started_us, 0);
		clear(jobs);
	}
}

/* Crashed, hung, twice, of no job, or no result at all: the others lose nothing by it. */
static void test_rest_alone(void **state)
{
	static const struct {
		const char *together;
		double values[3];
		enum change_state third;
	} t[] = {
		{"echo '" MEASURED("0") "'; kill -SEGV $$", {1, 2, 2}, CHANGE_SAME},
		{"echo '" MEASURED("2") "'; exit 0", {2, 1, 2}, CHANGE_SAME},
		{"exit 2", {2, 2, 2}, CHANGE_SAME},
		{"printf '" MEASURED("0") "'", {2, 2, 2}, CHANGE_SAME},
		{"echo '" MEASURED("0") "'; echo '{\"result\":\"cannot measure\",\"reason\":\"x\","
					"\"task\":0}'; echo '" MEASURED("3") "'; echo '" MEASURED(
						"-1") "'; echo '{}'",
		 {1, 2, 2},
		 CHANGE_SAME},
		{"echo '" MEASURED("0") "'; echo '{\"result\":\"fine\",\"task\":1}'",
		 {1, 2, 0},
		 CHANGE_FAILED},
	};

	for (size_t i = 0; i < array_len(t); i++) {
		struct bench_job jobs[N];

		run(*state, t[i].together, jobs);
		for (size_t k = 0; k < 3; k++)
			assert_true(value(&jobs[k]) == t[i].values[k]);
		assert_int_equal(jobs[2].state, t[i].third);
		if (t[i].third == CHANGE_FAILED)
			assert_string_equal(jobs[2].reason, "not a result");
		clear(jobs);
	}
}

/* With no time left for another try, those without a line come to what the process came to. */
static void test_no_time(void **state)
{
	struct bench_job jobs[N];

	run(*state, "echo '" MEASURED("0") "'; pass 600000; exec sleep 1000", jobs);
	assert_true(value(&jobs[0]) == 1);
	assert_int_equal(jobs[1].state, CHANGE_FAILED);
	assert_text(jobs[1].reason, "when gate.budget was used up");
	assert_int_equal(jobs[2].state, CHANGE_FAILED);
	for (size_t i = 0; i < 3; i++)
		assert_true(jobs[i].by_budget);
	clear(jobs);
}

/* As of a program that runs alone: one line that fits, of whole characters. */
static void test_reason(void **state)
{
	struct bench_job jobs[N];
	char reason[sizeof(jobs[0].reason) + 2];
	json_t *line, *text;

	memset(reason, '.', sizeof(reason));
	memcpy(reason, "x\ny", 3);
	strcpy(reason + sizeof(reason) - 4, "\xc3\xa4"); /* the end cuts through it */
	line = json_pack("{s:s, s:s}", "result", "cannot measure", "reason", reason);
	(void)state;
	memset(jobs, 0, sizeof(jobs));
	bench_job_take(&jobs[0], line);
	assert_int_equal(jobs[0].state, CHANGE_CANNOT_MEASURE);
	assert_int_equal(strlen(jobs[0].reason), sizeof(jobs[0].reason) - 2);
	assert_int_equal(strncmp(jobs[0].reason, "x y..", 5), 0);
	text = json_string(jobs[0].reason); /* NULL unless it is UTF-8 */
	assert_non_null(text);
	json_decref(text);
	json_decref(line);
	clear(jobs);
}

static int setup(void **state)
{
	const struct tmp *t;
	int r = tmp_setup(state);

	if (r < 0)
		return r;
	t = *state;
	tmp_write(t, "clock", "");
	test_clock(CLOCK_STANDS, tmp_path(t, "clock"));
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lines, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_rest_alone, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_no_time, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_started, setup, tmp_teardown),
		cmocka_unit_test(test_reason),
	};

	return cmocka_run_group_tests_name("gate_together", tests, NULL, NULL);
}
