/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The runner of measuring children, with children that behave as badly as they can. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "../lib/clock.h"
#include "emulator.h"
#include "gate/bench.h"
#include "sys/clock.h"

#define HUNG "see in the kernel log why it hung, or raise the timeout of the check"
/* No test waits for so long: it is over where a test puts the clock forward. */
enum { LONG_MS = 600000 };

#define OK "{\"result\":\"measured\",\"value\":42}"

struct one {
	const char *label;
	const char *script; /* for /bin/sh -c */
	enum change_state want;
	const char *reason; /* a part of it, or NULL */
};

static const struct one children[] = {
	{"a result", "echo '" OK "'", CHANGE_SAME, NULL},
	{"a result without newline, chatter on stderr", "echo hi >&2; printf %s '" OK "'",
	 CHANGE_SAME, NULL},
	{"its own reason", "echo '{\"result\":\"cannot measure\",\"reason\":\"no free 1G page\"}'",
	 CHANGE_CANNOT_MEASURE, "no free 1G page"},
	{"no reason", "echo '{\"result\":\"cannot measure\"}'", CHANGE_FAILED, "not a result"},
	{"a word as value", "echo '{\"result\":\"measured\",\"value\":\"fast\"}'", CHANGE_FAILED,
	 "not a result"},
	{"another result", "echo '{\"result\":\"great\",\"value\":1}'", CHANGE_FAILED,
	 "not a result (output: {\"result\":\"great\""},
	{"a list", "echo '[1]'", CHANGE_FAILED, "not a result"},
	{"garbage", "echo 'Segmentation fault?'", CHANGE_FAILED,
	 "not one line of JSON (output: Segmentation fault?)"},
	{"bytes that are no text", "printf 'a\\377\\033[31m\\nb'", CHANGE_FAILED,
	 "output: a? [31m b"},
	{"two results", "echo '" OK "'; echo '" OK "'", CHANGE_FAILED, "not one line of JSON"},
	{"half a result", "printf '{\"result\":'", CHANGE_FAILED, "not one line of JSON"},
	{"a key twice", "echo '{\"result\":\"measured\",\"value\":1,\"value\":2}'", CHANGE_FAILED,
	 "not one line of JSON"},
	{"nothing", ":", CHANGE_FAILED, "no output"},
	{"a result and a failure", "echo '" OK "'; exit 3", CHANGE_FAILED, "exit status 3"},
	{"a complaint", "echo 'no such device' >&2; exit 1", CHANGE_FAILED,
	 "exit status 1 (output: no such device)"},
	{"a crash", "echo '" OK "'; kill -SEGV $$", CHANGE_FAILED, "signal 11"},
	{"64 KiB and more", "head -c 70000 /dev/zero | tr '\\0' x", CHANGE_FAILED,
	 "printed more than 64 KiB"},
	{"output without end", "yes", CHANGE_FAILED, "printed more than 64 KiB"},
	{"output without end on stderr", "yes >&2", CHANGE_FAILED, "printed more than 64 KiB"},
	{"not yet", "echo '{\"result\": \"not yet\", \"reason\": \"INIT\"}'", CHANGE_NOT_YET,
	 "INIT"},
	{"unsupported", "echo '{\"result\": \"unsupported\", \"reason\": \"no GPU\"}'",
	 CHANGE_UNSUPPORTED, "no GPU"},
	{"a child of its own that stays", "sleep 60 & echo '" OK "'", CHANGE_SAME, NULL},
	{"a daemon of its own that stays", "setsid sleep 3 & echo '" OK "'", CHANGE_SAME, NULL},
	{"closed stdout", "echo '" OK "'; exec >&- 2>&-; sleep 0.1", CHANGE_SAME, NULL},
	{"its environment", "test -z \"$RAILHEAD_TEST\" && echo '" OK "'", CHANGE_SAME, NULL},
	{"a core dump", "test \"$(ulimit -c)\" = 0 && echo '" OK "'", CHANGE_SAME, NULL},
	{"its input", "test -z \"$(cat)\" && echo '" OK "'", CHANGE_SAME, NULL},
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

static const struct privileges root = {0};

/* Runs the jobs and returns how long that took, in microseconds. */
static uint64_t run_jobs(struct bench_job *jobs, size_t n)
{
	struct err err = {0};
	uint64_t start = clock_usec();

	assert_int_equal(bench_run(jobs, n, LONG_MS, &err), 0);
	return clock_usec() - start;
}

/* --- the clock, which the children may put forward ------------------------------------ */

static char clock_file[64];

/* A file that the keepers of isolated programs see as well, for which /tmp is empty. */
static int make_seen(char *path, size_t size, const char *name)
{
	snprintf(path, size, "%s/railhead-%s-XXXXXX", geteuid() == 0 ? "/run" : "/tmp", name);
	return mkstemp(path);
}

/* In a script with_clock(): puts it forward by so many milliseconds. */
#define PASS(ms) "truncate -s +" ms " \"$0\"; "

static struct bench_job with_clock(const char *script, unsigned int deadline_ms)
{
	struct bench_job job = sh(script, deadline_ms, NULL);

	job.argv[3] = clock_file;
	return job;
}

static int start_clock(enum test_clock kind)
{
	int fd = make_seen(clock_file, sizeof(clock_file), "clock");

	if (fd < 0)
		return -1;
	close(fd);
	test_clock(kind, clock_file);
	return 0;
}

static int clock_flows(void **state)
{
	(void)state;
	return start_clock(CLOCK_FLOWS);
}

static int clock_crawls(void **state)
{
	(void)state;
	return start_clock(CLOCK_CRAWLS);
}

static int clock_stands(void **state)
{
	(void)state;
	return start_clock(CLOCK_STANDS);
}

static int end_clock(void **state)
{
	(void)state;
	test_clock(CLOCK_FLOWS, NULL);
	return unlink(clock_file);
}

static void check_one(const struct one *o, const struct bench_job *job)
{
	if (job->state != o->want || (o->reason && !strstr(job->reason, o->reason)))
		fail_msg("%s: %s: %s", o->label, state_name(job->state), job->reason);
	assert_int_equal(job->state == CHANGE_SAME, job->reason[0] == '\0');
	assert_int_equal(job->state != CHANGE_FAILED, job->result != NULL);
}

static void test_what_children_say(void **state)
{
	struct bench_job jobs[array_len(children)];

	(void)state;
	setenv("RAILHEAD_TEST", "seen", 1);
	for (size_t i = 0; i < array_len(children); i++)
		jobs[i] = sh(children[i].script, LONG_MS, NULL);
	run_jobs(jobs, array_len(jobs));
	for (size_t i = 0; i < array_len(children); i++) {
		check_one(&children[i], &jobs[i]);
		bench_job_clear(&jobs[i]);
	}
}

static void test_result_is_handed_over(void **state)
{
	struct bench_job job = sh("sleep 0.05; echo '" OK "'", LONG_MS, NULL);
	uint64_t before = clock_usec();

	(void)state;
	run_jobs(&job, 1);
	assert_in_range(job.started_us, before, clock_usec() - job.duration_us);
	assert_int_equal(json_integer_value(json_object_get(job.result, "value")), 42);
	assert_true(job.duration_us >= 50000);
	run_jobs(&job, 1); /* a job can run again, and leaks nothing (ASan) */
	assert_int_equal(job.state, CHANGE_SAME);
	bench_job_clear(&job);
	assert_null(job.result);
}

static void test_deadline(void **state)
{
	struct bench_job jobs[] = {
		sh("sleep 1000", 100, NULL),
		sh("trap '' TERM; sleep 1000 & wait; sleep 1000", 100, NULL),
		sh("kill -STOP $$", 100, NULL),
		sh("while :; do :; done", 100, NULL),
		sh("echo '" OK "'; sleep 1000", 100, NULL),
		sh("sleep 0.3; echo '" OK "'", LONG_MS, NULL), /* not held up, not hit */
	};

	(void)state;
	run_jobs(jobs, array_len(jobs));
	for (size_t i = 0; i + 1 < array_len(jobs); i++) {
		assert_int_equal(jobs[i].state, CHANGE_FAILED);
		assert_string_equal(jobs[i].reason,
				    "no result within 100 ms, so it was killed; " HUNG);
	}
	assert_int_equal(jobs[5].state, CHANGE_SAME);
	bench_job_clear(&jobs[5]);
}

/*
 * The clock stands but for what the children put it forward by, so that each moment is exact. Told
 * two seconds before the deadline, or a fifth of its time; what others print at SIGTERM is too
 * late.
 */
static void test_time_to_yield(void **state)
{
#define SAYS "say() { echo '" OK "'; exit 0; }; trap say TERM; "
#define WAIT_PAST(ms)                                                               \
	"sleep 1000 & " PASS(ms) "wait; " /* SIGTERM ends the sleep, which is there \
					   */
	static const struct {
		const char *script;
		unsigned int deadline_ms, lasts_ms;
		bool yields;
		enum change_state state;
		const char *reason;
	} t[] = {
		{SAYS WAIT_PAST("598000"), LONG_MS, 598000, true, CHANGE_SAME, ""},
		{SAYS WAIT_PAST("4800"), 6000, 4800, true, CHANGE_SAME, ""},
		{SAYS WAIT_PAST("600000"), LONG_MS, 600000, false, CHANGE_FAILED, "no result"},
		/* told, and deaf to it */
		{"trap '" PASS("100") "' TERM; " WAIT_PAST("400") "while :; do sleep 1000; done",
		 500, 500, true, CHANGE_FAILED, "no result within 500 ms, so it was killed; " HUNG},
		{"echo '" OK "'", LONG_MS, 0, true, CHANGE_SAME, ""}, /* not told */
		/* the budget's end comes first; by default SIGTERM ends it */
		{PASS("598000") "exec sleep 1000", 2 * LONG_MS, 598000, true, CHANGE_FAILED,
		 "killed by signal 15"},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		struct bench_job job = with_clock(t[i].script, t[i].deadline_ms);

		job.yields = t[i].yields;
		run_jobs(&job, 1);
		if (job.state != t[i].state || !str_starts(job.reason, t[i].reason))
			fail_msg("%zu: %s: %s", i, state_name(job.state), job.reason);
		assert_int_equal(job.duration_us, t[i].lasts_ms * 1000ull);
		bench_job_clear(&job);
	}
}

/* --- what children leave behind ------------------------------------------------------ */

/* The pid of a process with that in its command line (words end with NUL there); 0: none. */
static pid_t find_process(const char *text)
{
	cleanup_closedir DIR *proc = opendir("/proc");
	struct dirent *e;

	while ((e = readdir(proc))) {
		char path[300], line[512];
		FILE *f;
		size_t n;

		snprintf(path, sizeof(path), "/proc/%s/cmdline", e->d_name);
		f = e->d_name[0] > '9' ? NULL : fopen(path, "re");
		if (!f)
			continue;
		n = fread(line, 1, sizeof(line), f);
		fclose(f);
		if (memmem(line, n, text, strlen(text)) && atoi(e->d_name) != getpid())
			return (pid_t)atoi(e->d_name);
	}
	return 0;
}

/* A killed process is in /proc until its parent has waited for it. */
static void assert_no_process(const char *text)
{
	for (int i = 0; i < 12000 && find_process(text); i++)
		usleep(10000);
	assert_int_equal(find_process(text), 0);
}

static const struct leaver {
	const char *label, *script; /* ends as "measured"; or runs until its deadline */
	bool ends;
} leavers[] = {
	{"a child that its parent waits for", "sleep 7100.%d & wait", false},
	{"a child in the background", "sleep 7100.%d & echo '" OK "'", true},
	{"a daemon", "(setsid sleep 7100.%d >/dev/null 2>&1 &) & wait; echo '" OK "'", true},
	{"a daemon of one that hangs", "(setsid sleep 7100.%d &) & wait; sleep 1000", false},
	{"a bomb of 2^8",
	 "b() { if [ $1 -gt 0 ]; then b $(($1 - 1)) & b $(($1 - 1)) & fi; sleep 7100.%d; }; b 7",
	 false},
	{"a daemon that ignores what can be",
	 "(setsid sh -c 'trap \"\" TERM HUP INT; sleep "
	 "7100.%d' &) & wait; echo '" OK "'",
	 true},
};

static void test_nothing_stays(void **state)
{
	(void)state;
	NEEDS_SUBREAPERS();
	for (size_t i = 0; i < array_len(leavers); i++) {
		char script[256], mark[32];
		struct bench_job job;

		snprintf(script, sizeof(script), leavers[i].script, getpid());
		snprintf(mark, sizeof(mark), "7100.%d", getpid());
		job = sh(script, leavers[i].ends ? LONG_MS : 300, NULL);
		run_jobs(&job, 1);
		if (job.state != (leavers[i].ends ? CHANGE_SAME : CHANGE_FAILED))
			fail_msg("%s: %s: %s", leavers[i].label, state_name(job.state), job.reason);
		bench_job_clear(&job);
		assert_no_process(mark);
	}
}

/*
 * `self flees FILE CLOCK`: forks and leaves for ever, so that who looks finds nobody. All have the
 * lock of the file. Once it has fled often, its time is over.
 */
static _Noreturn void flee(const char *path, const char *clock)
{
	int fd = open(path, O_RDONLY);

	if (flock(fd, LOCK_SH) < 0)
		_exit(1);
	if (fork() != 0) /* this one stays */
		for (;;)
			pause();
	for (unsigned int n = 1; n < 1000000; n++) {
		if (fork() != 0)
			_exit(0);
		if (n == 100 && truncate(clock, LONG_MS / 2) < 0)
			_exit(1);
	}
	_exit(0);
}

static void test_one_that_flees(void **state)
{
	char path[64];
	struct bench_job job = {.argv = {"/proc/self/exe", "flees", path, clock_file},
				.deadline_ms = LONG_MS / 2,
				.as = &root};
	int fd;

	(void)state;
	NEEDS_SUBREAPERS();
	fd = make_seen(path, sizeof(path), "test");
	assert_true(fd >= 0);
	if (geteuid() == 0) {
		run_jobs(&job, 1);
		assert_int_equal(job.state, CHANGE_FAILED);
		assert_non_null(strstr(job.reason, "no result within 300000 ms, so it was killed"));
		assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0); /* nobody is left */
	}
	close(fd);
	unlink(path);
}

