/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The profile's benchmarks as jobs of the bench program, and what their numbers mean. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "gate/gate.h"

enum { DEFAULT_BUDGET_S = 60 };

static const char *const outcome_names[] = {
	[OUTCOME_PASS] = "pass",
	[OUTCOME_SLOW] = "slow",
	[OUTCOME_BROKEN] = "broken",
	[OUTCOME_CANNOT_MEASURE] = "cannot measure",
	[OUTCOME_NOT_YET] = "not yet",
};

const char *outcome_name(enum outcome o)
{
	return outcome_names[o];
}

/* A job and the measurement that it becomes. */
struct item {
	struct measurement m;
	uint64_t min; /* bytes per second */
	unsigned int deadline_ms;
	char *node;
	char *resource;
};

struct items {
	VEC(struct item) list;
};

static enum on_fail on_fail_of(const struct ynode *check)
{
	const char *word = ynode_text(check, "on_fail", "block");

	for (enum on_fail f = ON_FAIL_BLOCK; f <= ON_FAIL_WARN; f++)
		if (streq(on_fail_name(f), word))
			return f;
	return ON_FAIL_BLOCK;
}

/* A check's own limit, or the whole budget of the gate. */
static unsigned int duration_ms(const struct ynode *map, const char *key, unsigned int fallback)
{
	const char *text = ynode_text(map, key, NULL);
	uint64_t usec;

	return text && parse_duration(text, &usec) == 0 ? (unsigned int)(usec / 1000) : fallback;
}

static void want_memory(const struct node *node, const char *name, const struct ynode *check,
			struct items *ret)
{
	const char *min = ynode_text(check, "min", "0GB/s");
	const struct cpus *nodes = &node->nodes_with_cpu;

	for (int n = cpus_next(nodes, -1); n >= 0; n = cpus_next(nodes, n)) {
		struct item item = {
			.m = {.id = xasprintf("gate/%s/node%d", name, n),
			      .origin = check->at,
			      .on_fail = on_fail_of(check),
			      .wanted = xstrdup(min)},
			.node = xasprintf("%d", n),
			.resource = xasprintf("node%d", n),
			.deadline_ms = duration_ms(check, "timeout", 0),
		};

		parse_rate(min, &item.min);
		vec_push(&ret->list, item);
	}
}

static const struct {
	const char *run;
	void (*want)(const struct node *node, const char *name, const struct ynode *check,
		     struct items *ret);
} benchmarks[] = {
	{"memory_bandwidth", want_memory},
};

static void collect(const struct profile *profile, const struct node *node, struct items *ret)
{
	const struct ynode *checks = ynode_get(profile_section(profile, "gate"), "checks");

	for (size_t i = 0; checks && i < checks->keys.n; i++) {
		const char *run = ynode_text(checks->items.v[i], "run", "");

		for (size_t j = 0; j < array_len(benchmarks); j++)
			if (streq(benchmarks[j].run, run))
				benchmarks[j].want(node, checks->keys.v[i]->text,
						   checks->items.v[i], ret);
	}
}

/* Measured on the largest pages that the profile gives a node: what the work will use. */
static const char *page_size(const struct profile *profile)
{
	const struct ynode *pages = profile_section(profile, "hugepages");

	for (size_t i = 0; pages && i < pages->items.n; i++)
		if (streq(ynode_text(pages->items.v[i], "size", ""), "1G"))
			return "1G";
	return pages && pages->items.n ? "2M" : "4K";
}

static char *format_rate(double bytes_per_s)
{
	return bytes_per_s >= 1e9 ? xasprintf("%.1f GB/s", bytes_per_s / 1e9)
				  : xasprintf("%.1f MB/s", bytes_per_s / 1e6);
}

static void judge(struct item *item, struct bench_job *job)
{
	struct measurement *m = &item->m;
	double value = json_number_value(json_object_get(job->result, "value"));

	m->duration = job->duration_us;
	m->detail = job->result ? json_incref(job->result) : NULL;
	switch (job->outcome) {
	case BENCH_MEASURED:
		m->measured = format_rate(value);
		if (value >= (double)item->min) {
			m->outcome = OUTCOME_PASS;
			return;
		}
		m->outcome = OUTCOME_SLOW;
		m->reason = xasprintf("memory_bandwidth of node %s: measured %s, wanted at least "
				      "%s; check the DIMM population, the memory speed and the "
				      "power profile in the BIOS",
				      item->node, m->measured, m->wanted);
		return;
	case BENCH_NOT_YET:
		m->outcome = OUTCOME_NOT_YET;
		break;
	case BENCH_CANNOT_MEASURE:
	case BENCH_UNSUPPORTED:
		m->outcome = OUTCOME_CANNOT_MEASURE;
		break;
	case BENCH_NOT_RUN:
	case BENCH_TIMED_OUT:
	case BENCH_BROKEN:
		m->outcome = OUTCOME_BROKEN;
		break;
	}
	m->reason = xasprintf("memory_bandwidth of node %s: %s", item->node, job->reason);
}

int gate_measure(const struct profile *profile, const struct node *node, struct measurements *ret,
		 struct err *err)
{
	struct bench_job *jobs cleanup_free = NULL;
	struct items items = {0};
	const char *page = page_size(profile);
	unsigned int budget =
		duration_ms(profile_section(profile, "gate"), "budget", DEFAULT_BUDGET_S * 1000);
	int r = 0;

	collect(profile, node, &items);
	jobs = xcalloc(items.list.n, sizeof(*jobs));
	for (size_t i = 0; i < items.list.n; i++) {
		struct item *item = &items.list.v[i];
		const char *argv[] = {
			BENCH_PATH, "memory_bandwidth", "--node", item->node, "--page", page, NULL};

		memcpy(jobs[i].argv, argv, sizeof(argv));
		jobs[i].deadline_ms = item->deadline_ms && item->deadline_ms < budget
					      ? item->deadline_ms
					      : budget;
		jobs[i].resources[0] = item->resource;
		jobs[i].name = item->m.id;
	}
	if (items.list.n)
		r = bench_run(jobs, items.list.n, budget, err);
	for (size_t i = 0; i < items.list.n; i++) {
		judge(&items.list.v[i], &jobs[i]);
		vec_push(&ret->list, items.list.v[i].m);
		bench_job_clear(&jobs[i]);
		free(items.list.v[i].node);
		free(items.list.v[i].resource);
	}
	vec_free(&items.list);
	return r;
}

void measurements_free(struct measurements *m)
{
	for (size_t i = 0; i < m->list.n; i++) {
		struct measurement *one = &m->list.v[i];

		free(one->id);
		free(one->measured);
		free(one->wanted);
		free(one->reason);
		json_decref(one->detail);
	}
	vec_free(&m->list);
}
