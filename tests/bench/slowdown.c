/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes memory slower by some percent, for tests of what finds it: says by how much it did, as
 * a reference of its own sees it, and keeps on until stdin ends.
 *
 *   slowdown clock PERCENT CPU[,CPU...]
 *   slowdown hog PERCENT CPU[,CPU...] [OTHER-CPU[,CPU...]]
 *
 * clock: real-time threads take short slices of those CPUs, as a modulated clock does (its duty
 * cycle; all work is slower by it). hog: threads that stream through memory, on the other CPUs
 * of the node; where they can't slow these by so much, in slices of the same CPUs.
 *
 * The reference is a plain memcpy() through 256 MiB on each of the CPUs, whose whole time
 * counts. The slices are as long as makes it slower by PERCENT.
 *
 * Prints "clock 20.3 % slices of 14 us" when it is there. Needs CAP_SYS_NICE.
 */
#include <errno.h>
#include <error.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { CPUS_MOST = 1024, PERIOD_NS = 60000, TRIALS = 20, GOOD_TRIALS = 2, PAIRS = 11 };
#define SET ((size_t)256 << 20)
#define PIECE ((size_t)1 << 20)
#define HOG_SET ((size_t)64 << 20)
#define HOG_PIECE ((size_t)16 << 10)
#define RUN_NS 40000000u

struct cpu_list {
	int cpu[CPUS_MOST];
	size_t n;
};

static struct cpu_list measured, others;
static bool stream; /* hog */
static _Atomic(uint64_t) slice_ns, generation;
static pthread_barrier_t barrier;
static double rates[CPUS_MOST];

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void wait_until(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		error(1, errno, "CPU %d", cpu);
}

static char *touched(size_t len)
{
	char *p = malloc(len);

	if (!p)
		error(1, errno, "%zu MiB", len >> 20);
	memset(p, 1, len);
	return p;
}

/* --- what slows ---------------------------------------------------------------------------- */

static void take(uint64_t until, char *p, size_t *at)
{
	while (now() < until) {
		if (!stream)
			continue;
		memcpy(p + *at, p + HOG_SET / 2 + *at, HOG_PIECE);
		*at = (*at + HOG_PIECE) % (HOG_SET / 2);
	}
}

struct hog {
	int cpu;
	uint64_t generation; /* it ends when there is a new one */
};

static void *hog_main(void *arg)
{
	struct hog *h = arg;
	struct sched_param param = {.sched_priority = 50};
	char *p = touched(HOG_SET);
	size_t at = 0;

	pin(h->cpu);
	prctl(PR_SET_TIMERSLACK, 1);
	if (sched_setscheduler(0, SCHED_FIFO, &param) < 0)
		error(1, errno, "real-time priority");
	while (h->generation == generation) {
		uint64_t start = now();

		if (slice_ns)
			take(start + slice_ns, p, &at);
		wait_until(start + PERIOD_NS);
	}
	free(p);
	free(h);
	return NULL;
}

static void start_hogs(const struct cpu_list *cpus)
{
	generation++;
	for (size_t i = 0; i < cpus->n; i++) {
		struct hog *h = malloc(sizeof(*h));
		pthread_t id;

		if (!h)
			error(1, errno, "a thread");
		*h = (struct hog){cpus->cpu[i], generation};
		if (pthread_create(&id, NULL, hog_main, h) != 0)
			error(1, 0, "a thread");
		pthread_detach(id);
	}
}

/* --- the reference ------------------------------------------------------------------------- */