static void test_caller_dies(void **state)
{
	char script[64], mark[32];
	pid_t caller;

	(void)state;
	NEEDS_SUBREAPERS();
	snprintf(mark, sizeof(mark), "7200.%d", getpid());
	snprintf(script, sizeof(script), "sleep %s & wait", mark);
	caller = fork();
	if (caller == 0) {
		struct bench_job job = sh(script, LONG_MS, NULL);

		if (geteuid() == 0)
			job.as = &root;
		run_jobs(&job, 1);
		_exit(0);
	}
	for (int i = 0; i < 12000 && !find_process(mark); i++)
		usleep(10000);
	assert_int_not_equal(find_process(mark), 0);
	kill(caller, SIGKILL);
	waitpid(caller, NULL, 0);
	if (geteuid() == 0) /* without a namespace a shell dies, and its own child stays */
		assert_no_process(mark);
	for (pid_t left; (left = find_process(mark)) > 0;)
		kill(left, SIGKILL);
}

static void test_output_costs_no_memory(void **state)
{
	struct bench_job jobs[] = {sh("head -c 1G /dev/zero", LONG_MS, NULL),
				   sh("head -c 1G /dev/zero >&2", LONG_MS, NULL)};
	struct rusage before, after;

	(void)state;
	getrusage(RUSAGE_SELF, &before);
	run_jobs(jobs, array_len(jobs));
	getrusage(RUSAGE_SELF, &after);
	for (size_t i = 0; i < array_len(jobs); i++)
		assert_int_equal(jobs[i].state, CHANGE_FAILED);
	assert_true(after.ru_maxrss - before.ru_maxrss < 4096); /* KiB */
}

