/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Workers: what comes back, and that nothing waits for one that hangs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "../lib/clock.h"
#include "base/mem.h"
#include "sys/clock.h"
#include "sys/worker.h"

enum { SECOND = 1000000, SOON = 100000 };
#define LONG (600 * (uint64_t)SECOND) /* a deadline that is not reached */

static int hang(void *arg, struct err *err)
{
	(void)arg;
	(void)err;
	while (pause() != 0)
		;
	return 0;
}

static int give(void *arg, struct err *err)
{
	int code = *(int *)arg;

	return code < 0 ? err_errno(err, code, "gave %d", code) : code;
}

static int give_long_text(void *arg, struct err *err)
{
	(void)arg;
	return err_set(err, -EIO, "%*s", 5 * ERR_TEXT_MAX, "x");
}

static int leave(void *arg, struct err *err)
{
	(void)err;
	_exit(*(int *)arg);
}

static int die(void *arg, struct err *err)
{
	(void)err;
	raise(*(int *)arg);
	return 0;
}

/* As a caller without patience: who is over its deadline is given up. */
static int wait_or_abandon(struct worker *const *workers, size_t n)
{
	int i = workers_wait(workers, n);

	if (i >= 0 && workers[i]->fd >= 0)
		worker_abandon(workers[i]);
	return i;
}

/* Starts one worker and waits for it. */
static struct worker run_one(worker_fn fn, int arg, uint64_t usec)
{
	struct worker w, *list[] = {&w};
	struct err err = {0};

	assert_int_equal(worker_start(&w, fn, &arg, clock_usec() + usec, &err), 0);
	assert_int_equal(wait_or_abandon(list, 1), 0);
	assert_int_equal(w.fd, -1);
	assert_int_equal(wait_or_abandon(list, 1), -ENOENT);
	return w;
}

static void test_results(void **state)
{
	static const struct {
		worker_fn fn;
		int arg, result;
		const char *text;
	} t[] = {
		{give, 0, 0, ""},
		{give, 3, 3, ""},
		{give, -EBUSY, -EBUSY, "gave -16: Device or resource busy"},
		{leave, 0, -EIO, "worker ended without a result"},
		{leave, 7, -EIO, "worker ended without a result"},
		{die, SIGKILL, -EIO, "worker was killed by signal 9 (Killed)"},
		{die, SIGTERM, -EIO, "worker was killed by signal 15 (Terminated)"},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		struct worker w = run_one(t[i].fn, t[i].arg, LONG);

		assert_false(w.abandoned);
		assert_int_equal(w.result, t[i].result);
		assert_string_equal(w.err.text, t[i].text);
		assert_true(w.duration < LONG);
		assert_int_equal(waitpid(w.pid, NULL, WNOHANG), -1); /* no zombie is left */
	}
}

static void test_long_message(void **state)
{
	struct worker w = run_one(give_long_text, 0, LONG);

	(void)state;
	assert_int_equal(w.result, -EIO);
	assert_int_equal(strlen(w.err.text), ERR_TEXT_MAX - 1);
	assert_string_equal(w.err.text + ERR_TEXT_MAX - 4, "...");
}

static int clock_flows(void **state)
{
	(void)state;
	test_clock(CLOCK_FLOWS, NULL);
	return 0;
}

static void test_abandoned(void **state)
{
	uint64_t started;
	struct worker w;

	(void)state;
	test_clock(CLOCK_LEAPS, NULL);
	started = clock_usec();
	w = run_one(hang, 0, SOON);
	assert_true(w.abandoned);
	assert_int_equal(w.result, -ETIMEDOUT);
	assert_string_equal(w.err.text, "has not returned from the kernel in 0.1 s; abandoned");
	assert_int_equal(clock_usec() - started, SOON);
	/* killed: it is gone, or a zombie that was reaped */
	waitpid(w.pid, NULL, 0);
	assert_int_equal(kill(w.pid, 0), -1);
}

/* One over its deadline is left to the caller, who may give it more time. */
static void test_more_time(void **state)
{
	struct worker w, *list[] = {&w};
	uint64_t started;

	(void)state;
	test_clock(CLOCK_LEAPS, NULL);
	started = clock_usec();
	assert_int_equal(worker_start(&w, hang, NULL, started + SOON, NULL), 0);
	assert_int_equal(workers_wait(list, 1), 0);
	assert_int_equal(clock_usec(), started + SOON);
	assert_true(w.fd >= 0);
	assert_int_equal(kill(w.pid, 0), 0);
	w.deadline = started + 3 * SOON;
	assert_int_equal(workers_wait(list, 1), 0);
	assert_true(w.fd >= 0);
	assert_int_equal(clock_usec(), started + 3 * SOON);
	worker_abandon(&w);
	assert_true(w.abandoned);
	waitpid(w.pid, NULL, 0);
}

