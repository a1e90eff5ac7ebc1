/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The gate's children: runs measuring programs (railhead-bench, a site's own) with
 * deadlines and collects the one JSON line that each prints.
 *
 * Jobs that share a resource run one after another, and so do a job that starts a driver and a job
 * that measures a resource which the start disturbs. All other jobs run at the same time. The given
 * order decides which job is first, and every job gets its turn.
 *
 * Every child is the leader of a session, with a clean environment, /dev/null as input and the
 * limits of spawn.h (no core dumps, files of a few GiB, few open files and processes). The OOM
 * killer picks it first, and it gets SIGKILL when the caller dies.
 *
 * A child that yields gets SIGTERM shortly before its deadline, and its output until the deadline
 * counts. Any other child gets SIGTERM at its deadline. SIGKILL follows; a child that survives it
 * (stuck in the kernel) is reported and abandoned. All descendants end with the child: background
 * processes, daemons in other sessions, fork bombs (spawn.h). So each job ends at most
 * BENCH_GRACE_MS after its deadline, and the failure of a job leaves the others unharmed. When the
 * budget is spent, running jobs are over their deadline, and waiting jobs get the state UNKNOWN and
 * a reason.
 *
 * A child prints on stdout, at most BENCH_OUTPUT_MAX bytes, and exit status 0:
 *
 *   {"bench": "memory_bandwidth", "result": "measured", "value": 1.2e10, "unit": "B/s", ...}
 *   {"bench": "memory_bandwidth", "result": "cannot measure", "reason": "no free 1G page ..."}
 *   {"bench": "rdma_loopback", "result": "not yet", "reason": "port 1 of mlx5_0 is INIT ..."}
 *   {"bench": "gpu_copy", "result": "unsupported", "reason": "libcuda.so.1 ..."}
 *
 * Anything else (another exit status, a signal, no JSON, more output) is a failure, and the
 * reason quotes the output. Stderr is kept for that reason only.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "sys/privileges.h"
#include "plan/finding.h"

#define BENCH_ARGS_MAX 40	      /* with the NULL at the end */
#define BENCH_OUTPUT_MAX (64u * 1024) /* bytes, for stdout and stderr each */
#define BENCH_YIELD_MS                                                                            \
	2000 /* from SIGTERM for a child that yields to its deadline; at most a fifth of its time \
	      */
#define BENCH_GRACE_MS 1000 /* from a deadline to the end of the job: TERM, KILL, abandon */

struct bench_job {
	/* in */
	const char *name;		  /* for sentences about others; NULL: argv[0] */
	const char *argv[BENCH_ARGS_MAX]; /* argv[0] is an absolute path; ends with NULL */
	unsigned int deadline_ms;	  /* counted from the start of this child */
	bool yields;			  /* on SIGTERM, before its deadline, it prints its line */
	bool many;			  /* it prints a line for each of several measurements */
	bool last; /* runs after every earlier job that shares a resource with it */
	const struct strv *resources; /* "node0", "0000:3b:00.0"; NULL: it disturbs no job */
	/*
	 * The resources that this job's start of a driver disturbs, because the start spins on any
	 * CPU: jobs that have one of these resources run before or after this job, unless they
	 * start a driver too. NULL: this job starts no driver.
	 */
	const struct strv *start_disturbs;
	const struct privileges *as; /* NULL: the caller's privileges */

	/* out */
	/*
	 * UNKNOWN before bench_run(); afterwards: the budget was spent before the job's turn. SAME:
	 * result holds the line, with a number "value". CANNOT_MEASURE, NOT_YET, UNSUPPORTED: the
	 * child reports so; result holds the line, reason its reason. CANNOT_MEASURE without a
	 * result: the isolation or privileges of `as` could not be made. FAILED: the child did not
	 * start, crashed, printed invalid output, or was killed (or abandoned) at its deadline.
	 */
	enum change_state state;
	json_t *result;	     /* owned; the whole line, or NULL; if many: always an array */
	char reason[256];    /* UTF-8, one line; "" iff measured */
	unsigned int mend;   /* where in reason the remedy begins; 0: it has none */
	uint64_t started_us; /* CLOCK_MONOTONIC; 0: the child did not start, or its start is unknown
			      */
	uint64_t duration_us; /* from the child's start until it ended or was abandoned */
	bool by_budget;	      /* the budget ended it before its deadline */
};

/*
 * Runs all n jobs within budget_ms and fills their out part. Returns 0 when every job has a state,
 * failures included. -EINVAL, before any child starts: a job has no argv or deadline, or the budget
 * is 0.
 * Must be called from a process without threads (it forks).
 */
int bench_run(struct bench_job *jobs, size_t n, unsigned int budget_ms, struct err *err);

/* Sets the state of a job without a result from its line; an invalid line is CHANGE_FAILED. */
void bench_job_take(struct bench_job *job, json_t *line);
/*
 * Gives each job the first round in which no earlier job disturbs it. So jobs that form a ring,
 * each sharing a resource with the next, take two rounds rather than one round each. A job that is
 * `last` gets the first round after the rounds of the jobs that it shares a resource with.
 */
void bench_rounds(const struct bench_job *jobs, size_t n, size_t *ret);

/* Drops the result; the job can be run again. */
void bench_job_clear(struct bench_job *job);
