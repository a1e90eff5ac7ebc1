/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All that the decision about kernel arguments depends on, read once: the boot partition,
 * railhead.env, the record of attempts, this boot's command line; and the decision itself.
 */
#pragma once

#include "boot/trial.h"
#include "loader/bootpart.h"
#include "node/node.h"

/* The profile's wish. All pointers must outlive the view. */
struct kargs_want {
	const struct root *root;
	const struct node *node;
	const struct kargs *kargs;
	const char *profile; /* name and version: profile_label() */
};

struct boot_view {
	struct kargs_want want;
	struct bootpart part;
	char boot_id[37];
	char kernel[65];	  /* "" if the root is not live */
	struct boot_env env, was; /* after trial_arrive(), and as read */
	struct boot_env seen;	  /* of a damaged file, whose record is empty */
	struct attempts past;
	bool make;		   /* the file is absent, damaged or of an earlier railhead */
	bool renew;		   /* ... and must be made again, even if nothing else is stored */
	char damage[ERR_TEXT_MAX]; /* "" unless the file is malformed */
	char *end;		   /* of the last trial: struct trial_facts */
	struct trial_facts facts;
	struct trial trial;
};

/* Writes nothing. -ENOENT: no boot partition is known. Close the view if this returned 0. */
int boot_view_open(const struct kargs_want *want, struct boot_view *ret, struct err *err);
int boot_view_close(struct boot_view *v, struct err *err);

/*
 * The gate, before its looks: stores what earlier boots left (trial_arrive()). 1: wrote.
 */
int boot_arrive(const struct kargs_want *want, struct err *err);
/* The gate, right before an orderly reboot: arms the trial and counts the reboot. */
int boot_arm(const struct kargs_want *want, struct err *err);

struct settled {
	enum trial_result result;
	struct strv news;     /* of TRIAL_UNFIT: the items that are the reason */
	unsigned int reboots; /* by railhead, until now */
	bool reboot;	      /* railhead must reboot the node, into the earlier arguments */
	bool unrecorded;      /* with an error: no trial ran, and the next one is compared with an
				 earlier verdict */
};

void settled_free(struct settled *s);
#define cleanup_settled cleanup(settled_free)

/*
 * The gate, at its verdict: trial_settle(). Opens the boot partition for writing only if a write is
 * due, so that a boot that has its arguments writes nothing. 1: wrote.
 */
int boot_settle(const struct kargs_want *want, const struct outcome *o, struct settled *ret,
		struct err *err);

/* `railhead apply --retry`: what was refused is tried again, and reboots count from 0. */
int boot_forgive(const struct root *root, struct err *err);
/*
 * A kernel was installed; release "" if unknown. Does nothing without a railhead.env. -EBADMSG: the
 * file is damaged, and stays. -EPERM: a disk is sealed to the line, which the count would change.
 * 1: wrote.
 */
int boot_expect_kernel(const struct root *root, const char *release, struct err *err);
/* The gate, at a verdict that can't judge the arguments, as without a profile. */
int boot_leave_unjudged(const struct root *root, const struct node *node, struct err *err);
/*
 * This boot is a trial, and ends before its verdict: by its timer, or in order ("stop"), which does
 * not count against its arguments. 1: wrote.
 */
int boot_note_end(const struct root *root, const char *end, struct err *err);
/*
 * This boot is shut down in order: if it armed a trial, GRUB reads all that was written. 1: wrote.
 */
int boot_note_left(const struct root *root, struct err *err);
/*
 * Empties railhead.env (creates it if absent), so that the next boot has none of our args, and
 * forgets all attempts. -EPERM: that would lock a disk that is sealed to the line.
 */
int boot_env_reset(const struct root *root, char **ret_path, struct err *err);
