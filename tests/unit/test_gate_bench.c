/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The runner of measuring children, with children that behave as badly as they can. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "gate/bench.h"

#define OK "{\"result\":\"measured\",\"value\":42}"

struct one {
	const char *label;
	const char *script; /* for /bin/sh -c */
	enum bench_outcome want;
	const char *reason; /* a part of it, or NULL */
};

static const struct one children[] = {
	{"a result", "echo '" OK "'", BENCH_MEASURED, NULL},
	{"a result without newline, chatter on stderr", "echo hi >&2; printf %s '" OK "'",
	 BENCH_MEASURED, NULL},
	{"its own reason", "echo '{\"result\":\"cannot measure\",\"reason\":\"no free 1G page\"}'",
	 BENCH_CANNOT_MEASURE, "no free 1G page"},
	{"no reason", "echo '{\"result\":\"cannot measure\"}'", BENCH_BROKEN, "not a result"},
	{"a word as value", "echo '{\"result\":\"measured\",\"value\":\"fast\"}'", BENCH_BROKEN,
	 "not a result"},
	{"another result", "echo '{\"result\":\"great\",\"value\":1}'", BENCH_BROKEN,
	 "not a result; it said: {\"result\":\"great\""},
	{"a list", "echo '[1]'", BENCH_BROKEN, "not a result"},
	{"garbage", "echo 'Segmentation fault?'", BENCH_BROKEN,
	 "not one line of JSON; it said: Segmentation fault?"},
	{"bytes that are no text", "printf 'a\\377\\033[31m\\nb'", BENCH_BROKEN,
	 "it said: a? [31m b"},
	{"two results", "echo '" OK "'; echo '" OK "'", BENCH_BROKEN, "not one line of JSON"},
	{"half a result", "printf '{\"result\":'", BENCH_BROKEN, "not one line of JSON"},
	{"a key twice", "echo '{\"result\":\"measured\",\"value\":1,\"value\":2}'", BENCH_BROKEN,
	 "not one line of JSON"},
	{"nothing", ":", BENCH_BROKEN, "it said nothing"},
	{"a result and a failure", "echo '" OK "'; exit 3", BENCH_BROKEN, "exit status 3"},
	{"a complaint", "echo 'no such device' >&2; exit 1", BENCH_BROKEN,
	 "exit status 1; it said: no such device"},
	{"a crash", "echo '" OK "'; kill -SEGV $$", BENCH_BROKEN, "signal 11"},
	{"64 KiB and more", "head -c 70000 /dev/zero | tr '\\0' x", BENCH_BROKEN,
	 "printed more than 64 KiB"},
	{"output without end", "yes", BENCH_BROKEN, "printed more than 64 KiB"},
	{"output without end on stderr", "yes >&2", BENCH_BROKEN, "printed more than 64 KiB"},
	{"not yet", "echo '{\"result\": \"not yet\", \"reason\": \"INIT\"}'", BENCH_NOT_YET,
	 "INIT"},
	{"unsupported", "echo '{\"result\": \"unsupported\", \"reason\": \"no GPU\"}'",
	 BENCH_UNSUPPORTED, "no GPU"},
	{"a child of its own that stays", "sleep 60 & echo '" OK "'", BENCH_MEASURED, NULL},
	{"a daemon of its own that stays", "setsid sleep 3 & echo '" OK "'", BENCH_MEASURED, NULL},
	{"closed stdout", "echo '" OK "'; exec >&- 2>&-; sleep 0.1", BENCH_MEASURED, NULL},
	{"its environment", "test -z \"$RAILHEAD_TEST\" && echo '" OK "'", BENCH_MEASURED, NULL},
	{"a core dump", "test \"$(ulimit -c)\" = 0 && echo '" OK "'", BENCH_MEASURED, NULL},
	{"its input", "test -z \"$(cat)\" && echo '" OK "'", BENCH_MEASURED, NULL},
};

static char *node0_names[] = {(char *)"node0"}, *nic_names[] = {(char *)"nic"};
static char *both_names[] = {(char *)"node0", (char *)"nic"}, *gpu_names[] = {(char *)"gpu"};
static const struct strv node0 = {.v = node0_names, .n = 1}, nic = {.v = nic_names, .n = 1};
static const struct strv both = {.v = both_names, .n = 2}, gpu = {.v = gpu_names, .n = 1};

