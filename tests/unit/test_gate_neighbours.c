/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who had the CPUs between two looks at the processes. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "gate/neighbours.h"
#include "sys/clock.h"

static void add(struct neighbours *n, pid_t pid, pid_t parent, const char *name, double seconds)
{
	struct neighbour one = {.pid = pid,
				.parent = parent,
				.ticks = (uint64_t)(seconds * (double)sysconf(_SC_CLK_TCK))};

	snprintf(one.name, sizeof(one.name), "%s", name);
	vec_push(&n->list, one);
}

static void check_text(struct neighbours *before, struct neighbours *after, const char *want)
{
	cleanup_free char *text = neighbours_text(before, after);

	if (want)
		assert_string_equal(text, want);
	else
		assert_null(text);
	neighbours_free(before);
	neighbours_free(after);
}

static void test_text(void **state)
{
	struct neighbours before = {.usec = 1000000}, after = {.usec = 3000000};

	(void)state;
	check_text(&before, &after, NULL); /* no /proc */
	add(&before, 1, 0, "systemd", 50);
	add(&before, 10, 1, "stress", 7);
	add(&before, 11, 1, "stress", 3);
	add(&after, 1, 0, "systemd", 50);
	add(&after, 10, 1, "stress", 9);
	add(&after, 11, 1, "stress", 4.6);
	add(&after, 12, 1, "dracut", 1);
	add(&after, 13, 1, "cc1", 0.6);
	add(&after, 14, 1, "sshd", 0.4);
	check_text(&before, &after, "stress (2 processes) 1.8 CPUs, dracut 0.5 CPUs, cc1 0.3 CPUs");
	add(&before, 1, 0, "systemd", 50);
	add(&after, 1, 0, "systemd", 50.08);
	check_text(&before, &after, NULL);
	after.usec = before.usec;
	add(&after, 1, 0, "systemd", 50);
	check_text(&before, &after, NULL);
}

/* A child that has ended counts for its parent: with what it had since the first look alone. */
static void test_ended(void **state)
{
	struct neighbours before = {.usec = 0}, after = {.usec = 1000000};

	(void)state;
	add(&before, 20, 1, "make", 5);
	add(&before, 21, 20, "cc1", 100);
	add(&after, 20, 1, "make", 105.5);
	add(&after, 22, 20, "cc1", 0.1);
	check_text(&before, &after, "make 0.5 CPUs, cc1 0.1 CPUs");
	add(&before, 20, 1, "make", 5); /* a number that another process has now */
	add(&after, 20, 1, "sh", 1);
	check_text(&before, &after, NULL);
}

/* What a look says of one process alone: on a busy machine three others may be the busiest. */
static uint64_t look_at(struct neighbours *n, pid_t pid)
{
	struct neighbours all;
	uint64_t ticks = 0;

	neighbours_look(&all);
	*n = (struct neighbours){.usec = all.usec};
	for (size_t i = 0; i < all.list.n; i++) {
		assert_int_not_equal(all.list.v[i].pid, getpid());
		if (all.list.v[i].pid != pid)
			continue;
		ticks = all.list.v[i].ticks;
		vec_push(&n->list, all.list.v[i]);
	}
	neighbours_free(&all);
	return ticks;
}

/* A real one, whose name is meant to confuse; and this process is none of its own neighbours. */
static void test_look(void **state)
{
	uint64_t then, tenth = (uint64_t)sysconf(_SC_CLK_TCK) / 10;
	struct neighbours before, after;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "a) R 1 (\001b");
		for (volatile int i = 0;; i++)
			;
	}
	assert_true(pid > 0);
	then = look_at(&before, pid);
	while (look_at(&after, pid) < then + tenth) {
		neighbours_free(&after);
		usleep(10000);
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	after.usec = before.usec + 1000000; /* however long the machine took to grant the tenth */

	cleanup_free char *text = neighbours_text(&before, &after);

	assert_non_null(text);
	assert_non_null(strstr(text, "a) R 1 (?b "));
	neighbours_free(&before);
	neighbours_free(&after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_ended),
		cmocka_unit_test(test_look),
	};

	return cmocka_run_group_tests_name("gate_neighbours", tests, NULL, NULL);
}