/* --- what children may do ------------------------------------------------------------ */

static void test_limits(void **state)
{
	/* Soft and hard. */
	struct bench_job job =
		sh("set -e; l() { grep \"^Max $1\" /proc/self/limits | grep -qE "
		   "\" $2 +$2 \"; }; l 'core file size' 0; l 'file size' 4294967296; "
		   "[ $(ulimit -n) -le 4096 ]; [ $(ulimit -H -n) -le 4096 ]; "
		   "[ $(cat /proc/self/oom_score_adj) = 1000 ]; echo '" OK "'",
		   LONG_MS, NULL);

	(void)state;
	run_jobs(&job, 1);
	assert_string_equal(job.reason, "");
	bench_job_clear(&job);
}

/* `self shared-memory`: a segment of 2 GiB, of which one page is used. */
static _Noreturn void use_shared_memory(void)
{
	const off_t size = 2ll << 30;
	int fd = memfd_create("segment", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, size) < 0 || pwrite(fd, "x", 1, size - 1) != 1)
		_exit(1);
	puts(OK);
	exit(0);
}

/* The limit of files lets shared memory be, and ends what fills a disk. */
static void test_file_size(void **state)
{
	struct bench_job jobs[] = {
		{.argv = {"/proc/self/exe", "shared-memory"}, .deadline_ms = LONG_MS},
		sh("exec truncate -s 5G \"$0\"", LONG_MS, NULL),
	};
	char path[] = "/tmp/railhead-test.XXXXXX";
	int fd;

	(void)state;
	NEEDS_PTRACE();
	if (geteuid() != 0) /* it may not execute itself */
		return;
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	jobs[1].argv[3] = path;
	run_jobs(jobs, array_len(jobs));
	assert_string_equal(jobs[0].reason, "");
	assert_non_null(strstr(jobs[1].reason, "(File size limit exceeded)"));
	bench_job_clear(&jobs[0]);
	unlink(path);
}

