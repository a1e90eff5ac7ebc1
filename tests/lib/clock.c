/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Part of the unit tests (ld's --wrap, clock.h), and a library for a whole program, whose clock is
 * as many milliseconds ahead of the machine's as FILE has bytes:
 *
 *   LD_PRELOAD=build/test/clock.so TEST_CLOCK=FILE [TEST_CLOCK_KIND=flows|crawls|stands] COMMAND...
 */
#include "clock.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef PRELOAD
#define DOOR(name) name
#define real_clock_gettime(id, ret) (int)syscall(SYS_clock_gettime, id, ret)
#define real_ppoll(fds, n, time) (int)syscall(SYS_ppoll, fds, n, time, NULL, 0)
#define real_nanosleep(wanted, left) (int)syscall(SYS_nanosleep, wanted, left)
#define real_write(fd, data, len) syscall(SYS_write, fd, data, len)
#else
#define DOOR(name) __wrap_##name
#define real_clock_gettime __real_clock_gettime
#define real_ppoll(fds, n, time) ppoll(fds, n, time, NULL)
#define real_nanosleep __real_nanosleep
#define real_write __real_write
ssize_t __real_write(int fd, const void *data, size_t len);
int __real_clock_gettime(clockid_t id, struct timespec *ret);
int __real_nanosleep(const struct timespec *wanted, struct timespec *left);
#endif

enum { MS = 1000, SLICE_MS = 5 };

int DOOR(clock_gettime)(clockid_t id, struct timespec *ret);
int DOOR(poll)(struct pollfd *fds, nfds_t n, int timeout);
int DOOR(__poll_chk)(struct pollfd *fds, nfds_t n, int timeout, size_t size);
int DOOR(nanosleep)(const struct timespec *wanted, struct timespec *left);
ssize_t DOOR(write)(int fd, const void *data, size_t len);

static enum test_clock kind;
static char *path;
static pid_t owner;
static uint64_t began, last_ahead; /* last_ahead: in the last answer */
static uint64_t *passed; /* shared with forks; NULL: the machine's clock and nothing else */
static void (*meanwhile)(void *arg);
static void *meanwhile_arg;

static uint64_t usec_of(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000 + (uint64_t)t->tv_nsec / 1000;
}

static uint64_t machine_usec(void)
{
	struct timespec now;

	(void)real_clock_gettime(CLOCK_MONOTONIC, &now);
	return usec_of(&now);
}

static uint64_t ahead(void)
{
	struct stat st;

	return __atomic_load_n(passed, __ATOMIC_SEQ_CST) +
	       (path && stat(path, &st) == 0 ? (uint64_t)st.st_size * MS : 0);
}

static uint64_t passed_by_itself(void)
{
	uint64_t real = machine_usec() - began;

	return kind == CLOCK_FLOWS ? real : kind == CLOCK_CRAWLS ? real / 10 : 0;
}

static bool leaps(void)
{
	return passed && (kind == CLOCK_LEAPS || (kind == CLOCK_LEAPS_BEHIND && getpid() != owner));
}

static void leap(uint64_t usec)
{
	if (meanwhile)
		meanwhile(meanwhile_arg);
	test_clock_pass(usec);
}

void test_clock(enum test_clock how, const char *file)
{
	if (!passed)
		passed = mmap(NULL, sizeof(*passed), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	*passed = 0;
	free(path);
	path = file ? strdup(file) : NULL;
	meanwhile = NULL;
	owner = getpid();
	began = machine_usec();
	kind = how;
}

void test_clock_pass(uint64_t usec)
{
	__atomic_fetch_add(passed, usec, __ATOMIC_SEQ_CST);
}

void test_clock_meanwhile(void (*act)(void *arg), void *arg)
{
	meanwhile = act;
	meanwhile_arg = arg;
}

ssize_t DOOR(write)(int fd, const void *data, size_t len)
{
	struct stat st;

	while (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_mode & S_ISVTX)
		pause();
	return real_write(fd, data, len);
}

int DOOR(clock_gettime)(clockid_t id, struct timespec *ret)
{
	uint64_t now;

	if (!passed || id != CLOCK_MONOTONIC)
		return real_clock_gettime(id, ret);
	last_ahead = ahead();
	now = began + passed_by_itself() + last_ahead;
	*ret = (struct timespec){(time_t)(now / 1000000), (long)(now % 1000000) * 1000};
	return 0;
}

static int poll_ms(struct pollfd *fds, nfds_t n, int ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	return real_ppoll(fds, n, ms < 0 ? NULL : &t);
}

/* Ends with the machine's time, too, or when the clock was put forward: callers look at it again.
 */
int DOOR(poll)(struct pollfd *fds, nfds_t n, int timeout)
{
	uint64_t from = machine_usec(), usec = timeout < 0 ? 0 : (uint64_t)timeout * MS;
	int r;

	if (!passed || timeout <= 0)
		return poll_ms(fds, n, timeout);
	if (leaps()) {
		r = poll_ms(fds, n, 0);
		if (r == 0)
			leap(usec);
		return r;
	}
	do {
		uint64_t left = usec + from - machine_usec();

		r = poll_ms(fds, n, left < SLICE_MS * MS ? (int)(left / MS) + 1 : SLICE_MS);
	} while (r == 0 && machine_usec() < from + usec && ahead() == last_ahead);
	return r;
}

int DOOR(__poll_chk)(struct pollfd *fds, nfds_t n, int timeout, size_t size)
{
	(void)size;
	return DOOR(poll)(fds, n, timeout);
}

int DOOR(nanosleep)(const struct timespec *wanted, struct timespec *left)
{
	if (!leaps())
		return real_nanosleep(wanted, left);
	leap(usec_of(wanted));
	return 0;
}

#ifdef PRELOAD
__attribute__((constructor)) static void start(void)
{
	static const char *const names[] = {"flows", "crawls", "stands"}; /* of enum test_clock */
	const char *file = getenv("TEST_CLOCK"), *name = getenv("TEST_CLOCK_KIND");
	unsigned int i = 0;

	if (!file)
		return;
	while (name && strcmp(name, names[i]) != 0)
		if (++i == sizeof(names) / sizeof(*names))
			abort();
	test_clock((enum test_clock)i, file);
}
#endif
