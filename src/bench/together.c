/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/together.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/units.h"
#include "base/vec.h"
#include "bench/benchmark.h"
#include "bench/pool.h"
#include "bench/cuda.h"
#include "bench/time_over.h"

#define WORDS_MOST (2 * OPTIONS_MAX + 2)
/*
 * The time before the limit at which benchmarks must end, at most a fifth of the limit, as in the
 * gate (BENCH_YIELD_MS in gate/bench.h).
 */
#define YIELD_NS 2000000000u

struct task {
	struct together *all;
	struct options options; /* its values point into the text */
	size_t number, round;
	uint64_t limit_ns;
	bool ended;
};

struct together {
	char *text;
	VEC(struct task) list;
	size_t rounds;

	pthread_mutex_t lock;
	pthread_cond_t news;
	int status; /* for main() */
};

/* --- the text ---------------------------------------------------------------------------- */

static int parse_task(struct task *t, char *text, struct err *err)
{
	char *words[WORDS_MOST + 1] = {NULL}, *word; /* ends with NULL, as those of main() */
	int n = 0;
	uint64_t ms;

	while ((word = strsep(&text, " ")) != NULL)
		if (*word && n < WORDS_MOST)
			words[n++] = word;
	if (n < 2 || n == WORDS_MOST || parse_u64(words[0], &ms) < 0 || ms == 0 || ms > UINT32_MAX)
		return err_set(err, -EINVAL, "expected MS BENCHMARK [OPTIONS] & ...; ...");
	t->limit_ns = ms * 1000000u;
	t->options.bench = benchmark_find(words[1]);
	if (!t->options.bench || !t->options.bench->gpu)
		return err_set(err, -EINVAL, "'%s' is not a benchmark that shares a process",
			       words[1]);
	return options_parse(&t->options, t->options.bench, n - 2, words + 2, err);
}

static int parse_round(struct together *t, char *text, struct err *err)
{
	char *one;

	while ((one = strsep(&text, "&")) != NULL) {
		struct task task = {.number = t->list.n, .round = t->rounds};
		int r = parse_task(&task, one, err);

		if (r < 0)
			return r;
		vec_push(&t->list, task);
	}
	t->rounds++;
	return 0;
}

int together_parse(struct together **ret, const char *text, struct err *err)
{
	struct together *t = xnew(struct together);
	pthread_condattr_t attr;
	char *rest, *round;
	int r = 0;

	t->text = rest = xstrdup(text);
	pthread_mutex_init(&t->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&t->news, &attr);
	pthread_condattr_destroy(&attr);
	while (r == 0 && (round = strsep(&rest, ";")) != NULL)
		r = parse_round(t, round, err);
	for (size_t i = 0; i < t->list.n; i++)
		t->list.v[i].all = t;
	if (r < 0)
		together_free(t);
	else
		*ret = t;
	return r;
}

void together_free(struct together *t)
{
	if (!t)
		return;
	pthread_cond_destroy(&t->news);
	pthread_mutex_destroy(&t->lock);
	vec_free(&t->list);
	free(t->text);
	free(t);
}

/* --- running ----------------------------------------------------------------------------- */

static void *task_main(void *arg)
{
	struct task *task = arg;
	struct together *t = task->all;
	uint64_t start = clock_ns();
	json_t *line = benchmark_measure(&task->options);

	json_object_set_new(line, "task", json_integer((json_int_t)task->number));
	json_object_set_new(line, "started_us", json_integer((json_int_t)(start / 1000u)));
	json_object_set_new(line, "took_us",
			    json_integer((json_int_t)((clock_ns() - start) / 1000u)));
	pthread_mutex_lock(&t->lock);
	t->status |= benchmark_print(line);
	task->ended = true;
	pthread_cond_signal(&t->news);
	pthread_mutex_unlock(&t->lock);
	json_decref(line);
	return NULL;
}

/* The running task of the round with the least time limit; NULL: none runs. */
static const struct task *next_to_end(const struct together *t, size_t round)
{
	const struct task *next = NULL;

	for (size_t i = 0; i < t->list.n; i++) {
		const struct task *task = &t->list.v[i];

		if (task->round == round && !task->ended &&
		    (!next || task->limit_ns < next->limit_ns))
			next = task;
	}
	return next;
}

static void wait_until(struct together *t, uint64_t end_ns)
{
	struct timespec end = {(time_t)(end_ns / 1000000000u), (long)(end_ns % 1000000000u)};

	pthread_cond_timedwait(&t->news, &t->lock, &end);
}

/* False: a task exceeded its limit. Shortly before the limit, benchmarks are asked to end. */
static bool wait_for_round(struct together *t, size_t round)
{
	uint64_t start = clock_ns();
	const struct task *next;

	while ((next = next_to_end(t, round)) != NULL) {
		uint64_t end = start + next->limit_ns, now = clock_ns();
		uint64_t yield =
			end - (next->limit_ns / 5 < YIELD_NS ? next->limit_ns / 5 : YIELD_NS);

		if (now >= end)
			return false;
		if (now >= yield)
			time_over_set(true);
		wait_until(t, now >= yield ? end : yield);
	}
	return true;
}

static bool run_round(struct together *t, size_t round)
{
	bool ended;

	pthread_mutex_lock(&t->lock);
	for (size_t i = 0; i < t->list.n; i++) {
		struct task *task = &t->list.v[i];
		pthread_t thread;

		if (task->round != round)
			continue;
		if (pthread_create(&thread, NULL, task_main, task) != 0)
			task->ended = true; /* without a line */
		else
			pthread_detach(thread);
	}
	ended = wait_for_round(t, round);
	pthread_mutex_unlock(&t->lock);
	return ended;
}

static int run_all(void *arg)
{
	struct together *t = arg;

	benchmark_take_precedence();
	cuda_forget_environment();
	for (size_t round = 0; round < t->rounds; round++) {
		time_over_set(false);
		if (time_is_over() || !run_round(t, round))
			break;
	}
	return t->status;
}

int together_run(struct together *t)
{
	return benchmark_in_child(NULL, run_all, t);
}
