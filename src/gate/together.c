/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gate/together.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sys/clock.h"

/* The jobs of one process. */
struct group {
	struct bench_job **jobs;
	size_t *rounds;
	size_t n, n_rounds;
	struct bench_job copy; /* the job that is run for all of them */
	struct strv resources;
	struct str text;
};

static int run_until(struct bench_job *jobs, size_t n, uint64_t end, struct err *err)
{
	uint64_t now = clock_usec();

	return n ? bench_run(jobs, n, end > now + 1000 ? (unsigned int)((end - now) / 1000) : 1,
			     err)
		 : 0;
}

/* --- one job of many --------------------------------------------------------------------- */

static void add_words(struct group *g, const struct bench_job *job)
{
	str_addf(&g->text, "%u", job->deadline_ms);
	for (size_t i = 1; job->argv[i]; i++) /* the program's name is not repeated */
		str_addf(&g->text, " %s", job->argv[i]);
}

/* A round takes as long as its longest job, which is short except in the first round. */
static unsigned int deadline_of(const struct group *g)
{
	unsigned int longest = 0;

	for (size_t i = 0; i < g->n; i++)
		if (g->jobs[i]->deadline_ms > longest)
			longest = g->jobs[i]->deadline_ms;
	return longest * (unsigned int)(g->n_rounds < 4 ? g->n_rounds : 4);
}

static void find_rounds(struct group *g)
{
	cleanup_free struct bench_job *copies = xcalloc(g->n, sizeof(*copies));

	for (size_t i = 0; i < g->n; i++)
		copies[i] = *g->jobs[i];
	bench_rounds(copies, g->n, g->rounds);
	for (size_t i = 0; i < g->n; i++)
		if (g->rounds[i] + 1 > g->n_rounds)
			g->n_rounds = g->rounds[i] + 1;
}

/* Orders the jobs by rounds: a line names its job by the number in the text. */
static void order_jobs(struct group *g)
{
	cleanup_free struct bench_job **ordered = xcalloc(g->n, sizeof(*ordered));
	size_t n = 0;

	for (size_t round = 0; round < g->n_rounds; round++)
		for (size_t i = 0, first = n; i < g->n; i++) {
			if (g->rounds[i] != round)
				continue;
			str_add(&g->text, n == 0 ? "" : n == first ? "; " : " & ");
			add_words(g, g->jobs[i]);
			ordered[n++] = g->jobs[i];
		}
	memcpy(g->jobs, ordered, n * sizeof(*ordered));
}

static void make_copy(struct group *g)
{
	find_rounds(g);
	order_jobs(g);
	for (size_t i = 0; i < g->n; i++)
		for (size_t k = 0; g->jobs[i]->resources && k < g->jobs[i]->resources->n; k++)
			if (!strv_contains(&g->resources, g->jobs[i]->resources->v[k]))
				strv_add(&g->resources, g->jobs[i]->resources->v[k]);
	g->copy = (struct bench_job){
		.name = "the checks of GPUs", /* only these checks share a process */
		.argv = {g->jobs[0]->argv[0], "together", str_get(&g->text)},
		.deadline_ms = deadline_of(g),
		.yields = true,
		.many = true,
		.resources = &g->resources,
		.start_disturbs = g->jobs[0]->start_disturbs, /* the same for all of them */
	};
}

static void group_free(struct group *g)
{
	bench_job_clear(&g->copy);
	strv_free(&g->resources);
	str_free(&g->text);
	free(g->jobs);
	free(g->rounds);
}

/* --- its lines --------------------------------------------------------------------------- */

static uint64_t number_in(const json_t *line, const char *key, uint64_t fallback)
{
	const json_t *number = json_object_get(line, key);

	return json_is_integer(number) && json_integer_value(number) >= 0
		       ? (uint64_t)json_integer_value(number)
		       : fallback;
}

