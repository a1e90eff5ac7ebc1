/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The four kernels that STREAM (McCalpin) defines, as its run rules say: double arrays, each of
 * MIB bytes (at least 4 x the last-level cache), all kernels ten times in turn, the best time
 * of each but its first; bytes are counted as the kernel's own loads and stores, so that what
 * an ordinary store reads before it writes is not counted. One pinned thread for each CPU, the
 * loops as the compiler makes them.
 *
 *   stream_kernels CPU[,CPU...] MIB [PAGE_KIB]
 *
 * Prints "copy|scale|add|triad RATE" in bytes/s, and "touch_ms N".
 */
#include <errno.h>
#include <error.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { COPY, SCALE, ADD, TRIAD, KERNELS, TIMES = 10, CPUS_MOST = 1024 };

static const char *const names[KERNELS] = {"copy", "scale", "add", "triad"};
static const int arrays_moved[KERNELS] = {2, 2, 3, 3};

static double *a, *b, *c;
static size_t n; /* elements of an array */
static int cpus[CPUS_MOST];
static size_t threads;
static pthread_barrier_t barrier;
static double best[KERNELS];
static double touch_s;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void kernel(int k, size_t from, size_t to)
{
	double *restrict x = a, *restrict y = b, *restrict z = c;
	const double q = 3;

	switch (k) {
	case COPY:
		for (size_t i = from; i < to; i++)
			z[i] = x[i];
		break;
	case SCALE:
		for (size_t i = from; i < to; i++)
			y[i] = q * z[i];
		break;
	case ADD:
		for (size_t i = from; i < to; i++)
			z[i] = x[i] + y[i];
		break;
	case TRIAD:
		for (size_t i = from; i < to; i++)
			x[i] = y[i] + q * z[i];
		break;
	}
	/* The arrays are read and written by other kernels: nothing may be left out. */
	__asm__ volatile("" : : "r"(x), "r"(y), "r"(z) : "memory");
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		error(1, errno, "CPU %d", cpu);
}

static void *work(void *arg)
{
	size_t who = (size_t)(uintptr_t)arg;
	size_t from = n * who / threads, to = n * (who + 1) / threads;
	double start = now();

	pin(cpus[who]);
	for (size_t i = from; i < to; i++) {
		a[i] = 1;
		b[i] = 2;
		c[i] = 0;
	}
	pthread_barrier_wait(&barrier);
	if (who == 0)
		touch_s = now() - start;
	for (int time = 0; time < TIMES; time++)
		for (int k = 0; k < KERNELS; k++) {
			/* Before all begin, as STREAM has it: thread 0 may be the last to go on. */
			start = now();
			pthread_barrier_wait(&barrier);
			kernel(k, from, to);
			pthread_barrier_wait(&barrier);
			if (who == 0 && time > 0 && (best[k] == 0 || now() - start < best[k]))
				best[k] = now() - start;
		}
	return NULL;
}

static double *map(size_t len, long page_kib)
{
	int huge = page_kib > 4 ? MAP_HUGETLB | __builtin_ctzl((unsigned long)page_kib << 10) << 26
				: 0;
	void *p =
		mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | huge, -1, 0);

	if (p == MAP_FAILED)
		error(1, errno, "%zu MiB of %ld KiB pages", len >> 20, page_kib);
	return p;
}

int main(int argc, char **argv)
{
	pthread_t ids[CPUS_MOST];
	char *list = argc > 1 ? argv[1] : NULL, *word;
	long page_kib = argc > 3 ? atol(argv[3]) : 4;
	size_t len;

	if (argc < 3 || argc > 4)
		error(2, 0, "usage: stream_kernels CPU[,CPU...] MIB [PAGE_KIB]");
	while ((word = strsep(&list, ",")) != NULL && threads < CPUS_MOST)
		cpus[threads++] = atoi(word);
	len = strtoul(argv[2], NULL, 10) << 20;
	n = len / sizeof(double);
	/* One mapping: three arrays that each end in a page of 1G would take a page more each. */
	a = map(3 * len, page_kib);
	b = a + n;
	c = b + n;
	pthread_barrier_init(&barrier, NULL, (unsigned int)threads);
	for (size_t i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, work, (void *)(uintptr_t)i) != 0)
			error(1, 0, "thread %zu", i);
	for (size_t i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	for (int k = 0; k < KERNELS; k++)
		printf("%s %.0f\n", names[k], (double)arrays_moved[k] * (double)len / best[k]);
	printf("touch_ms %.0f\n", touch_s * 1e3);
	return 0;
}
