/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trials of kernel arguments: what a boot finds, what is armed, and what a verdict decides. Pure
 * functions over two records, so that every history of boots can be searched (tests/histories):
 * railhead.env, which GRUB reads and writes (loader/env.h), and the record of attempts
 * (boot/attempts.h). The functions change the records in memory; the caller stores them.
 *
 * A trial is armed by the gate, in a boot whose stages have run: so the next boot has a gate, too,
 * and the items that fail without the arguments are known. Arguments are tried iff
 *
 *  - those of this boot differ from the wanted ones in either direction,
 *  - the next boot would have all of them: GRUB reads our slot and passes each word whole, and
 *    nothing else on the line overrules them,
 *  - they are not refused for this kernel and this version of the profile: TRIALS_MAX trials died,
 *    an item failed that held before, or they were not in force in their trial,
 *  - railhead has made fewer than REBOOTS_MAX reboots since the last settled verdict,
 *  - no other program counts this boot or needs the next one (loader/counters.h), no disk would be
 *    locked (boot/seal.h), and the next boot has a gate (boot/service.h).
 *
 * A trial that ends without a verdict, other than by an orderly shutdown, has died.
 */
#pragma once

#include <stdbool.h>

#include "boot/attempts.h"
#include "kargs/kargs.h"
#include "loader/env.h"

enum kargs_decision {
	KARGS_SAME,	   /* all is as wanted; the verdict may have to judge a trial */
	KARGS_ARM,	   /* arm a trial, then reboot */
	KARGS_ARMED,	   /* this very boot has armed the trial: just reboot */
	KARGS_ADOPT,	   /* this boot has the args, and the next boot would not: the verdict
			      decides whether they are stored */
	KARGS_NOT_ARRIVED, /* GRUB did not bring the args, or the kernel did not accept them */
	KARGS_NEXT_BOOT,   /* other args are on trial in this boot: the next boot tries these */
	KARGS_REJECTED,	   /* the trials died */
	KARGS_UNFIT,	   /* an item failed in the trial that held without the args */
	KARGS_CONFLICT,	   /* the args can't come into force from the loader's line */
	KARGS_NO_LOADER,   /* nothing here can bring args to the next boot, and take them back */
	KARGS_DAMAGED,	   /* railhead.env is malformed */
	KARGS_COUNTED,	   /* another program needs this boot or the next one */
	KARGS_SEALED,	   /* a trial would lock a disk whose key is sealed to PCRs */
	KARGS_HELD,	   /* railhead may not reboot: its budget is spent, or it can't count */
	KARGS_NO_GATE,	   /* no boot would judge the trial: the gate's unit does not run */
};
const char *kargs_decision_name(enum kargs_decision d); /* "same", "reboot", "write", ... */

/* A trial is next: it is armed, or the gate arms it, and a reboot follows. */
bool kargs_decision_reboots(enum kargs_decision d);

/* The change of the records at the verdict. */
enum trial_note {
	NOTE_NONE,
	NOTE_RUNS, /* this boot is the trial, with its args in force: the verdict decides */
	NOTE_LOST, /* this boot is the trial, and its args are not in force */
	NOTE_DROP, /* an armed or running trial of args that are not wanted */
};

struct trial_facts {
	const struct kargs *wanted;
	const char *cmdline;	/* /proc/cmdline of this boot */
	const char *loader_why; /* why no loader brings args, or can't take them back; or NULL */
	bool loader_parses;	/* the loader parses args as a script: kargs_check_parsed() */
	const char *boot_id, *kernel;
	const char *profile; /* name and version: attempts.h */
	const char *end; /* the last end of a boot that armed a trial ("left") or was one ("stop",
			    "timer", "verdict"), by its own word; "" */
	bool absent;	 /* there is no railhead.env; the record of it is empty */
	const char *damage; /* the damage of railhead.env, whose record is empty; or NULL */
	const struct boot_env *seen; /* with damage: the slots that GRUB may have passed */
	struct boot_env *env;
	struct attempts *past;
};

