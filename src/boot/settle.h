/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * At the verdict of a boot: what becomes of its trial of kernel arguments, by what failed with them
 * and what failed without them.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"
#include "boot/trial.h"
#include "node/node.h"
#include "sys/root.h"

struct settled {
	enum trial_note note; /* what is written down in railhead.env */
	bool trial;	      /* this boot was on trial */
	unsigned int reboots; /* railhead's, until now; 0 where that is not known */
	bool reboot;	      /* the node is to go into other arguments, once, by itself */
	struct strv failed;   /* of NOTE_UNFIT, NOTE_LOOK_BACK: the items that are why */
	char *lack;	      /* why nothing could be compared; or NULL */
	char *counted;	      /* the counter of others, or of railhead's reboots, that forbids the
			       * reboot; or NULL */
	char *not_set_back;   /* why railhead's reboots are still counted; or NULL */
};

void settled_free(struct settled *s);
#define cleanup_settled cleanup(settled_free)

/*
 * profile: its digest. failed: what failed in this boot, of what is compared (health_add()). Makes
 * the trial of this boot good, refuses it, or writes down how one ended (boot/trial.h). Opens the
 * boot partition for writing only if something is due, and keeps what failed only where a later
 * trial is judged by it: a boot that has its arguments writes nothing. Where no reboot follows, the
 * count of railhead's reboots is set back (boot/witness.h). 1: railhead.env was written.
 */
int boot_settle(const struct root *root, const struct node *node, const struct kargs *wanted,
		const char *profile, const struct strv *failed, struct settled *ret,
		struct err *err);
