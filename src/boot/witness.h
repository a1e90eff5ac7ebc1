/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The second witness of railhead's reboots. railhead.env has the facts that keep a trial from being
 * repeated (boot/trial.h), and can be lost: a disk or an ESP is restored before each boot, or a
 * RAID cache loses its memory. So each reboot by railhead is also counted in an EFI variable, and
 * in a file of the root file system; the larger count that can be read is used. After REBOOTS_MAX
 * reboots without a settled verdict in between railhead makes no reboot, even if railhead.env
 * allows it.
 *
 * A verdict is settled if no reboot follows it. A settled verdict sets the count back, and so do
 * `railhead apply --retry` and `railhead kargs --reset`. The verdict of a boot that this budget
 * held back does not, because that boot has settled nothing, and the next boot would begin to loop
 * again.
 *
 * The longest series without a loop has four reboots: a first trial that dies, a second in which an
 * item fails, the boot back that shows which items fail without the args, and the last trial.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "sys/root.h"

enum { REBOOTS_MAX = 5 };

#define WITNESS_FILE "/etc/railhead/reboots"
#define WITNESS_VARIABLE "RailheadReboots-9ed6c038-6883-4b4d-8f41-05088c4e7023"

struct witness {
	unsigned int reboots; /* 0: no known reboots */
	bool of_this_boot;    /* this boot has already requested the last of them */
	/*
	 * The damage of the copies, or NULL. If no copy can be read, reboots is REBOOTS_MAX, so
	 * that this boot makes no reboot, even if the count is damaged each time. Then lost is set:
	 * the verdict makes the count again, so that the next boot may reboot.
	 */
	char *damage;
	bool lost;
};

void witness_read(const struct root *root, struct witness *ret);
void witness_free(struct witness *w);
#define cleanup_witness __attribute__((__cleanup__(witness_free)))

/* Why railhead may not reboot, with the remedy; NULL: it may. Caller frees. */
char *witness_why_held(const struct witness *w);

/*
 * Counts that railhead is about to end this boot; the count is on the disk, or in the firmware,
 * once this returns 0. One boot counts once. An error (the budget is spent, no place can be
 * written) forbids the reboot. A root file system that is mounted read-only is made writable for
 * the moment.
 */
int witness_count(const struct root *root, struct err *err);
/*
 * Sets the count of reboots back to 0. 1: there were some; 0: nothing had to be written. *ret_were
 * (may be NULL): the earlier count, 0 if unknown.
 */
int witness_set_back(const struct root *root, unsigned int *ret_were, struct err *err);