#define HAS_CAPS(set)                                              \
	"for c in Prm Eff Inh Bnd Amb; do grep -q \"Cap$c:.0*" set \
	"$\" /proc/self/status || { grep Cap /proc/self/status >&2; exit 1; }; done; "

static void run_as(const struct privileges *as, const char *script)
{
	cleanup_free char *text = xasprintf("set -e; %s echo '%s'", script, OK);
	struct bench_job job = sh(text, LONG_MS, NULL);

	job.as = as;
	run_jobs(&job, 1);
	if (job.state != CHANGE_SAME)
		fail_msg("%s: %s", script, job.reason);
	bench_job_clear(&job);
}

static const struct privileges own_user = {.own_user = true};

static void test_privileges(void **state)
{
	static const struct privileges nobody = {.uid = 65534, .gid = 65534};
	static const struct privileges raw = {.own_user = true, .capabilities = 1 << 13};
	static const struct {
		const struct privileges *as;
		const char *script;
	} want[] = {
		{&own_user, "id=$(id -u); [ $id -ge 61184 ] && [ $id -le 65519 ]; "
			    "[ \"$(id -g) $(id -G)\" = \"$id $id\" ]; " HAS_CAPS("0")},
		{&own_user, "grep -q 'NoNewPrivs:.1' /proc/self/status; "
			    "grep -qE '^Max processes +512 +512 ' /proc/self/limits; "},
		{&raw, "[ $(id -u) -ge 61184 ]; " HAS_CAPS("2000")},
		{&nobody,
		 "[ \"$(id -u) $(id -g) $(id -G)\" = '65534 65534 65534' ]; " HAS_CAPS("0")},
		{&root, "[ \"$(id -u) $(id -G)\" = '0 0' ]; " HAS_CAPS("0")},
	};

	(void)state;
	NEEDS_SUBREAPERS();
	for (size_t i = 0; geteuid() == 0 && i < array_len(want); i++)
		run_as(want[i].as, want[i].script);
}

