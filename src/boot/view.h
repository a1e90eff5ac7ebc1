/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All that the decision about kernel arguments depends on, read once: the boot partition,
 * railhead.env and this boot's command line; and the decision itself. Used by the bootenv kind, by
 * the commit at the verdict (boot/settle.h), and by `railhead kargs`.
 */
#pragma once

#include "boot/bootpart.h"
#include "boot/env.h"
#include "boot/env_grub.h"
#include "boot/trial.h"
#include "boot/witness.h"
#include "node/node.h"

struct boot_view {
	struct bootpart part;
	struct boot_id id;
	struct boot_env env;
	bool have_env;
	char env_damage[ERR_TEXT_MAX]; /* "" unless the file is malformed */
	struct env_grub grub;	       /* if malformed: the values that GRUB reads from the file */
	struct witness witness;	       /* read only if a reboot would follow */
	char *held;		       /* why a reboot is forbidden; or NULL */
	struct trial_facts facts;      /* points into this struct and the caller's wanted, node */
	struct trial trial;
};

/* write: open the partition for writing. wanted and node must outlive the view. */
int boot_view_open(const struct root *root, const struct node *node, const struct kargs *wanted,
		   bool write, bool retry, struct boot_view *ret, struct err *err);
int boot_view_close(struct boot_view *v, struct err *err);

/*
 * Call first in the initrd stage and in stage early (in_root), for any profile and mode of the
 * boot: acts as trial_arrived(). Returns 0 if there is no railhead.env, because the look at the
 * kernel arguments reports that. A boot that railhead is told to leave alone (boot/mode.h) may
 * never reach stage early, so its first stage counts as stage early. If that boot is a trial, the
 * file notes it. A death of such a boot before railhead runs counts against the args.
 */
int boot_arrived(const struct root *root, bool in_root, struct err *err);

/*
 * This boot ends now, for the reason `end`: acts as trial_ended(). Does nothing after the trial's
 * verdict or if railhead.env can't be read. Takes no lock, because a gate that hangs holds it, and
 * the verdict does not read the field that is written. 1: wrote.
 */
int boot_ended(const struct root *root, enum env_end end, struct err *err);

/*
 * Empties railhead.env (creates it if absent), so that the next boot has none of our args, and sets
 * the count of railhead's reboots back to 0.
 */
int boot_env_reset(const struct root *root, char **ret_path, struct err *err);