/* A deadline that is over already: the worker is abandoned, not waited for. */
static void test_no_time_left(void **state)
{
	struct worker w, *list[] = {&w};

	(void)state;
	assert_int_equal(worker_start(&w, hang, NULL, 0, NULL), 0);
	assert_int_equal(wait_or_abandon(list, 1), 0);
	assert_true(w.abandoned);
	waitpid(w.pid, NULL, 0);
}

/* One of a crowd hangs: the others come back, each with its own result, and it is named. */
static void test_many(void **state)
{
	enum { N = 40, STUCK = 17 };
	struct worker w[N], *list[N];
	int args[N], seen[N] = {0}, i;
	size_t left = N;

	(void)state;
	for (i = 0; i < N; i++) {
		args[i] = i % 3 ? i : -EINVAL;
		list[i] = &w[i];
		assert_int_equal(worker_start(&w[i], i == STUCK ? hang : give, &args[i],
					      clock_usec() + (i == STUCK ? SECOND : LONG), NULL),
				 0);
	}
	while ((i = wait_or_abandon(list, N)) >= 0) {
		assert_true(left-- > 0);
		assert_int_equal(seen[i]++, 0);
		assert_int_equal(w[i].abandoned, i == STUCK);
		assert_int_equal(w[i].result, i == STUCK ? -ETIMEDOUT : args[i]);
	}
	assert_int_equal(i, -ENOENT);
	assert_int_equal(left, 0);
	waitpid(w[STUCK].pid, NULL, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

/* Started is not waited for: the parent goes on while the child hangs. */
static void test_parent_goes_on(void **state)
{
	struct worker slow, quick, idle = {.fd = -1}, *list[] = {&idle, &slow, &quick};
	int code = 5;

	(void)state;
	assert_int_equal(worker_start(&slow, hang, NULL, clock_usec() + SECOND, NULL), 0);
	assert_int_equal(worker_start(&quick, give, &code, clock_usec() + LONG, NULL), 0);
	/* which is first depends on the machine; that none is lost does not */
	for (int i = 0; i < 2; i++) {
		int n = wait_or_abandon(list, 3);

		assert_true(n == 1 || n == 2);
	}
	assert_true(slow.abandoned);
	assert_int_equal(quick.result, 5);
	waitpid(slow.pid, NULL, 0);
}

/* The child leaves our buffers and our exit handlers alone. */
static int print_nothing(void *arg, struct err *err)
{
	(void)err;
	return fprintf(arg, "child ") < 0;
}

static void test_stdio_is_ours(void **state)
{
	char name[] = "/tmp/railhead-worker-XXXXXX", text[64] = "";
	FILE *f = fdopen(mkstemp(name), "w+");
	struct worker w, *list[] = {&w};

	(void)state;
	assert_non_null(f);
	fprintf(f, "once ");
	assert_int_equal(worker_start(&w, print_nothing, f, clock_usec() + LONG, NULL), 0);
	assert_int_equal(wait_or_abandon(list, 1), 0);
	assert_int_equal(w.result, 0);
	fflush(f);
	rewind(f);
	assert_non_null(fgets(text, sizeof(text), f));
	assert_string_equal(text, "once ");
	fclose(f);
	unlink(name);
}

/* Each worker costs one fd while it runs and none after. */
static void test_fds(void **state)
{
	int before = open("/dev/null", O_RDONLY | O_CLOEXEC), after;
	int code = 0;

	(void)state;
	close(before);
	for (int i = 0; i < 20; i++) {
		struct worker w = run_one(i % 2 ? give : leave, code, LONG);

		assert_true(w.pid > 0);
	}
	after = open("/dev/null", O_RDONLY | O_CLOEXEC);
	close(after);
	assert_int_equal(after, before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_long_message),
		cmocka_unit_test_teardown(test_abandoned, clock_flows),
		cmocka_unit_test_teardown(test_more_time, clock_flows),
		cmocka_unit_test(test_no_time_left),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_parent_goes_on),
		cmocka_unit_test(test_stdio_is_ours),
		cmocka_unit_test(test_fds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
