/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/crew.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/mem.h"
#include "bench/stats.h"

#define LEAD_NS 200000 /* from the wake-up call to the common start: all are awake by then */
#define PIECES_LEAST 3
#define PIECES_MOST 1024

struct member {
	struct crew *crew;
	size_t who;
	int cpu;
	pthread_t thread;
	double rate;
	long switches;		    /* to other tasks, in the last window */
	double busy_ns, stalled_ns; /* of all windows */
	double pieces[PIECES_MOST];
};

struct crew {
	struct member *members;
	size_t n;
	pthread_barrier_t gather, done; /* members and the caller */

	/* The order, written by the caller before gather. */
	crew_work work; /* NULL: go home */
	void *ctx;
	uint64_t start_ns; /* 0: one piece, no clock */
	uint64_t end_ns;
};

uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void sleep_ns(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

	nanosleep(&t, NULL);
}

int run_on(struct cpus *cpus)
{
	cpu_set_t *set = (cpu_set_t *)cpus->bit;

	if (sched_setaffinity(0, sizeof(cpus->bit), set) < 0)
		return -errno;
	/* The kernel has cut it to the cpuset: sched_setaffinity(2). */
	return sched_getaffinity(0, sizeof(cpus->bit), set) < 0 ? -errno : 0;
}

static void pin(int cpu)
{
	struct cpus one = {0};

	cpus_add(&one, (unsigned int)cpu);
	run_on(&one);
}

static long switches(void)
{
	struct rusage u;

	return getrusage(RUSAGE_THREAD, &u) == 0 ? u.ru_nivcsw : 0;
}

static void work_window(struct member *m)
{
	struct crew *c = m->crew;
	uint64_t now, before, first;
	long switches_before = switches();
	size_t n = 0;

	do {
		now = clock_ns();
	} while (now < c->start_ns);
	first = now;
	while (n < PIECES_MOST && (n < PIECES_LEAST || now < c->end_ns)) {
		before = now;
		double bytes = (double)c->work(c->ctx, m->who);

		now = clock_ns();
		m->pieces[n++] = bytes * 1e9 / (double)(now > before ? now - before : 1);
	}
	m->switches = switches() - switches_before;
	m->rate = stats_median(m->pieces, n);
	m->busy_ns += (double)(now - first);
	m->stalled_ns += stats_stalled(m->pieces, n) * (double)(now - first);
}

static void *member_main(void *arg)
{
	struct member *m = arg;
	struct crew *c = m->crew;

	pin(m->cpu);
	for (;;) {
		pthread_barrier_wait(&c->gather);
		if (!c->work)
			return NULL;
		if (c->start_ns)
			work_window(m);
		else
			c->work(c->ctx, m->who);
		pthread_barrier_wait(&c->done);
	}
}

/* Leaves the caller, who sleeps in windows, on the last one. */
static size_t place_members(struct cpus cpus, size_t most, struct member *members)
{
	size_t n = 0;

	if (run_on(&cpus) < 0)
		return 0;
	for (int cpu = cpus_next(&cpus, -1); cpu >= 0 && n < most; cpu = cpus_next(&cpus, cpu))
		members[n++].cpu = cpu;
	pin(members[n - 1].cpu);
	return n;
}

int crew_start(struct crew **ret, const struct cpus *cpus, size_t most, struct err *err)
{
	struct crew *c = xnew(struct crew);
	size_t started;
	int r = 0;

	c->members = xcalloc(most, sizeof(*c->members));
	c->n = place_members(*cpus, most, c->members);
	if (c->n == 0) {
		free(c->members);
		free(c);
		return err_set(err, -ENODEV, "none of these CPUs may be used");
	}
	pthread_barrier_init(&c->gather, NULL, (unsigned int)c->n + 1);
	pthread_barrier_init(&c->done, NULL, (unsigned int)c->n + 1);
	for (started = 0; started < c->n && r == 0; started++) {
		struct member *m = &c->members[started];

		m->crew = c;
		m->who = started;
		r = pthread_create(&m->thread, NULL, member_main, m);
	}
	if (r) /* those started wait at the barrier for ever: the process ends in a moment */
		return err_errno(err, -r, "start thread %zu of %zu", started, c->n);
	*ret = c;
	return 0;
}

size_t crew_size(const struct crew *c)
{
	return c->n;
}

int crew_cpu(const struct crew *c, size_t who)
{
	return c->members[who].cpu;
}

static void give_order(struct crew *c, crew_work work, void *ctx, uint64_t window_ns)
{
	c->work = work;
	c->ctx = ctx;
	c->start_ns = window_ns ? clock_ns() + LEAD_NS : 0;
	c->end_ns = c->start_ns + window_ns;
	pthread_barrier_wait(&c->gather);
	if (work)
		pthread_barrier_wait(&c->done);
}

void crew_once(struct crew *c, crew_work work, void *ctx)
{
	give_order(c, work, ctx, 0);
}

double crew_window(struct crew *c, crew_work work, void *ctx, uint64_t window_ns)
{
	double sum = 0;

	give_order(c, work, ctx, window_ns);
	for (size_t i = 0; i < c->n; i++)
		sum += c->members[i].rate;
	return sum;
}

bool crew_disturbed(const struct crew *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->members[i].switches > 0)
			return true;
	return false;
}

double crew_stalled_pct(const struct crew *c)
{
	double busy = 0, stalled = 0;

	for (size_t i = 0; i < c->n; i++) {
		busy += c->members[i].busy_ns;
		stalled += c->members[i].stalled_ns;
	}
	return busy > 0 ? 100 * stalled / busy : 0;
}

void crew_stop(struct crew *c)
{
	if (!c)
		return;
	give_order(c, NULL, NULL, 0);
	for (size_t i = 0; i < c->n; i++)
		pthread_join(c->members[i].thread, NULL);
	pthread_barrier_destroy(&c->gather);
	pthread_barrier_destroy(&c->done);
	free(c->members);
	free(c);
}
