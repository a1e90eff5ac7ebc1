/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits for devices: how often they look, and when they end, by a clock that their own waits move.
 */
#include <linux/netlink.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/clock.h"
#include "sys/clock.h"
#include "sys/uevent.h"

enum { MS = 1000 };

struct look {
	int n;		/* looks so far */
	int enough;	/* ready at this look; 0: never */
	uint64_t takes; /* microseconds */
};

static bool is_ready(void *arg)
{
	struct look *look = arg;

	test_clock_pass(look->takes);
	return ++look->n == look->enough;
}

static int setup(void **state)
{
	(void)state;
	test_clock(CLOCK_LEAPS, NULL);
	return 0;
}

static void test_ready(void **state)
{
	struct look now = {.enough = 1}, later = {.enough = 4};

	(void)state;
	assert_true(uevent_wait(is_ready, &now, 0));
	assert_int_equal(now.n, 1);
	assert_true(uevent_wait(is_ready, &later, clock_usec() + 60000 * MS));
	assert_int_equal(later.n, 4);
}

/* The last look is at the deadline. */
static void test_deadline(void **state)
{
	struct look over = {0}, soon = {0};
	uint64_t deadline = clock_usec() + 30 * MS;

	(void)state;
	assert_false(uevent_wait(is_ready, &over, 0));
	assert_int_equal(over.n, 2);
	assert_false(uevent_wait(is_ready, &soon, deadline));
	assert_int_equal(clock_usec(), deadline);
	assert_true(soon.n > 2);
}

/* Without the rest after a look there would be eight. */
static void test_slow_look(void **state)
{
	struct look slow = {.takes = 40 * MS};

	(void)state;
	assert_false(uevent_wait(is_ready, &slow, clock_usec() + 500 * MS));
	assert_in_range(slow.n, 2, 5);
}

/* Each look causes an event as udev sends them, so that the next look might follow at once. */
static bool causes_event(void *arg)
{
	struct sockaddr_nl to = {.nl_family = AF_NETLINK, .nl_groups = 2};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);

	if (fd < 0 || sendto(fd, "libudev", 8, 0, (struct sockaddr *)&to, sizeof(to)) < 0)
		_exit(2);
	close(fd);
	return is_ready(arg);
}

static void look_at_events(void)
{
	struct look look = {.takes = MS / 5};

	if (unshare(CLONE_NEWNET) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		_exit(77);
	uevent_wait(causes_event, &look, clock_usec() + 500 * MS);
	_exit(look.n < 20 || look.n > 100);
}

/* Without the rest after a look there would be 500. */
static void test_many_events(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	if (pid == 0)
		look_at_events();
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip(); /* neither root nor user namespaces: the build of a package */
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_ready, setup),
		cmocka_unit_test_setup(test_deadline, setup),
		cmocka_unit_test_setup(test_slow_look, setup),
		cmocka_unit_test_setup(test_many_events, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
