/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One benchmark in a child of its own, and the line that comes of it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "bench/benchmark.h"
#include "bench/time_over.h"

#define NICE_LEAST (-20)

static int print_line(const struct benchmark *bench, const char *result, const char *reason,
		      json_t *more)
{
	json_t *line = json_pack("{s:s, s:s}", "bench", bench->name, "result", result);
	int r;

	if (reason)
		json_object_set_new(line, "reason", json_string(reason));
	if (more)
		json_object_update(line, more);
	r = json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(5));
	json_decref(line);
	return r < 0 || putchar('\n') < 0 || fflush(stdout) != 0 ? 1 : 0;
}

/* The line is printed whole, as the last act: a crash before it leaves no half of one. */
static int measure_and_print(const struct options *o)
{
	struct err err = {0};
	json_t *more = json_object();
	int r = o->bench->run(o, more, &err);

	if (r < 0)
		r = print_line(o->bench,
			       r == -EAGAIN	  ? "not yet"
			       : r == -EOPNOTSUPP ? "unsupported"
						  : "cannot measure",
			       err.text, NULL);
	else
		r = print_line(o->bench, "measured", NULL, more);
	json_decref(more);
	return r;
}

/*
 * Other tasks may have the CPUs before and after a measurement, and wait for the seconds in
 * between. Nice values count within an autogroup, which is a session's, and groups have nice values
 * of their own that stay (sched(7)): so this is a session of its own. Without the privilege it
 * measures all the same: its line says how much of the time was its own.
 */
static void take_precedence(void)
{
	int fd;

	if (setsid() < 0)
		return;
	fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
	if (setpriority(PRIO_PROCESS, 0, NICE_LEAST) < 0)
		errno = 0;
	if (fd < 0) /* this kernel has no such groups */
		return;
	if (dprintf(fd, "%d", NICE_LEAST) < 0)
		errno = 0;
	close(fd);
}

/* The measuring child, to which SIGTERM is passed on. */
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
	if (WTERMSIG(status) == SIGBUS)
		return print_line(bench, "cannot measure",
				  "bus error: memory that was promised is not there (huge pages "
				  "taken by another process, or failing memory)",
				  NULL);
	fprintf(stderr, "%s: killed by signal %d (%s)\n", bench->name, WTERMSIG(status),
		strsignal(WTERMSIG(status)));
	return 1;
}

int benchmark_run(const struct options *o)
{
	pid_t parent = getpid();
	struct sigaction forward = {.sa_handler = pass_on};
	sigset_t term, before;
	pid_t pid;
	int status;

	fflush(NULL);
	/* What comes before the child listens is not lost to it. */
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &before);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		time_over_listen();
		sigprocmask(SIG_SETMASK, &before, NULL);
		if (!o->bench->ordinary_priority)
			take_precedence();
		_exit(getppid() == parent ? measure_and_print(o) : 1);
	}
	if (pid < 0) {
		fprintf(stderr, "%s: fork: %s\n", o->bench->name, strerror(errno));
		return 1;
	}
	measuring = pid;
	sigaction(SIGTERM, &forward, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	return judge_end(o->bench, status);
}
