/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded into a peer of tests/bench/gate: whatever the peer asks of the scheduler, the peer
 * keeps its ordinary policy, and is told that the request was granted. cyclictest asks for
 * SCHED_FIFO for a moment before all else, with any options (check_privs() of rt-tests), and ends
 * where it is refused.
 */
#include <sched.h>
#include <sys/types.h>

int sched_setscheduler(pid_t pid, int policy, const struct sched_param *param)
{
	(void)pid, (void)policy, (void)param;
	return 0;
}
