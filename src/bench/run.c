/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs benchmarks in a child process, and makes their lines. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/capability.h"
#include "base/mem.h"
#include "bench/benchmark.h"
#include "bench/time_over.h"

#define NICE_LEAST (-20)

static json_t *line_of(const struct benchmark *bench, const char *result, const char *reason)
{
	json_t *line = json_pack("{s:s, s:s}", "bench", bench->name, "result", result);

	if (reason)
		json_object_set_new(line, "reason", json_string(reason));
	return line;
}

json_t *benchmark_measure(const struct options *o)
{
	struct err err = {0};
	json_t *more = json_object(), *line;
	int r = o->bench->run(o, more, &err);

	if (r < 0) {
		line = line_of(o->bench,
			       r == -EAGAIN	  ? "not yet"
			       : r == -EOPNOTSUPP ? "unsupported"
						  : "cannot measure",
			       err.text);
		if (err.fault)
			json_object_set_new(line, "fault", json_string(fault_code(err.fault)));
	} else {
		line = line_of(o->bench, "measured", NULL);
		json_object_update(line, more);
	}
	json_decref(more);
	return line;
}

/* Callers print as their last act, so that a crash leaves no partial line. */
int benchmark_print(const json_t *line)
{
	int r = json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(5));

	return r < 0 || putchar('\n') < 0 || fflush(stdout) != 0 ? 1 : 0;
}

static int print_and_free(json_t *line)
{
	int r = benchmark_print(line);

	json_decref(line);
	return r;
}

/*
 * Other tasks may have the CPUs before and after a measurement, and wait for the seconds in
 * between. Nice values count within an autogroup, which belongs to a session and has a nice value
 * of its own (sched(7)); therefore this process starts a session. Without the privilege it measures
 * at ordinary priority: its line reports its share of the time.
 */
void benchmark_take_precedence(void)
{
	int fd;

	if (setsid() < 0)
		return;
	fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
	if (setpriority(PRIO_PROCESS, 0, NICE_LEAST) < 0)
		errno = 0;
	if (fd < 0) /* this kernel has no autogroups */
		return;
	if (dprintf(fd, "%d", NICE_LEAST) < 0)
		errno = 0;
	close(fd);
}

/*
 * The privileges of a program that measures: its priority, memory that it locks, devices and files
 * of any owner. Libraries of others run in this process.
 */
static void limit_capabilities(const struct benchmark *bench)
{
	uint64_t keep =
		CAPABILITY(CAP_SYS_NICE) | CAPABILITY(CAP_IPC_LOCK) | CAPABILITY(CAP_DAC_OVERRIDE);

	if (!bench || bench->gpu)
		keep |= CAPABILITY(CAP_SYS_MODULE) | CAPABILITY(CAP_MKNOD) | CAPABILITY(CAP_CHOWN) |
			CAPABILITY(CAP_FOWNER);
	keep &= capabilities_permitted();
	capabilities_bound(keep);
	capabilities_keep(keep);
}

/* The measuring child: SIGTERM is forwarded to it. */
static volatile pid_t measuring;

static void pass_on(int signal)
{
	if (measuring > 0)
		kill(measuring, signal);
}

static int judge_end(const struct benchmark *bench, int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (bench && WTERMSIG(status) == SIGBUS)
		return print_and_free(line_of(bench, "cannot measure",
					      "bus error: mapped memory is missing (another "
					      "process took the huge pages, or the memory fails)"));
	fprintf(stderr, "%s: killed by signal %d (%s)\n", bench ? bench->name : "together",
		WTERMSIG(status), strsignal(WTERMSIG(status)));
	return 1;
}

int benchmark_in_child(const struct benchmark *bench, int (*measure)(void *arg), void *arg)
{
	pid_t parent = getpid();
	struct sigaction forward = {.sa_handler = pass_on};
	sigset_t term, before;
	pid_t pid;
	int status;

	fflush(NULL);
	/* Blocks SIGTERM until the child handles it, so that no signal is lost. */
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &before);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		time_over_listen();
		sigprocmask(SIG_SETMASK, &before, NULL);
		limit_capabilities(bench);
		_exit(getppid() == parent ? measure(arg) : 1);
	}
	if (pid < 0) {
		fprintf(stderr, "railhead-bench: fork: %s\n", strerror(errno));
		return 1;
	}
	measuring = pid;
	sigaction(SIGTERM, &forward, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	return judge_end(bench, status);
}

static int measure_one(void *arg)
{
	const struct options *o = arg;

	if (!o->bench->ordinary_priority)
		benchmark_take_precedence();
	return print_and_free(benchmark_measure(o));
}

int benchmark_run(struct options *o)
{
	return benchmark_in_child(o->bench, measure_one, o);
}
