/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The gate's children: runs measuring programs (railhead-bench, a site's own) with
 * deadlines and collects the one JSON line that each prints.
 *
 * Jobs that name a resource in common run one after another, and so do a job that starts a driver
 * and one that measures what such a start disturbs; those with nothing in common run at the same
 * time; the order given decides who is first, and nobody is passed by for ever. Every child is
 * a session of its own, gets a clean environment, /dev/null as input and the limits of spawn.h (no
 * core dumps, files of a few GiB, few of everything), is the first that goes when memory is short,
 * and gets SIGKILL when the caller dies. A child that yields gets SIGTERM shortly before its
 * deadline, and what it prints until the deadline counts. A child over its deadline gets SIGTERM,
 * unless it had that before, then SIGKILL; one that doesn't end even then (it is stuck in the
 * kernel) is reported and abandoned. All processes of the child end with the child: background
 * processes, daemons in sessions of their own, fork bombs (spawn.h). So each job ends at most
 * BENCH_GRACE_MS after its deadline, whatever the child does, and no job is lost to another's
 * failure. All of them end with the budget: a job that runs then is over its deadline, and one
 * whose turn has not come is told so.
 *
 * A child prints on stdout, at most BENCH_OUTPUT_MAX bytes, and exit status 0:
 *
 *   {"bench": "memory_bandwidth", "result": "measured", "value": 1.2e10, "unit": "B/s", ...}
 *   {"bench": "memory_bandwidth", "result": "cannot measure", "reason": "no free 1G page ..."}
 *   {"bench": "rdma_loopback", "result": "not yet", "reason": "port 1 of mlx5_0 is INIT ..."}
 *   {"bench": "gpu_copy", "result": "unsupported", "reason": "libcuda.so.1 ..."}
 *
 * Anything else (another exit status, a signal, no JSON, more output) is a failure, and the
 * reason quotes what it said. Stderr is kept for that reason only.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "sys/privileges.h"
#include "plan/change.h"

#define BENCH_ARGS_MAX 40	      /* with the NULL at the end */
#define BENCH_OUTPUT_MAX (64u * 1024) /* bytes, for stdout and stderr each */
#define BENCH_YIELD_MS \
	2000 /* before its deadline, at most a fifth of its time, one that yields is told */
#define BENCH_GRACE_MS 1000 /* from a deadline to the end of the job: TERM, KILL, abandon */

struct bench_job {
	/* in */
	const char *name;		  /* for sentences about others; NULL: argv[0] */
	const char *argv[BENCH_ARGS_MAX]; /* argv[0] is an absolute path; ends with NULL */
	unsigned int deadline_ms;	  /* counted from the start of this child */
	bool yields; /* told by SIGTERM that its time is over, it prints its line */
	bool many;   /* it prints a line for each of several measurements */
	bool last;   /* not before any job before it that shares a resource with it */
	const struct strv *resources; /* "node0", "0000:3b:00.0"; NULL: it disturbs nobody */
	/*
	 * What the start of a driver disturbs, which spins on any CPU: jobs that have one of these
	 * as a resource run before or after it, unless they start a driver as well. NULL: it starts
	 * none.
	 */
	const struct strv *start_disturbs;
	const struct privileges *as; /* NULL: those of the caller */

	/* out */
	/*
	 * UNKNOWN before bench_run(); after it: the budget was used up before. SAME: result holds
	 * the line, with a number "value". CANNOT_MEASURE, NOT_YET, UNSUPPORTED: the child says so;
	 * result holds the line, reason its reason. FAILED: not started, crashed, printed something
	 * else, or was killed (or abandoned) at its deadline.
	 */
	enum change_state state;
	json_t *result;	  /* owned; the whole line, or NULL; of many an array, however it ended */
	char reason[256]; /* UTF-8, one line; "" iff measured */
	uint64_t started_us;  /* CLOCK_MONOTONIC; 0: it did not start, or its start is not known */
	uint64_t duration_us; /* from the start of the child to its end, or to its abandoning */
	bool by_budget;	      /* the budget ended it, before its own deadline did */
};

/*
 * Runs all n jobs within budget_ms and fills their out part. Returns 0 when every job has its
 * state, be it a bad one. -EINVAL for a job without argv or deadline, or no budget (no child was
 * started then).
 * Must be called from a process without threads (it forks).
 */
int bench_run(struct bench_job *jobs, size_t n, unsigned int budget_ms, struct err *err);

/* The job, without a result so far, comes to what the line says; CHANGE_FAILED if it is none. */
void bench_job_take(struct bench_job *job, json_t *line);
/*
 * Gives each job the first round in which nothing before it disturbs it: those of a ring, of which
 * each shares one with the next, are done in two rounds, not one after another. One that is last
 * gets the first round after theirs.
 */
void bench_rounds(const struct bench_job *jobs, size_t n, size_t *ret);

/* Drops the result; the job can be run again. */
void bench_job_clear(struct bench_job *job);