static struct bench_job sh(const char *script, unsigned int deadline_ms,
			   const struct strv *resources)
{
	return (struct bench_job){
		.argv = {"/bin/sh", "-c", script},
		.deadline_ms = deadline_ms,
		.resources = resources,
	};
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Runs the jobs and returns how long that took. */
static uint64_t run_ms(struct bench_job *jobs, size_t n)
{
	struct err err = {0};
	uint64_t start = now_ms();

	assert_int_equal(bench_run(jobs, n, 60000, &err), 0);
	return now_ms() - start;
}

static void check_one(const struct one *o, const struct bench_job *job)
{
	if (job->outcome != o->want || (o->reason && !strstr(job->reason, o->reason)))
		fail_msg("%s: %s: %s", o->label, bench_outcome_name(job->outcome), job->reason);
	assert_int_equal(job->outcome == BENCH_MEASURED, job->reason[0] == '\0');
	assert_int_equal(job->outcome >= BENCH_MEASURED && job->outcome <= BENCH_UNSUPPORTED,
			 job->result != NULL);
}

static void test_what_children_say(void **state)
{
	struct bench_job jobs[array_len(children)];

	(void)state;
	setenv("RAILHEAD_TEST", "seen", 1);
	for (size_t i = 0; i < array_len(children); i++)
		jobs[i] = sh(children[i].script, 10000, NULL);
	run_ms(jobs, array_len(jobs));
	for (size_t i = 0; i < array_len(children); i++) {
		check_one(&children[i], &jobs[i]);
		bench_job_clear(&jobs[i]);
	}
}

static void test_result_is_handed_over(void **state)
{
	struct bench_job job = sh("sleep 0.05; echo '" OK "'", 5000, NULL);

	(void)state;
	run_ms(&job, 1);
	assert_int_equal(json_integer_value(json_object_get(job.result, "value")), 42);
	assert_in_range(job.duration_us, 50000, 4000000);
	run_ms(&job, 1); /* a job can run again, and leaks nothing (ASan) */
	assert_int_equal(job.outcome, BENCH_MEASURED);
	bench_job_clear(&job);
	assert_null(job.result);
}

static void test_deadline(void **state)
{
	struct bench_job jobs[] = {
		sh("sleep 60", 100, NULL),
		sh("trap '' TERM; sleep 60 & wait; sleep 60", 100, NULL),
		sh("kill -STOP $$", 100, NULL),
		sh("while :; do :; done", 100, NULL),
		sh("echo '" OK "'; sleep 60", 100, NULL),
		sh("sleep 0.3; echo '" OK "'", 5000, NULL), /* not held up, not hit */
	};

	(void)state;
	assert_true(run_ms(jobs, array_len(jobs)) < 100 + BENCH_GRACE_MS + 500);
	for (size_t i = 0; i + 1 < array_len(jobs); i++) {
		assert_int_equal(jobs[i].outcome, BENCH_TIMED_OUT);
		assert_string_equal(jobs[i].reason, "no result within 100 ms; killed");
	}
	assert_int_equal(jobs[5].outcome, BENCH_MEASURED);
	bench_job_clear(&jobs[5]);
}

static void test_group_is_killed(void **state)
{
	/* The shell waits; its own child must not outlive it. */
	struct bench_job jobs[] = {sh("sleep 71.25 & wait", 100, NULL)};

	(void)state;
	run_ms(jobs, 1);
	assert_int_equal(jobs[0].outcome, BENCH_TIMED_OUT);
	assert_int_equal(
		system("sleep 0.1; command -v pgrep >/dev/null && ! pgrep -f '^sleep 71\\.25$'"),
		0);
}

static void test_many_at_once(void **state)
{
	struct bench_job jobs[40];
	char names[40][8], *name[40];
	struct strv resources[40];

	(void)state;
	for (size_t i = 0; i < array_len(jobs); i++) {
		snprintf(names[i], sizeof(names[i]), "cpu%zu", i);
		name[i] = names[i];
		resources[i] = (struct strv){.v = &name[i], .n = 1};
		jobs[i] = sh("sleep 0.4; echo '" OK "'", 20000, &resources[i]);
	}
	assert_true(run_ms(jobs, array_len(jobs)) < 40 * 400 / 2);
	for (size_t i = 0; i < array_len(jobs); i++) {
		assert_int_equal(jobs[i].outcome, BENCH_MEASURED);
		bench_job_clear(&jobs[i]);
	}
}

static void test_one_resource_in_turn(void **state)
{
	/* mkdir fails if another of them is inside. */
	static const char script[] = "mkdir \"$0\" && sleep 0.1 && rmdir \"$0\" && echo '" OK "'";
	char dir[] = "/tmp/railhead-test-XXXXXX";
	char inside[64];
	struct bench_job jobs[5];

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(inside, sizeof(inside), "%s/in", dir);
	for (size_t i = 0; i < array_len(jobs); i++) {
		jobs[i] = sh(script, 5000, &node0);
		jobs[i].argv[3] = inside;
	}
	assert_true(run_ms(jobs, array_len(jobs)) >= 500);
	for (size_t i = 0; i < array_len(jobs); i++) {
		assert_int_equal(jobs[i].outcome, BENCH_MEASURED);
		bench_job_clear(&jobs[i]);
	}
	rmdir(dir);
}

static void test_turn_after_a_hung_one(void **state)
{
	struct bench_job jobs[] = {
		sh("sleep 60", 100, &nic),
		{.argv = {"/no/such/program"}, .deadline_ms = 1000, .resources = &nic},
		sh("echo '" OK "'", 5000, &nic),
	};

	(void)state;
	run_ms(jobs, array_len(jobs));
	assert_int_equal(jobs[0].outcome, BENCH_TIMED_OUT);
	assert_int_equal(jobs[1].outcome, BENCH_BROKEN);
	assert_string_equal(jobs[1].reason, "exit status 127; it said: /no/such/program: No such "
					    "file or directory");
	assert_int_equal(jobs[2].outcome, BENCH_MEASURED);
	bench_job_clear(&jobs[2]);
}

static void test_long_reason_is_cut(void **state)
{
	/* 300 two-byte characters behind one byte: 256 falls inside a character. */
	struct bench_job job =
		sh("printf '{\"result\":\"cannot measure\",\"reason\":\"x'; for i in "
		   "$(seq 300); do printf '\\303\\244'; done; echo '\"}'",
		   5000, NULL);

	(void)state;
	run_ms(&job, 1);
	assert_int_equal(job.outcome, BENCH_CANNOT_MEASURE);
	assert_int_equal(strlen(job.reason), 255);
	assert_memory_equal(job.reason + 253, "\303\244", 2);
	bench_job_clear(&job);
}

static void test_bad_jobs(void **state)
{
	struct bench_job none = {.deadline_ms = 1};
	struct bench_job forever = sh("echo", 0, NULL);
	struct err err = {0};

	(void)state;
	assert_int_equal(bench_run(NULL, 0, 1000, &err), 0);
	assert_int_equal(bench_run(&none, 1, 1000, &err), -EINVAL);
	assert_string_equal(err.text, "benchmark 0: no command");
	assert_int_equal(bench_run(&forever, 1, 1000, &err), -EINVAL);
	assert_string_equal(err.text, "/bin/sh: no deadline");
}

/* Twenty on one resource of which the first hangs: all have an outcome when the budget ends. */
static void test_budget_of_all(void **state)
{
	struct bench_job jobs[20];
	uint64_t took;

	(void)state;
	for (size_t i = 0; i < array_len(jobs); i++) {
		jobs[i] = sh(i ? "echo '" OK "'" : "sleep 60", 60000, &node0);
		jobs[i].name = i ? "quick" : "the one that hangs";
	}
	struct err err = {0};
	uint64_t start = now_ms();

	assert_int_equal(bench_run(jobs, array_len(jobs), 400, &err), 0);
	took = now_ms() - start;
	assert_in_range(took, 400, 400 + BENCH_GRACE_MS + 500);
	assert_int_equal(jobs[0].outcome, BENCH_TIMED_OUT);
	assert_string_equal(jobs[0].reason, "no result within 400 ms; killed");
	for (size_t i = 1; i < array_len(jobs); i++) {
		assert_int_equal(jobs[i].outcome, BENCH_NOT_RUN);
		assert_string_equal(jobs[i].reason,
				    "its turn did not come within the budget of 400 ms, most of "
				    "which went to the one that hangs; raise gate.budget, or mend "
				    "what took so long");
	}
}

/* One that needs two resources is not passed by for ever by those that need one of them. */
static void test_several_resources(void **state)
{
	char dir[] = "/tmp/railhead-test.XXXXXX";
	struct bench_job jobs[4];

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < array_len(jobs); i++) {
		jobs[i] = sh("cd \"$0\" && for f in $1; do mkdir $f || exit 1; done; sleep 0.1; "
			     "rmdir $1; echo $2 >>order; echo '" OK "'",
			     5000, NULL);
		jobs[i].argv[3] = dir;
	}
	jobs[0].resources = &node0, jobs[0].argv[4] = "node0";
	jobs[1].resources = &both, jobs[1].argv[4] = "node0 nic";
	jobs[2].resources = &nic, jobs[2].argv[4] = "nic";
	jobs[3].resources = &gpu, jobs[3].argv[4] = "gpu";
	for (size_t i = 0; i < array_len(jobs); i++)
		jobs[i].argv[5] = (const char *[]){"a", "b", "c", "d"}[i];
	run_ms(jobs, array_len(jobs));
	for (size_t i = 0; i < array_len(jobs); i++) {
		assert_int_equal(jobs[i].outcome, BENCH_MEASURED);
		bench_job_clear(&jobs[i]);
	}

	char order[64] = "", path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/order", dir);
	f = fopen(path, "re");
	assert_non_null(f);
	order[fread(order, 1, sizeof(order) - 1, f)] = '\0';
	fclose(f);
	assert_true(strchr(order, 'b') < strchr(order, 'c'));
	unlink(path);
	rmdir(dir);
}