static void *reference_main(void *arg)
{
	size_t who = (size_t)(uintptr_t)arg, at = 0;
	char *p = touched(SET);

	pin(measured.cpu[who]);
	for (;;) {
		pthread_barrier_wait(&barrier);
		uint64_t start = now(), end = start + RUN_NS;
		size_t pieces = 0;

		for (; now() < end; pieces++) {
			memcpy(p + at, p + SET / 2 + at, PIECE);
			at = (at + PIECE) % (SET / 2);
		}
		rates[who] = (double)pieces / (double)(now() - start);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static double rate_with(uint64_t ns)
{
	double sum = 0;

	slice_ns = ns;
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	for (size_t i = 0; i < measured.n; i++)
		sum += rates[i];
	return sum;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* In percent: the middle of many pairs of a run with it and one without, as others run too. */
static double slower_with(uint64_t ns)
{
	double slower[PAIRS];

	for (int i = 0; i < PAIRS; i++) {
		double without = rate_with(0);

		slower[i] = 100 - 100 * rate_with(ns) / without;
	}
	qsort(slower, PAIRS, sizeof(*slower), by_value);
	return slower[PAIRS / 2];
}

/*
 * Trial by trial towards the wanted percentage; the mean of the last trials, which did not
 * change the slice any more, is what is said. False: no slice is long enough.
 */
static bool tune(double percent, uint64_t most_ns, uint64_t *ret_ns, double *ret_percent)
{
	double ns = (double)most_ns * percent / 100, sum = 0;
	int good = 0;

	for (int i = 0; i < TRIALS && good < GOOD_TRIALS; i++) {
		double got = slower_with((uint64_t)ns);

		if (got > percent - 3 && got < percent + 3) {
			sum += got;
			good++;
			continue;
		}
		ns += (percent - got) / 100 * (double)most_ns / 2;
		ns = ns < 1000 ? 1000 : ns;
		sum = good = 0;
		if (ns > (double)most_ns)
			return false;
	}
	*ret_ns = (uint64_t)ns;
	*ret_percent = good ? sum / good : 0;
	return good == GOOD_TRIALS;
}

/* --- main ---------------------------------------------------------------------------------- */

/* Without the kernel's limit on real-time work the machine would be lost to it. */
static void need_rt_limit(void)
{
	FILE *f = fopen("/proc/sys/kernel/sched_rt_runtime_us", "re");
	int us;

	if (!f || fscanf(f, "%d", &us) != 1 || us < 0)
		error(1, 0, "kernel.sched_rt_runtime_us is not set: real-time work has no limit");
	fclose(f);
}

static void parse(struct cpu_list *list, char *text)
{
	char *word;

	while ((word = strsep(&text, ",")) != NULL && list->n < CPUS_MOST)
		list->cpu[list->n++] = atoi(word);
}

static void start_reference(void)
{
	pthread_barrier_init(&barrier, NULL, (unsigned int)measured.n + 1);
	for (size_t i = 0; i < measured.n; i++) {
		pthread_t id;

		if (pthread_create(&id, NULL, reference_main, (void *)(uintptr_t)i) != 0)
			error(1, 0, "a thread");
	}
}

int main(int argc, char **argv)
{
	double percent, got = 0;
	const char *where = "of the same CPUs";
	uint64_t ns = 0;
	bool there = false;
	char end;

	if (argc < 4 || argc > 5)
		error(2, 0, "usage: slowdown clock|hog PERCENT CPU[,CPU...] [OTHER-CPU[,CPU...]]");
	need_rt_limit();
	stream = strcmp(argv[1], "hog") == 0;
	percent = strtod(argv[2], NULL);
	parse(&measured, argv[3]);
	if (argc == 5)
		parse(&others, argv[4]);
	start_reference();
	if (others.n) {
		where = "of other CPUs";
		start_hogs(&others);
		there = tune(percent, PERIOD_NS, &ns, &got);
	}
	if (!there) {
		where = "of the same CPUs";
		start_hogs(&measured);
		there = tune(percent, PERIOD_NS, &ns, &got);
	}
	if (!there)
		error(1, 0, "%s: %.0f %% can't be reached", argv[1], percent);
	slice_ns = ns;
	printf("%s %.1f %% slices of %llu us %s\n", argv[1], got, (unsigned long long)(ns / 1000),
	       where);
	fflush(stdout);
	while (read(STDIN_FILENO, &end, 1) > 0)
		;
	return 0;
}