/* A result that others could have altered is none. */
static void test_no_isolation(void **state)
{
	struct bench_job job = sh("echo '" OK "'", LONG_MS, NULL);

	(void)state;
	job.as = &own_user;
	if (geteuid() == 0)
		return;
	NEEDS_SUBREAPERS();
	run_jobs(&job, 1);
	assert_int_equal(job.state, CHANGE_CANNOT_MEASURE);
	assert_string_equal(job.reason, "not run: no namespaces, which need root with "
					"CAP_SYS_ADMIN: Operation not permitted");
	assert_null(job.result);
	assert_int_equal(job.started_us == 0, job.duration_us == 0);
	bench_job_clear(&job);
}

/* `self keyring ID`: whether its session keyring is another one. */
static _Noreturn void look_at_keyring(const char *id)
{
	if (syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0) == atol(id))
		_exit(1);
	puts(OK);
	exit(0);
}

static void test_own_keyring(void **state)
{
	char id[32];
	struct bench_job job = {
		.argv = {"/proc/self/exe", "keyring", id}, .deadline_ms = LONG_MS, .as = &root};
	long mine;

	(void)state;
	NEEDS_SUBREAPERS();
	if (geteuid() != 0) /* it may not execute itself */
		return;
	mine = syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
	if (mine < 0) { /* a kernel or a container without keys */
		assert_true(errno == ENOSYS || errno == EPERM);
		return;
	}
	snprintf(id, sizeof(id), "%ld", mine);
	run_jobs(&job, 1);
	assert_string_equal(job.reason, "");
	bench_job_clear(&job);
}

/* None ends before all have begun. */
/*
 * libcuda finds itself below /proc by its number. Our own benchmarks are in the machine's PID
 * namespace, where NVML shows them other processes; a site's program has its own, and its own
 * mounts.
 */
#define SEES_ITSELF "read -r n rest </proc/self/stat && [ \"$n\" = $$ ] && "

static void test_own_proc(void **state)
{
	char mine[256];
	struct bench_job jobs[2];

	(void)state;
	NEEDS_SUBREAPERS();
	snprintf(mine, sizeof(mine), SEES_ITSELF "[ -d /proc/%d ] && echo '" OK "'", getpid());
	jobs[0] = sh(mine, LONG_MS, NULL);
	jobs[1] = sh(SEES_ITSELF "[ $$ -lt 50 ] && echo '" OK "'", LONG_MS, NULL);
	jobs[1].as = &root;
	run_jobs(jobs, geteuid() == 0 ? 2 : 1);
	for (int i = 0; i < (geteuid() == 0 ? 2 : 1); i++) {
		if (jobs[i].state != CHANGE_SAME)
			fail_msg("%d: %s", i, jobs[i].reason);
		bench_job_clear(&jobs[i]);
	}
}

static void test_many_at_once(void **state)
{
	static const char script[] = ": >\"$0/$1\"; until [ $(ls \"$0\" | wc -l) = 40 ]; do "
				     "sleep 0.05; done; echo '" OK "'";
	char dir[] = "/tmp/railhead-test-XXXXXX";
	struct bench_job jobs[40];
	char names[40][8], *name[40];
	struct strv resources[40];

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < array_len(jobs); i++) {
		snprintf(names[i], sizeof(names[i]), "cpu%zu", i);
		name[i] = names[i];
		resources[i] = (struct strv){.v = &name[i], .n = 1};
		jobs[i] = sh(script, LONG_MS, &resources[i]);
		jobs[i].argv[3] = dir;
		jobs[i].argv[4] = name[i];
	}
	run_jobs(jobs, array_len(jobs));
	for (size_t i = 0; i < array_len(jobs); i++) {
		char path[64];

		assert_int_equal(jobs[i].state, CHANGE_SAME);
		bench_job_clear(&jobs[i]);
		snprintf(path, sizeof(path), "%s/%s", dir, name[i]);
		unlink(path);
	}
	rmdir(dir);
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
		jobs[i] = sh(script, LONG_MS, &node0);
		jobs[i].argv[3] = inside;
	}
	assert_true(run_jobs(jobs, array_len(jobs)) >= 500);
	for (size_t i = 0; i < array_len(jobs); i++) {
		assert_int_equal(jobs[i].state, CHANGE_SAME);
		bench_job_clear(&jobs[i]);
	}
	rmdir(dir);
}

