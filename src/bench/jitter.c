/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jitter of CPUs: a thread pinned to each CPU reads the clock in a loop and records the gaps
 * between reads. The figure is p99.99 of the wait of work that arrives at a random moment
 * (gaps_wait()), on the worst of the CPUs. cyclictest answers the same question, but each of its
 * samples includes the cost of a wake-up. The longest gap is reported and not judged, because it
 * depends on the length of the run more than on the machine.
 *
 * The threads keep the caller's policy: SCHED_OTHER unless chrt(1) set another, because most work
 * on isolated CPUs has that policy. A real-time priority would hide the kernel threads that such
 * work waits for, and would itself be stopped for 50 ms of each second (sched_rt_runtime_us) where
 * others want the CPU.
 */
#include "bench/jitter.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>

#include "base/mem.h"
#include "base/units.h"
#include "bench/disturb.h"
#include "bench/gaps.h"
#include "bench/pool.h"
#include "bench/time_over.h"

#define BUDGET_MS 500
#define SHARE 0.0001		 /* 1 - p99.99 */
#define LENGTH_LEAST_NS 1000000u /* the least --budget; a shorter run reports nothing */

struct member {
	struct gaps gaps;
	long switches; /* times that the kernel gave the CPU to another task */
};

struct spin {
	struct pool *pool;
	struct member *members;
	uint64_t length_ns;
};

static long preemptions(void)
{
	struct rusage u;

	return getrusage(RUSAGE_THREAD, &u) == 0 ? u.ru_nivcsw : 0;
}

static size_t do_spin(void *ctx, size_t who)
{
	struct spin *s = ctx;
	struct member *m = &s->members[who];
	long switches = preemptions();
	uint64_t now = clock_ns(), end = now + s->length_ns, before;

	while (now < end && !time_is_over()) {
		before = now;
		now = clock_ns();
		gaps_add(&m->gaps, now - before);
	}
	m->switches = preemptions() - switches;
	return 1;
}

/* Runs once to touch the buckets, because page faults would be counted as gaps. */
static int prepare(struct spin *s, const struct options *o, struct err *err)
{
	struct cpus cpus = {0};
	int r;

	cpus_parse(option_text(o, "cpus", ""), &cpus); /* checked by options_parse() */
	r = pool_start(&s->pool, &cpus, cpus_count(&cpus), err);
	if (r < 0)
		return r;
	if (pool_size(s->pool) < cpus_count(&cpus))
		return err_set(err, -ENODEV, "only %zu of the %zu CPUs %s are online and permitted",
			       pool_size(s->pool), cpus_count(&cpus), option_text(o, "cpus", ""));
	s->members = xcalloc(pool_size(s->pool), sizeof(*s->members));
	s->length_ns = 1000000;
	pool_once(s->pool, do_spin, s);
	memset(s->members, 0, pool_size(s->pool) * sizeof(*s->members));
	s->length_ns = option_number(o, "budget", BUDGET_MS) * 1000000u;
	return 0;
}

static size_t worst(const struct spin *s)
{
	size_t ret = 0;

	for (size_t i = 1; i < pool_size(s->pool); i++)
		if (gaps_wait(&s->members[i].gaps, SHARE) > gaps_wait(&s->members[ret].gaps, SHARE))
			ret = i;
	return ret;
}

static size_t longest(const struct spin *s)
{
	size_t ret = 0;

	for (size_t i = 1; i < pool_size(s->pool); i++)
		if (s->members[i].gaps.most > s->members[ret].gaps.most)
			ret = i;
	return ret;
}

static const char *policy_name(void)
{
	switch (sched_getscheduler(0)) {
	case SCHED_OTHER:
		return "other";
	case SCHED_FIFO:
		return "fifo";
	case SCHED_RR:
		return "rr";
	default:
		return "another";
	}
}

static json_t *known(int64_t n)
{
	return n < 0 ? json_string("unknown") : json_integer(n);
}

static void report_causes(const struct disturb *before, const struct disturb *after, int cpu,
			  json_t *line)
{
	struct source source;

	disturb_source(before, after, cpu, &source);
	json_object_set_new(line, "steal_ms", known(disturb_steal_ms(before, after, cpu)));
	json_object_set_new(line, "smi", known(disturb_smis(before, after)));
	json_object_set_new(line, "interrupts", json_integer((json_int_t)source.all));
	if (!source.name[0])
		return;
	json_object_set_new(line, "top_interrupt", json_string(source.name));
	json_object_set_new(line, "top_interrupt_count", json_integer((json_int_t)source.count));
}

static void report(const struct spin *s, const struct options *o, const struct disturb *before,
		   const struct disturb *after, json_t *line)
{
	const struct member *w = &s->members[worst(s)], *l = &s->members[longest(s)];
	int cpu = pool_cpu(s->pool, worst(s));

	json_object_set_new(line, "value", json_integer((json_int_t)gaps_wait(&w->gaps, SHARE)));
	json_object_set_new(line, "unit", json_string("ns"));
	json_object_set_new(line, "cpus", json_string(option_text(o, "cpus", "")));
	json_object_set_new(line, "cpu", json_integer(cpu));
	json_object_set_new(line, "max", json_integer((json_int_t)l->gaps.most));
	json_object_set_new(line, "max_cpu", json_integer(pool_cpu(s->pool, longest(s))));
	json_object_set_new(line, "policy", json_string(policy_name()));
	json_object_set_new(line, "switches", json_integer(w->switches));
	report_causes(before, after, cpu, line);
	json_object_set_new(line, "windows_ms", json_integer((json_int_t)(s->length_ns / 1000000)));
}

static int measure(struct spin *s, int rootfd, const struct options *o, json_t *line,
		   struct err *err)
{
	struct disturb before, after;
	int cpu = pool_cpu(s->pool, 0);
	uint64_t start;
	int r;

	disturb_look(&before, rootfd, cpu);
	start = clock_ns();
	pool_once(s->pool, do_spin, s);
	if (time_is_over())
		s->length_ns = clock_ns() - start;
	r = s->length_ns < LENGTH_LEAST_NS ? err_time_over(err, "its CPUs were watched") : 0;
	disturb_look(&after, rootfd, cpu);
	if (r == 0)
		report(s, o, &before, &after, line);
	disturb_free(&before);
	disturb_free(&after);
	return r;
}

static int run(const struct options *o, json_t *line, struct err *err)
{
	struct spin s = {0};
	cleanup_close int rootfd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = rootfd < 0 ? err_errno(err, -errno, "/") : prepare(&s, o, err);

	if (r == 0)
		r = measure(&s, rootfd, o, line, err);
	pool_stop(s.pool);
	free(s.members);
	return r;
}

const struct benchmark jitter = {
	.name = "jitter",
	.summary = "time that work waits because its CPU is taken away (p99.99)",
	.options = {{.name = "cpus",
		     .arg = "LIST",
		     .type = OPTION_CPUS,
		     .required = true,
		     .help = "CPUs to watch, such as 2-47"},
		    {.name = "budget",
		     .arg = "MS",
		     .type = OPTION_NUMBER,
		     .min = 1,
		     .max = 3600000,
		     .help = "time to watch the CPUs (500)"}},
	.run = run,
	.ordinary_priority = true,
};
