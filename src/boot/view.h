/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One look at all that kernel arguments depend on: the boot partition, railhead.env, this
 * boot's command line, and the decision that follows. Used by the bootenv kind, by the
 * commit at the verdict (boot/settle.h), and by `railhead kargs`.
 */
#pragma once

#include "boot/bootpart.h"
#include "boot/counters.h"
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
	struct env_grub grub;	       /* if it is: what GRUB takes of it all the same */
	struct counters counters;      /* points into part */
	struct witness witness;	       /* read where a reboot would follow */
	char *held;		       /* by that; or NULL */
	struct trial_facts facts;      /* points into this struct and the caller's wanted, node */
	struct trial trial;
};

/* write: the partition is opened for writing. wanted and node must outlive the view. */
int boot_view_open(const struct root *root, const struct node *node, const struct kargs *wanted,
		   bool write, bool retry, struct boot_view *ret, struct err *err);
int boot_view_close(struct boot_view *v, struct err *err);

/* An attempt of RAUC's that was given back. */
struct attempt {
	struct block block; /* path NULL: none was */
	size_t offset;
};

/*
 * Before a trial is armed: gives the attempt back that RAUC's counter has taken for this boot, so
 * that the next boot comes to the same slot. Before and not after: a power cut in between must
 * leave no trial to the other slot. A caller that then fails to arm takes the attempt again.
 */
int boot_attempt_give_back(const struct root *root, const struct node *node,
			   const struct kargs *wanted, bool retry, struct attempt *ret,
			   struct err *err);
/* Nothing to do where none was given back. */
int boot_attempt_take(const struct root *root, const struct attempt *a, struct err *err);
void boot_attempt_free(struct attempt *a);
#define cleanup_attempt __attribute__((__cleanup__(boot_attempt_free)))

/*
 * First thing in the initrd stage and in stage early (in_root), whatever the boot's profile and
 * mode: as trial_arrived(), and 0 where no railhead.env is found: the look at the kernel arguments
 * reports that. A boot that railhead is told to leave alone (boot/mode.h) may never come to stage
 * early, so that the first of the two stages is as the second; if it is a trial that is noted,
 * and what kills such a boot before railhead runs counts against the arguments.
 */
int boot_arrived(const struct root *root, bool in_root, struct err *err);

/*
 * This boot ends now, for that reason: as trial_ended(), and nothing after the trial's verdict or
 * where no railhead.env can be read. Takes no lock: a gate that hangs holds it, and what is written
 * is a field that a verdict does not read. 1: wrote.
 */
int boot_ended(const struct root *root, enum env_end end, struct err *err);

/*
 * Empties railhead.env (creates it if absent): nothing of ours on the next boot; and no reboot of
 * railhead's is counted.
 */
int boot_env_reset(const struct root *root, char **ret_path, struct err *err);
