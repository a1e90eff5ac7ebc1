/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Load for tests of what measures beside it, until stdin ends, at most 5 minutes:
 *
 *   load cpu N      N processes that compute
 *   load memory N   N processes that stream through 128 MiB each
 *   load realtime PERCENT
 *                   one thread of real-time priority on the last CPU, so much of each 10 ms; at
 *                   most 80 %, and 5 s in all; needs CAP_SYS_NICE
 *
 * Prints "ready" when all run. A real-time thread that goes wrong gets SIGXCPU (RLIMIT_RTTIME).
 */
#include <errno.h>
#include <error.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS_MOST = 300, REALTIME_SECONDS = 5, REALTIME_MOST_PCT = 80, PERIOD_US = 10000 };
#define SET ((size_t)64 << 20)
#define PIECE ((size_t)1 << 20)

static void compute(void)
{
	for (volatile uint64_t x = 0;; x++)
		;
}

static void stream(void)
{
	char *p = malloc(2 * SET);

	if (!p)
		error(1, 0, "no memory");
	memset(p, 1, 2 * SET);
	for (size_t at = 0;; at = (at + PIECE) % SET)
		memcpy(p + at, p + SET + at, PIECE);
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

/* A slice is shorter than RLIMIT_RTTIME: each sleep begins that time anew. */
static void take_slices(unsigned int percent)
{
	struct rlimit most = {2 * PERIOD_US, 3 * PERIOD_US};
	struct sched_param prio = {.sched_priority = 1};
	uint64_t start, end = now_us() + REALTIME_SECONDS * 1000000u;
	cpu_set_t last;

	CPU_ZERO(&last);
	CPU_SET((int)sysconf(_SC_NPROCESSORS_ONLN) - 1, &last);
	if (percent > REALTIME_MOST_PCT)
		error(2, 0, "at most %d %%", REALTIME_MOST_PCT);
	if (sched_setaffinity(0, sizeof(last), &last) < 0 || setrlimit(RLIMIT_RTTIME, &most) < 0 ||
	    sched_setscheduler(0, SCHED_FIFO, &prio) < 0)
		error(1, errno, "real-time priority");
	while ((start = now_us()) < end) {
		while (now_us() - start < PERIOD_US * percent / 100)
			;
		usleep(PERIOD_US - PERIOD_US * percent / 100);
	}
}

static void start(const char *kind, unsigned int number)
{
	pid_t parent = getpid();

	if (fork() != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	alarm(SECONDS_MOST);
	if (strcmp(kind, "cpu") == 0)
		compute();
	else if (strcmp(kind, "memory") == 0)
		stream();
	else
		take_slices(number);
	_exit(0);
}

int main(int argc, char **argv)
{
	unsigned int number = argc == 3 ? (unsigned int)atoi(argv[2]) : 0;
	const char *kind = argc == 3 ? argv[1] : "";
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};

	if (strcmp(kind, "cpu") && strcmp(kind, "memory") && strcmp(kind, "realtime"))
		error(2, 0, "usage: load cpu|memory|realtime NUMBER");
	for (unsigned int i = 0; i < (kind[0] == 'r' ? 1 : number); i++)
		start(kind, number);
	puts("ready");
	fflush(stdout);
	poll(&in, 1, SECONDS_MOST * 1000);
	return 0;
}
