/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/crew.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "bench/stats.h"

#define LEAD_NS 200000 /* from the wake-up call to the common start: all are awake by then */
#define PIECES_LEAST 3
#define PIECES_MOST 1024
/*
 * Of a window that is its own: of all members' time together, since on many CPUs something short
 * runs on one of them always; and of each one's, which else works when the others have ended.
 */
#define OWN_LEAST 0.97
#define OWN_LEAST_EACH 0.5
/*
 * Of one whose stalls count: in a window that a stall has made long something else runs for a few
 * percent of the time easily, and without it the stall would be forgotten.
 */
#define OWN_LEAST_WHOLE 0.9

struct member {
	struct crew *crew;
	size_t who;
	int cpu;
	pthread_t thread;
	double rate, whole;		/* of the last window, as below */
	double wall_ns, own_ns;		/* of it: from its common start, and on the CPU */
	double all_wall_ns, all_own_ns; /* of all windows */
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

uint64_t clock_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t clock_ns(void)
{
	return clock_of(CLOCK_MONOTONIC);
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

static void work_window(struct member *m)
{
	struct crew *c = m->crew;
	uint64_t now, before, own;
	double amount = 0;
	size_t n = 0;

	do {
		now = clock_ns();
	} while (now < c->start_ns);
	own = clock_of(CLOCK_THREAD_CPUTIME_ID);
	while (n < PIECES_MOST && (n < PIECES_LEAST || now < c->end_ns)) {
		before = now;
		double piece = (double)c->work(c->ctx, m->who);

		now = clock_ns();
		m->pieces[n++] = piece * 1e9 / (double)(now > before ? now - before : 1);
		amount += piece;
	}
	m->own_ns = (double)(clock_of(CLOCK_THREAD_CPUTIME_ID) - own);
	m->wall_ns = (double)(now - c->start_ns);
	m->rate = stats_median(m->pieces, n);
	m->whole = amount * 1e9 / (m->own_ns > 0 ? m->own_ns : m->wall_ns);
	m->all_own_ns += m->own_ns;
	m->all_wall_ns += m->wall_ns;
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

void crew_window(struct crew *c, crew_work work, void *ctx, uint64_t window_ns, struct window *ret)
{
	double wall = 0, own = 0;
	bool each = true;

	give_order(c, work, ctx, window_ns);
	*ret = (struct window){0};
	for (size_t i = 0; i < c->n; i++) {
		const struct member *m = &c->members[i];

		ret->rate += m->rate;
		ret->whole += m->whole;
		if (m->own_ns > ret->ns)
			ret->ns = m->own_ns;
		each &= m->own_ns >= OWN_LEAST_EACH * m->wall_ns;
		wall += m->wall_ns;
		own += m->own_ns;
	}
	ret->own = each && own >= OWN_LEAST * wall;
	ret->nearly_own = each && own >= OWN_LEAST_WHOLE * wall;
}

double crew_own_pct(const struct crew *c)
{
	double wall = 0, own = 0;

	for (size_t i = 0; i < c->n; i++) {
		wall += c->members[i].all_wall_ns;
		own += c->members[i].all_own_ns;
	}
	return own < wall ? 100 * own / wall : 100;
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