struct trial {
	enum kargs_decision decision;
	enum trial_note note;
	char *why;		/* a sentence that names the layer and the remedy */
	char slot;		/* the slot of this boot: 'a', 'b'; ENV_NONE: unknown */
	char left_out;		/* the slot whose args GRUB left out of this boot, or ENV_NONE */
	struct kargs missing;	/* wanted, but not in force in this boot */
	struct kargs dropped;	/* ours in this boot, but no longer wanted */
	struct kargs conflicts; /* other args on the line that contradict wanted ones */
	struct kargs owned;	/* the args of this boot's slot */
	struct attempt now;	/* the wanted args, this kernel, this profile */
};

void trial_free(struct trial *t);
#define cleanup_trial cleanup(trial_free)

/*
 * Whether the boot with that line is a trial, and so has its timer and its panics: the mark counts
 * with any value, as in the units' ConditionKernelCommandLine=. True after the trial is over, too.
 */
bool trial_on_line(const char *cmdline);

/*
 * First: takes note of what earlier boots left. A trial that GRUB took for another boot has died,
 * unless it was shut down in order; args that GRUB left out of this boot have killed two boots of
 * this kernel, and are no longer good.
 */
void trial_arrive(const struct trial_facts *f);
void trial_decide(const struct trial_facts *f, struct trial *ret);
/* KARGS_ARM and KARGS_ARMED become another decision, for the reason `why`: no trial is next. */
void trial_hold(struct trial *t, enum kargs_decision d, const char *why);
/* KARGS_ADOPT becomes KARGS_SAME: the args are not stored, for the reason `why`. */
void trial_keep(struct trial *t, const char *why);
/* Puts the decision KARGS_ARM into the records. -E2BIG, -EINVAL: the args can't travel. */
int trial_arm(const struct trial_facts *f, const struct trial *t, struct err *err);
/* By railhead, without a settled verdict in between: the records may differ where one was lost. */
unsigned int trial_reboots(const struct trial_facts *f);
/* This boot asks for a reboot, before trial_arm(). False: the budget is spent. */
bool trial_count_reboot(const struct trial_facts *f);

/*
 * A verdict's facts about its boot, to compare with the last one. A look counts as news if it
 * did not fail before, a measurement only if it held, and a carrier only if it was up: what was
 * never known to hold is not the arguments' fault.
 */
struct outcome {
	const char *profile; /* name */
	bool waits;	     /* for something: the verdict decides nothing yet */
	bool reboots; /* a trial is armed: nothing was measured, and carriers may still come */
	struct strv failed; /* looks that failed */
	struct strv missed; /* measurements that failed */
	struct strv held;   /* measurements that held */
	struct strv up;	    /* functions with a carrier, by address: of the sets, and the uplinks */
};

void outcome_free(struct outcome *o);
#define cleanup_outcome cleanup(outcome_free)

enum trial_result {
	TRIAL_NONE,	 /* this boot was no trial, or its verdict waits */
	TRIAL_COMMITTED, /* its args are good */
	TRIAL_UNFIT,   /* refused for the items in *news: railhead reboots into the earlier args */
	TRIAL_LOST,    /* refused, because they were not in force */
	TRIAL_UNKNOWN, /* something failed, and whether it held before is not known: the next
			  boot has the earlier args, and tries these again */
};

/*
 * A verdict was reached, of whatever sort: with the good args it ends GRUB's count of the boots of
 * this kernel.
 */
void trial_reach_verdict(const struct trial_facts *f);
/*
 * At a verdict: judges the trial of this boot, keeps what a later trial is compared with, and ends
 * GRUB's count of the boots of a new kernel. A verdict after which no reboot follows is settled: it
 * sets the count of reboots back, unless that count is what held the reboot.
 */
enum trial_result trial_settle(const struct trial_facts *f, const struct trial *t,
			       const struct outcome *o, struct strv *news);
/*
 * Before trial_settle(): puts the decision KARGS_ADOPT into the records, at a verdict that a trial
 * of the same args would pass. A damaged railhead.env is made again. Errors as trial_arm().
 */
int trial_adopt(const struct trial_facts *f, const struct trial *t, const struct outcome *o,
		struct err *err);
/* A kernel was installed ("": of a release that is not known): GRUB counts boots from here on. */
void trial_expect_kernel(const struct trial_facts *f, const char *release);