static void test_turn_after_a_hung_one(void **state)
{
	struct bench_job jobs[] = {
		sh("sleep 1000", 100, &nic),
		{.argv = {"/no/such/program"}, .deadline_ms = LONG_MS, .resources = &nic},
		sh("echo '" OK "'", LONG_MS, &nic),
	};

	(void)state;
	run_jobs(jobs, array_len(jobs));
	assert_int_equal(jobs[0].state, CHANGE_FAILED);
	assert_int_equal(jobs[1].state, CHANGE_FAILED);
	assert_string_equal(jobs[1].reason, "exit status 127 (output: /no/such/program: No such "
					    "file or directory)");
	assert_int_equal(jobs[2].state, CHANGE_SAME);
	bench_job_clear(&jobs[2]);
}

static void test_long_reason_is_cut(void **state)
{
	/* 300 two-byte characters behind one byte: 256 falls inside a character. */
	struct bench_job job =
		sh("printf '{\"result\":\"cannot measure\",\"reason\":\"x'; for i in "
		   "$(seq 300); do printf '\\303\\244'; done; echo '\"}'",
		   LONG_MS, NULL);

	(void)state;
	run_jobs(&job, 1);
	assert_int_equal(job.state, CHANGE_CANNOT_MEASURE);
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
	struct err err = {0};

	(void)state;
	for (size_t i = 0; i < array_len(jobs); i++) {
		jobs[i] = i ? sh("echo '" OK "'", 2 * LONG_MS, &node0)
			    : with_clock(PASS("600000") "exec sleep 1000", 2 * LONG_MS);
		jobs[i].resources = &node0;
		jobs[i].name = i ? "quick" : "the one that hangs";
	}
	assert_int_equal(run_jobs(jobs, array_len(jobs)), LONG_MS * 1000ull);
	assert_int_equal(jobs[0].state, CHANGE_FAILED);
	assert_string_equal(jobs[0].reason, "no result within 600000 ms, when gate.budget was used "
					    "up; raise gate.budget, or leave checks out");
	assert_true(jobs[0].by_budget);
	for (size_t i = 1; i < array_len(jobs); i++) {
		assert_int_equal(jobs[i].state, CHANGE_UNKNOWN);
		assert_string_equal(jobs[i].reason,
				    "its turn did not come within the budget of 600000 ms, most of "
				    "which went to the one that hangs; raise gate.budget, or mend "
				    "the slow part");
	}
	/* less time than it might take, and not used */
	jobs[0] = sh("exit 3", 2 * LONG_MS, &node0);
	assert_int_equal(bench_run(jobs, 1, LONG_MS, &err), 0);
	assert_int_equal(jobs[0].state, CHANGE_FAILED);
	assert_false(jobs[0].by_budget);
}

/* Each shares a resource with the next: every second one at a time, which wait for each other. */
static void test_ring_in_two_rounds(void **state)
{
	enum { N = 8 };
	char dir[] = "/tmp/railhead-test.XXXXXX";
	struct bench_job jobs[N];
	struct strv links[N] = {{0}};

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < N; i++) {
		cleanup_free char *own = xasprintf("%zu", i);
		cleanup_free char *next = xasprintf("%zu", (i + 1) % N);

		strv_add(&links[i], own);
		strv_add(&links[i], next);
		jobs[i] =
			sh("cd \"$0\" && mkdir $1.$2 && until [ \"$(ls | grep -c ^$1)\" = 4 ]; do "
			   "sleep 0.01; done; echo '" OK "'",
			   LONG_MS, &links[i]);
		jobs[i].argv[3] = dir;
		jobs[i].argv[4] = i % 2 ? "odd" : "even";
		jobs[i].argv[5] = links[i].v[0];
	}
	run_jobs(jobs, N);
	for (size_t i = 0; i < N; i++) {
		assert_int_equal(jobs[i].state, CHANGE_SAME);
		bench_job_clear(&jobs[i]);
		strv_free(&links[i]);
	}

	cleanup_free char *rm = xasprintf("rm -r '%s'", dir);

	assert_int_equal(system(rm), 0);
}

