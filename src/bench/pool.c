/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/pool.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/quantile.h"

#define LEAD_NS 200000 /* from the wake-up call to the common start, by which all are awake */
#define PIECES_LEAST 3
#define PIECES_MOST 1024
/*
 * The least share of its time that an own window spends on its CPUs. OWN_LEAST is for all members
 * together, because on many CPUs some short task always runs on one of them. OWN_LEAST_EACH is for
 * each member, because a member that runs late works while the others have ended.
 */
#define OWN_LEAST 0.97
#define OWN_LEAST_EACH 0.5
/*
 * The same for a nearly own window, whose stalls count. In a window that a stall has lengthened,
 * other tasks easily run for a few percent of the time; without this window the stall would be
 * lost.
 */
#define OWN_LEAST_WHOLE 0.9

struct member {
	struct pool *pool;
	size_t who;
	int cpu;
	pthread_t thread;
	double rate, whole;	/* of the last window, as below */
	double wall_ns, own_ns; /* of the last window: from its common start, and on the CPU */
	double all_wall_ns, all_own_ns; /* of all windows */
	double pieces[PIECES_MOST];
};

struct pool {
	struct member *members;
	size_t n;
	pthread_barrier_t gather, done; /* members and the caller */

	/* The order, written by the caller before gather. */
	pool_work work; /* NULL: the thread ends */
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
	/* The kernel cuts the mask to the cpuset: sched_setaffinity(2). */
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
	struct pool *p = m->pool;
	uint64_t now, before, own;
	double amount = 0;
	size_t n = 0;

	do {
		now = clock_ns();
	} while (now < p->start_ns);
	own = clock_of(CLOCK_THREAD_CPUTIME_ID);
	while (n < PIECES_MOST && (n < PIECES_LEAST || now < p->end_ns)) {
		before = now;
		double piece = (double)p->work(p->ctx, m->who);

		now = clock_ns();
		m->pieces[n++] = piece * 1e9 / (double)(now > before ? now - before : 1);
		amount += piece;
	}
	m->own_ns = (double)(clock_of(CLOCK_THREAD_CPUTIME_ID) - own);
	m->wall_ns = (double)(now - p->start_ns);
	m->rate = median_of(m->pieces, n);
	m->whole = amount * 1e9 / (m->own_ns > 0 ? m->own_ns : m->wall_ns);
	m->all_own_ns += m->own_ns;
	m->all_wall_ns += m->wall_ns;
}

static void *member_main(void *arg)
{
	struct member *m = arg;
	struct pool *p = m->pool;

	pin(m->cpu);
	for (;;) {
		pthread_barrier_wait(&p->gather);
		if (!p->work)
			return NULL;
		if (p->start_ns)
			work_window(m);
		else
			p->work(p->ctx, m->who);
		pthread_barrier_wait(&p->done);
	}
}

/* Pins the caller, which sleeps during windows, to the last CPU used. */
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

int pool_start(struct pool **ret, const struct cpus *cpus, size_t most, struct err *err)
{
	struct pool *p = xnew(struct pool);
	size_t started;
	int r = 0;

	p->members = xcalloc(most, sizeof(*p->members));
	p->n = place_members(*cpus, most, p->members);
	if (p->n == 0) {
		free(p->members);
		free(p);
		return err_set(err, -ENODEV, "no requested CPU is online and permitted");
	}
	pthread_barrier_init(&p->gather, NULL, (unsigned int)p->n + 1);
	pthread_barrier_init(&p->done, NULL, (unsigned int)p->n + 1);
	for (started = 0; started < p->n && r == 0; started++) {
		struct member *m = &p->members[started];

		m->pool = p;
		m->who = started;
		r = pthread_create(&m->thread, NULL, member_main, m);
	}
	if (r) /* the started threads wait at the barrier for ever, but the process ends soon */
		return err_errno(err, -r, "start thread %zu of %zu", started, p->n);
	*ret = p;
	return 0;
}

size_t pool_size(const struct pool *p)
{
	return p->n;
}

int pool_cpu(const struct pool *p, size_t who)
{
	return p->members[who].cpu;
}

static void give_order(struct pool *p, pool_work work, void *ctx, uint64_t window_ns)
{
	p->work = work;
	p->ctx = ctx;
	p->start_ns = window_ns ? clock_ns() + LEAD_NS : 0;
	p->end_ns = p->start_ns + window_ns;
	pthread_barrier_wait(&p->gather);
	if (work)
		pthread_barrier_wait(&p->done);
}

void pool_once(struct pool *p, pool_work work, void *ctx)
{
	give_order(p, work, ctx, 0);
}

void pool_window(struct pool *p, pool_work work, void *ctx, uint64_t window_ns, struct window *ret)
{
	double wall = 0, own = 0;
	bool each = true;

	give_order(p, work, ctx, window_ns);
	*ret = (struct window){0};
	for (size_t i = 0; i < p->n; i++) {
		const struct member *m = &p->members[i];

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

double pool_own_pct(const struct pool *p)
{
	double wall = 0, own = 0;

	for (size_t i = 0; i < p->n; i++) {
		wall += p->members[i].all_wall_ns;
		own += p->members[i].all_own_ns;
	}
	return own < wall ? 100 * own / wall : 100;
}

void pool_stop(struct pool *p)
{
	if (!p)
		return;
	give_order(p, NULL, NULL, 0);
	for (size_t i = 0; i < p->n; i++)
		pthread_join(p->members[i].thread, NULL);
	pthread_barrier_destroy(&p->gather);
	pthread_barrier_destroy(&p->done);
	free(p->members);
	free(p);
}
