/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides at the verdict of a boot about its trial of kernel arguments, by the items that failed
 * with the arguments and the items that failed without them.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"
#include "boot/trial.h"
#include "node/node.h"
#include "sys/root.h"

struct settled {
	enum trial_note note; /* written into railhead.env */
	bool trial;	      /* this boot was on trial */
	unsigned int reboots; /* reboots by railhead, until now; 0 if unknown */
	bool reboot;	      /* railhead must reboot the node once, into other arguments */
	struct strv failed;   /* of NOTE_UNFIT, NOTE_LOOK_BACK: the items that are the reason */
	char *lack;	      /* why the comparison was impossible; or NULL */
	char *counted;	      /* the counter that forbids the reboot, or railhead's own; or NULL */
	char *not_set_back;   /* why railhead's reboots are still counted; or NULL */
};

void settled_free(struct settled *s);
#define cleanup_settled cleanup(settled_free)

/*
 * Makes the trial of this boot good, rejects it, or writes down how an earlier trial ended
 * (boot/trial.h). profile: its digest. failed: the failed items of this boot that are compared
 * (health_add()).
 *
 * Opens the boot partition for writing only if a write is due. Keeps failed items only where a
 * later trial is compared with them, so a boot that has its arguments writes nothing. If no reboot
 * follows, the count of railhead's reboots is set back (boot/witness.h). 1: railhead.env was
 * written.
 */
int boot_settle(const struct root *root, const struct node *node, const struct kargs *wanted,
		const char *profile, const struct strv *failed, struct settled *ret,
		struct err *err);