/* Of one that prints many lines: those that are whole and objects, however it ends. */
static void test_many_lines(void **state)
{
	static const struct {
		const char *script;
		enum change_state state;
		size_t lines;
	} t[] = {
		{"echo '" OK "'; echo '{\"task\": 1}'", CHANGE_SAME, 2},
		{"true", CHANGE_SAME, 0},
		{"echo '" OK
		 "'; echo '[1]'; echo; echo no; echo '{\"a\": 1, \"a\": 2}'; printf '{}'",
		 CHANGE_SAME, 1},
		{"echo '" OK "'; echo it broke >&2; exit 3", CHANGE_FAILED, 1},
		{"echo '" OK "'; " PASS("600000") "exec sleep 1000", CHANGE_FAILED, 1},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		struct bench_job job = with_clock(t[i].script, LONG_MS);

		job.many = true;
		run_jobs(&job, 1);
		assert_int_equal(job.state, t[i].state);
		assert_int_equal(json_array_size(job.result), t[i].lines);
		assert_int_equal(job.reason[0] == '\0', t[i].state == CHANGE_SAME);
		bench_job_clear(&job);
	}
}

/* One that needs two resources is not passed by for ever by those that need one of them. */
static void test_several_resources(void **state)
{
	char dir[] = "/tmp/railhead-test.XXXXXX";
	struct bench_job jobs[6];

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < array_len(jobs); i++) {
		jobs[i] = sh("cd \"$0\" && for f in $1; do mkdir $f || exit 1; done; sleep 0.1; "
			     "rmdir $1; echo $2 >>order; echo '" OK "'",
			     LONG_MS, NULL);
		jobs[i].argv[3] = dir;
	}
	jobs[0].resources = &node0, jobs[0].argv[4] = "node0";
	jobs[1].resources = &both, jobs[1].argv[4] = "node0 nic";
	jobs[2].resources = &nic, jobs[2].argv[4] = "nic";
	jobs[3].resources = &gpu, jobs[3].argv[4] = "gpu";
	jobs[4].resources = &node0, jobs[4].argv[4] = "node0";
	jobs[5].resources = &nic, jobs[5].argv[4] = "nic";
	for (size_t i = 0; i < array_len(jobs); i++)
		jobs[i].argv[5] = (const char *[]){"a", "b", "c", "d", "e", "f"}[i];
	run_jobs(jobs, array_len(jobs));
	for (size_t i = 0; i < array_len(jobs); i++) {
		assert_int_equal(jobs[i].state, CHANGE_SAME);
		bench_job_clear(&jobs[i]);
	}

	char order[64] = "", path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/order", dir);
	f = fopen(path, "re");
	assert_non_null(f);
	order[fread(order, 1, sizeof(order) - 1, f)] = '\0';
	fclose(f);
	assert_true(strchr(order, 'b') < strchr(order, 'e'));
	assert_true(strchr(order, 'b') < strchr(order, 'f'));
	unlink(path);
	rmdir(dir);
}

/*
 * Two that start drivers run side by side, each waits for the other; what measures the CPUs that
 * they spin on does not run meanwhile, and what needs none of these runs at any time.
 */
static void test_start_of_drivers(void **state)
{
	static const size_t rounds[] = {0, 1, 1, 0, 2};
	char dir[] = "/tmp/railhead-test.XXXXXX";
	struct bench_job jobs[5];
	size_t got[5];

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < array_len(jobs); i++) {
		jobs[i] = sh("cd \"$0\" && mkdir cpus && sleep 0.1 && rmdir cpus && echo '" OK "'",
			     LONG_MS, &node0);
		jobs[i].argv[3] = dir;
	}
	for (size_t i = 1; i <= 2; i++) {
		jobs[i].argv[2] = "cd \"$0\" && mkdir $1 && until rmdir $2; do sleep 0.01; done "
				  "2>&-; ! [ -e cpus ] && echo '" OK "'";
		jobs[i].argv[4] = i == 1 ? "a" : "b";
		jobs[i].argv[5] = i == 1 ? "b" : "a";
		jobs[i].start_disturbs = &both;
	}
	jobs[1].resources = &gpu;   /* with figures that need no CPU ... */
	jobs[2].resources = &node0; /* ... and with such as do, once it has started */
	jobs[3].resources = NULL;
	jobs[3].argv[2] = "echo '" OK "'";
	bench_rounds(jobs, array_len(jobs), got);
	for (size_t i = 0; i < array_len(jobs); i++)
		assert_int_equal(got[i], rounds[i]);
	run_jobs(jobs, array_len(jobs));
	for (size_t i = 0; i < array_len(jobs); i++) {
		if (jobs[i].state != CHANGE_SAME)
			fail_msg("%zu: %s", i, jobs[i].reason);
		bench_job_clear(&jobs[i]);
	}
	assert_int_equal(rmdir(dir), 0);
}

