/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The second witness of railhead's reboots. What keeps a trial from being made again and again is
 * in railhead.env (boot/trial.h), and so is lost with that file: a disk or an ESP that is restored
 * before each boot, a RAID cache that loses its memory. So each reboot that railhead itself asks
 * for is counted elsewhere, too: in an EFI variable, and in a file of the root file system; the
 * larger count that can be read is the one. After REBOOTS_MAX of them without a settled verdict in
 * between railhead makes none, whatever railhead.env says.
 *
 * A verdict is settled where it came and no reboot follows; it sets the count back, and so do
 * `railhead apply --retry` and `railhead kargs --reset`. The verdict of a boot that this budget
 * held back does not: that boot has settled nothing, and the next one would begin to loop again.
 *
 * The longest series without a loop has four reboots: a first trial that dies, a second in which
 * something fails, the boot back that shows what fails without the args, and the last trial.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "sys/root.h"

enum { REBOOTS_MAX = 5 };

#define WITNESS_FILE "/etc/railhead/reboots"
#define WITNESS_VARIABLE "RailheadReboots-9ed6c038-6883-4b4d-8f41-05088c4e7023"

struct witness {
	unsigned int reboots; /* 0: none is known */
	bool of_this_boot;    /* this boot has asked for the last of them */
	/*
	 * What is wrong with what was read, or NULL. Where no copy is left that can be read,
	 * reboots is REBOOTS_MAX: no reboot in this boot, also if the count is damaged each time;
	 * and lost is set: the verdict makes the count again, so that the next boot is free.
	 */
	char *damage;
	bool lost;
};

void witness_read(const struct root *root, struct witness *ret);
void witness_free(struct witness *w);
#define cleanup_witness __attribute__((__cleanup__(witness_free)))

/* Why railhead may make no reboot, with the remedy; NULL: it may. Caller frees. */
char *witness_why_held(const struct witness *w);

/*
 * This boot is about to be ended by railhead: is on the disk, or in the firmware, once this returns
 * 0. One boot counts once. An error (the budget is spent, no place can be written) means: no
 * reboot. A root file system that is mounted read-only is made writable for the moment.
 */
int witness_count(const struct root *root, struct err *err);
/*
 * No reboot is counted. 1: some were, 0: nothing had to be written. *ret_were (may be NULL): how
 * many, 0 where that is not known.
 */
int witness_set_back(const struct root *root, unsigned int *ret_were, struct err *err);