/*
 * A child that SIGKILL does not end, as one stuck in a driver: a tracer holds it in its
 * exit event for three seconds. `self unkillable` is that child.
 */
static int be_unkillable(void)
{
	pid_t victim = getpid();
	int ready[2];
	char c;

	if (prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY) < 0 && errno != EINVAL)
		return 1;
	if (pipe(ready) < 0)
		return 1;
	if (fork() == 0) {
		setsid(); /* out of the group that is killed */
		close(1);
		close(2);
		if (ptrace(PTRACE_SEIZE, victim, 0, PTRACE_O_TRACEEXIT) < 0)
			_exit(1);
		close(ready[0]);
		close(ready[1]);
		sleep(3);
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 0)
		return 1;
	for (;;)
		pause();
}

static void test_abandoned(void **state)
{
	struct bench_job jobs[] = {
		{.argv = {"/proc/self/exe", "unkillable"}, .deadline_ms = 500, .resources = &nic},
		sh("echo '" OK "'", 5000, &nic),
	};
	uint64_t took;

	(void)state;
	took = run_ms(jobs, array_len(jobs));
	if (jobs[0].outcome != BENCH_TIMED_OUT || !strstr(jobs[0].reason, "did not end; abandoned"))
		fail_msg("%s: %s", bench_outcome_name(jobs[0].outcome), jobs[0].reason);
	assert_in_range(took, 1400, 2400);
	assert_int_equal(jobs[1].outcome, BENCH_MEASURED);
	bench_job_clear(&jobs[1]);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_children_say),
		cmocka_unit_test(test_result_is_handed_over),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_group_is_killed),
		cmocka_unit_test(test_many_at_once),
		cmocka_unit_test(test_one_resource_in_turn),
		cmocka_unit_test(test_turn_after_a_hung_one),
		cmocka_unit_test(test_long_reason_is_cut),
		cmocka_unit_test(test_bad_jobs),
		cmocka_unit_test(test_budget_of_all),
		cmocka_unit_test(test_several_resources),
		cmocka_unit_test(test_abandoned),
	};

	if (argc == 2 && streq(argv[1], "unkillable"))
		return be_unkillable();
	return cmocka_run_group_tests_name("gate_bench", tests, NULL, NULL);
}
