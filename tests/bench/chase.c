/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A long pointer chase, the plain way: what memory_latency is held against. One thread on one
 * CPU follows Sattolo's cycle through all lines of a buffer, lap after lap, for some seconds;
 * printed are the nanoseconds a hop of each lap, and of the best ("best NS", last line).
 *
 *   chase CPU MIB PAGE_KIB SECONDS
 */
#include <errno.h>
#include <error.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define LINE 64u

struct line {
	struct line *next;
	uint32_t number; /* while it is shuffled */
	char rest[LINE - sizeof(struct line *) - sizeof(uint32_t)];
} __attribute__((aligned(LINE)));

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	return *x ^= *x << 17;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		error(1, errno, "CPU %d", cpu);
}

static struct line *map(size_t len, long page_kib)
{
	int huge = page_kib > 4 ? MAP_HUGETLB | __builtin_ctzl((unsigned long)page_kib << 10) << 26
				: 0;
	struct line *p =
		mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | huge, -1, 0);

	if (p == MAP_FAILED)
		error(1, errno, "%zu MiB of %ld KiB pages", len >> 20, page_kib);
	if (!huge)
		madvise(p, len, MADV_NOHUGEPAGE);
	return p;
}

/* Sattolo: a random permutation that is one cycle. */
static void shuffle(struct line *lines, size_t n)
{
	uint64_t seed = 88172645463325252u;

	for (size_t i = 0; i < n; i++)
		lines[i].number = (uint32_t)i;
	for (size_t i = n - 1; i > 0; i--) {
		size_t k = next_random(&seed) % i;
		uint32_t number = lines[i].number;

		lines[i].number = lines[k].number;
		lines[k].number = number;
	}
	for (size_t i = 0; i < n; i++)
		lines[i].next = &lines[lines[i].number];
}

int main(int argc, char **argv)
{
	if (argc != 5)
		error(2, 0, "usage: chase CPU MIB PAGE_KIB SECONDS");

	size_t len = strtoul(argv[2], NULL, 10) << 20, n = len / LINE;
	double seconds = strtod(argv[4], NULL), best = 1e9, begin;

	pin(atoi(argv[1]));
	struct line *p = map(len, atol(argv[3]));

	shuffle(p, n);
	begin = now();
	do {
		double start = now(), ns;

		for (size_t i = 0; i < n; i++)
			p = p->next;
		ns = (now() - start) * 1e9 / (double)n;
		printf("lap %.2f\n", ns);
		best = ns < best ? ns : best;
	} while (now() - begin < seconds);
	printf("best %.2f\n", p ? best : 0);
	return 0;
}