/* A start outside the process's own time is ignored. */
static void take_line(const struct bench_job *process, struct bench_job *job, json_t *line)
{
	uint64_t started = number_in(line, "started_us", 0);

	if (started >= process->started_us && started - process->started_us <= process->duration_us)
		job->started_us = started;
	job->duration_us = number_in(line, "took_us", 0);
	json_object_del(line, "task");
	json_object_del(line, "started_us");
	json_object_del(line, "took_us");
	bench_job_take(job, line);
}

/* Marks in had[] the jobs that have a line. */
static void share_lines_out(struct group *g, bool *had)
{
	json_t *line;
	size_t i;

	json_array_foreach(g->copy.result, i, line)
	{
		uint64_t task = number_in(line, "task", g->n);

		if (task >= g->n || had[task])
			continue;
		had[task] = true;
		take_line(&g->copy, g->jobs[task], line);
		g->jobs[task]->by_budget = g->copy.by_budget;
	}
}

/* The process did not start, or no time is left for another try: each job fails with its reason. */
static void fail_as_all(const struct group *g, struct bench_job *job)
{
	job->state = g->copy.state == CHANGE_SAME ? CHANGE_UNKNOWN : g->copy.state;
	job->by_budget = g->copy.by_budget;
	job->mend = g->copy.mend;
	snprintf(job->reason, sizeof(job->reason), "%s",
		 g->copy.reason[0] ? g->copy.reason
				   : "its turn did not come within the budget; raise gate.budget");
}

static int run_rest(struct group *g, const bool *had, uint64_t end, struct err *err)
{
	cleanup_free struct bench_job *rest = xcalloc(g->n, sizeof(*rest));
	bool in_vain = g->copy.state == CHANGE_UNKNOWN || clock_usec() + 1000 >= end;
	size_t n = 0;
	int r;

	for (size_t i = 0; i < g->n; i++)
		if (!had[i] && in_vain)
			fail_as_all(g, g->jobs[i]);
		else if (!had[i])
			rest[n++] = *g->jobs[i];
	r = run_until(rest, n, end, err);
	n = 0;
	for (size_t i = 0; !in_vain && i < g->n; i++)
		if (!had[i])
			*g->jobs[i] = rest[n++];
	return r;
}

/* --- all jobs ---------------------------------------------------------------------------- */

/* The job of the group takes the place of its first job. */
static int run_with_group(struct bench_job *jobs, const bool *shares, size_t n, struct group *g,
			  uint64_t end, struct err *err)
{
	cleanup_free struct bench_job *list = xcalloc(n, sizeof(*list));
	cleanup_free bool *had = xcalloc(g->n, sizeof(*had));
	size_t k = 0, at = n;
	int r;

	for (size_t i = 0; i < n; i++) {
		if (!shares[i]) {
			list[k++] = jobs[i];
		} else if (at == n) {
			at = k;
			list[k++] = g->copy;
		}
	}
	r = run_until(list, k, end, err);
	g->copy = list[at];
	k = 0;
	for (size_t i = 0; i < n; i++) {
		k += k == at;
		if (!shares[i])
			jobs[i] = list[k++];
	}
	if (r < 0)
		return r;
	share_lines_out(g, had);
	return run_rest(g, had, end, err);
}

int together_run_jobs(struct bench_job *jobs, const bool *shares, size_t n, uint64_t end,
		      struct err *err)
{
	struct group g = {.jobs = xcalloc(n + 1, sizeof(*g.jobs)),
			  .rounds = xcalloc(n + 1, sizeof(*g.rounds))};
	int r;

	for (size_t i = 0; i < n; i++)
		if (shares[i])
			g.jobs[g.n++] = &jobs[i];
	if (g.n > 1) {
		make_copy(&g);
		r = run_with_group(jobs, shares, n, &g, end, err);
	} else {
		r = run_until(jobs, n, end, err);
	}
	group_free(&g);
	return r;
}
