/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * systemctl rather than the bus library: it speaks to PID 1's private socket, so it works
 * where no bus daemon runs, and it waits for jobs.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <poll.h>

#include "base/mem.h"
#include "sys/clock.h"
#include "sys/machine.h"

enum { START_DEADLINE_US = 60 * 1000000 };

extern char **environ;

static int wait_for(pid_t pid, uint64_t deadline, int *ret_status)
{
	for (;;) {
		pid_t r = waitpid(pid, ret_status, WNOHANG);

		if (r == pid)
			return 0;
		if (r < 0 && errno != EINTR)
			return -errno;
		if (clock_usec() >= deadline) {
			kill(pid, SIGKILL);
			return -ETIMEDOUT;
		}
		poll(NULL, 0, 20);
	}
}

int machine_start_unit(const char *unit, bool wait, struct err *err)
{
	const char *argv[] = {"systemctl", "start", wait ? "--job-mode=replace" : "--no-block",
			      "--",	   unit,    NULL};
	int status, r;
	pid_t pid;

	r = -posix_spawnp(&pid, argv[0], NULL, NULL, (char *const *)argv, environ);
	if (r < 0)
		return err_errno(err, r, "starting %s: systemctl", unit);
	r = wait_for(pid, clock_usec() + START_DEADLINE_US, &status);
	if (r < 0)
		return err_errno(err, r, "starting %s", unit);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return err_set(err, -EIO, "starting %s failed; see `systemctl status %s`", unit,
			       unit);
	return 0;
}