/* --- one that hangs in the kernel ---------------------------------------------------- */

/*
 * A child that SIGKILL does not end, as one stuck in a driver: a tracer that is no descendant
 * of it holds it in its exit event. `self unkillable.PID` is that child.
 */
static _Noreturn void be_unkillable(void)
{
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	for (;;)
		pause();
}

static pid_t start_tracer(const char *mark)
{
	pid_t tracer = fork(), victim;

	if (tracer != 0)
		return tracer;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	do {
		usleep(1000);
		victim = find_process(mark);
	} while (!victim || ptrace(PTRACE_SEIZE, victim, 0, PTRACE_O_TRACEEXIT) < 0);
	if (truncate(clock_file, LONG_MS / 2) < 0) /* the child's time is over */
		_exit(1);
	for (;;)
		pause();
}

static void test_abandoned(void **state)
{
	char mark[32];
	struct bench_job jobs[] = {
		{.argv = {"/proc/self/exe", mark}, .deadline_ms = LONG_MS / 2, .resources = &nic},
		sh("echo '" OK "'", LONG_MS, &nic),
	};
	uint64_t took;
	pid_t tracer;
	int status;

	(void)state;
	if (geteuid() != 0) /* it may not execute itself, nor trace */
		return;
	NEEDS_PTRACE();
	snprintf(mark, sizeof(mark), "unkillable.%d", getpid());
	tracer = start_tracer(mark);
	took = run_jobs(jobs, array_len(jobs));
	kill(tracer, SIGKILL); /* now the child ends */
	assert_int_equal(waitpid(tracer, &status, 0), tracer);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL); /* it held till now */
	if (jobs[0].state != CHANGE_FAILED || !strstr(jobs[0].reason, "did not end; abandoned"))
		fail_msg("%s: %s", state_name(jobs[0].state), jobs[0].reason);
	assert_null(strstr(jobs[0].reason, "unknown"));
	assert_true(took >= (LONG_MS / 2 + BENCH_GRACE_MS) * 1000ull);
	assert_int_equal(jobs[1].state, CHANGE_SAME);
	bench_job_clear(&jobs[1]);
	assert_no_process(mark);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_what_children_say),
	cmocka_unit_test(test_result_is_handed_over),
	cmocka_unit_test_setup_teardown(test_deadline, clock_crawls, end_clock),
	cmocka_unit_test_setup_teardown(test_time_to_yield, clock_stands, end_clock),
	cmocka_unit_test(test_nothing_stays),
	cmocka_unit_test_setup_teardown(test_one_that_flees, clock_crawls, end_clock),
	cmocka_unit_test(test_caller_dies),
	cmocka_unit_test(test_output_costs_no_memory),
	cmocka_unit_test(test_limits),
	cmocka_unit_test(test_file_size),
	cmocka_unit_test(test_privileges),
	cmocka_unit_test(test_no_isolation),
	cmocka_unit_test(test_own_keyring),
	cmocka_unit_test(test_own_proc),
	cmocka_unit_test(test_many_at_once),
	cmocka_unit_test(test_one_resource_in_turn),
	cmocka_unit_test(test_turn_after_a_hung_one),
	cmocka_unit_test(test_long_reason_is_cut),
	cmocka_unit_test(test_bad_jobs),
	cmocka_unit_test_setup_teardown(test_budget_of_all, clock_stands, end_clock),
	cmocka_unit_test(test_several_resources),
	cmocka_unit_test_setup_teardown(test_many_lines, clock_stands, end_clock),
	cmocka_unit_test(test_ring_in_two_rounds),
	cmocka_unit_test(test_start_of_drivers),
	cmocka_unit_test_setup_teardown(test_abandoned, clock_flows, end_clock),
};

/* The same as a user who may not make PID namespaces: its keepers are subreapers. */
static int run_unprivileged(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (setgroups(0, NULL) < 0 || setresgid(65534, 65534, 65534) < 0 ||
		    setresuid(65534, 65534, 65534) < 0)
			_exit(1);
		prctl(PR_SET_DUMPABLE, 1); /* its own files in /proc, and the leak check */
		exit(cmocka_run_group_tests_name("gate_bench_unprivileged", tests, NULL, NULL));
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	int failed;

	if (argc == 2 && strncmp(argv[1], "unkillable", 10) == 0)
		be_unkillable();
	if (argc == 2 && streq(argv[1], "shared-memory"))
		use_shared_memory();
	if (argc == 3 && streq(argv[1], "keyring"))
		look_at_keyring(argv[2]);
	if (argc == 4 && streq(argv[1], "flees"))
		flee(argv[2], argv[3]);
	failed = cmocka_run_group_tests_name("gate_bench", tests, NULL, NULL);
	return geteuid() == 0 ? failed + run_unprivileged() : failed;
}
