/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The decision about kernel args: what to write, and whether to reboot. One pure function
 * over facts, so that every boot can be simulated (tests/unit/test_boot_trial.c).
 *
 * Reboot iff
 *  - what the next boot gets has all that is wanted: GRUB will read our slot, and nothing
 *    else on the line overrules it,
 *  - the args of ours in this boot differ from the wanted ones in either direction,
 *  - GRUB is known to read the file (the marker railhead.slot= is on this boot's line), or there
 *    has been no trial yet that would show whether it does,
 *  - these args are not refused on this kernel: fewer than TRIAL_MAX trials of them died,
 *    and none booted without the args; or retry_after healthy boots have passed since, each of
 *    which came to a verdict: one more trial, and then as many boots again. A trial that ended for
 *    a reason of others is tried again, ENV_GIVEN_MAX times (boot/ends.h), which with the deaths
 *    bounds the reboots,
 *  - nobody else counts this boot (boot/counters.h),
 *  - railhead has made fewer than REBOOTS_MAX reboots since the last settled verdict: the rest of
 *    this list is known from railhead.env, which may be lost, and this is not (boot/witness.h),
 *  - the last trial was not one of other args that died without any boot having reached a
 *    verdict since: so args that are others in each boot can't make a loop either,
 *  - no boot with the earlier args is to show first what fails without them.
 *
 * A trial in which something failed is compared with a boot without its args (boot/health.h). Where
 * none is known, the node goes back once to make it, and tries once more where the same failed:
 * with the reboot into the trial that is three of its own, and whatever that trial ends in is the
 * end.
 *
 * A file that is damaged beyond mending is made again, and its args have a trial: what it knew of
 * dead ones is lost, which the budget of reboots makes up for.
 */
#pragma once

#include <stdbool.h>

#include "boot/env.h"
#include "boot/kargs.h"

enum { TRIAL_MAX = 2 };

enum kargs_decision {
	KARGS_SAME,		/* all is as wanted; perhaps a commit is due */
	KARGS_WRITE_AND_REBOOT, /* arm a trial (trial_write), then reboot */
	KARGS_WRITE_NO_REBOOT,	/* this boot has the args, the next would not (trial_write) */
	KARGS_NOT_ARRIVED,	/* GRUB did not bring them, or the kernel did not take them */
	KARGS_REJECTED,		/* the trials died */
	KARGS_UNFIT,		/* something failed in the trial that held without them */
	KARGS_CONFLICT,		/* what else is on the line would keep them out of force */
	KARGS_NO_LOADER,	/* nothing here can bring args to the next boot */
	KARGS_DAMAGED,		/* railhead.env is malformed, and no trial can bring args */
	KARGS_COUNTED,		/* a reboot would use up somebody else's attempt */
	KARGS_HELD,		/* the budget of railhead's reboots is spent */
};

/* What the boot's verdict has to write down. */
enum trial_note {
	NOTE_NONE,
	NOTE_COMMIT,	  /* this trial is over and well: its slot becomes good */
	NOTE_DIED,	  /* an earlier boot was a trial and died */
	NOTE_NOT_ARRIVED, /* this trial booted without its args */
	NOTE_NO_VARIABLE, /* GRUB took the trial, and booted an entry without our variable */
	NOTE_SUPERSEDED,  /* other args are wanted, or a counter armed by now: no trial is next */
	NOTE_UNFIT,	  /* something failed in the trial that held without its args */
	NOTE_LOOK_BACK,	  /* something failed in this trial; the next boot looks without its args */
	NOTE_LOOKED_BACK, /* this boot has looked without them: they are tried once more */
	NOTE_LOOK_OVER,	  /* the same, and other args are wanted by now */
	NOTE_HEALTHY,	  /* a boot without args that are refused: one of those that forgive them */
};

struct trial_facts {
	const struct kargs *wanted;
	const char *cmdline;	    /* /proc/cmdline of this boot */
	const struct boot_env *env; /* NULL: absent or damaged. A panic of the trial that GRUB took
				     * is noted in it: ends_note() */
	const char *env_damage;	    /* what is wrong with the file, or NULL */
	const char *env_gives;	    /* if so: what GRUB takes of it; NULL or "": nothing */
	bool loader_ok;		    /* bootpart: LOADER_GRUB */
	const char *loader_why;	    /* when !loader_ok */
	const char *no_trial_why;   /* bootpart: a trial can't be disarmed there; or NULL */
	const char *held;	    /* why railhead may make no reboot (witness.h); or NULL */
	const char *other_counter;  /* a counter of boots that is armed (counters.h); or NULL */
	const char *boot_id;
	const char *kernel;
	bool retry; /* apply --retry: rejected and not arrived args are tried once more */
	unsigned int retry_after; /* healthy boots until refused args are tried again; 0: never */
};

struct trial {
	enum kargs_decision decision;
	char *why;		/* a sentence that names the layer and the remedy */
	char slot;		/* the slot that this boot got: 'a', 'b'; ENV_NONE: unknown */
	char left_out;		/* the slot whose args GRUB left out of this boot, or ENV_NONE */
	bool is_trial;		/* this boot is a trial */
	enum trial_note note;	/* due at the verdict: trial_settle() */
	char end;		/* of NOTE_DIED: enum env_end; '\0': not known */
	bool next_boot_tries;	/* of NOT_ARRIVED: these arguments had no turn yet */
	bool armed;		/* the trial is armed by this very boot: just reboot */
	bool again;		/* the trial that WRITE_AND_REBOOT arms is one of refused args */
	bool reboot;		/* once the note is written: trial_weigh() */
	unsigned int deaths;	/* trials of the wanted args on this kernel that died */
	struct kargs missing;	/* wanted, not in force in this boot */
	struct kargs dropped;	/* ours in this boot, wanted no longer */
	struct kargs conflicts; /* others' args that contradict wanted ones */
	struct kargs owned;	/* what this boot's slot gave */
};

void trial_decide(const struct trial_facts *facts, struct trial *ret);
void trial_free(struct trial *t);
#define cleanup_trial __attribute__((__cleanup__(trial_free)))

/* Whether GRUB took a trial for the boot with that line; also after the trial is over. */
bool trial_on_line(const char *cmdline);
/* The slot whose args GRUB left out of the boot with that line, or ENV_NONE. */
char trial_left_out(const char *cmdline);

/* Healthy boots until refused args are tried again; 0: they are due, or never. */
unsigned int trial_boots_left(const struct trial_facts *f);
/* "; they are tried again after 3 more healthy boots", "" of 0. Caller frees. */
char *trial_again_text(unsigned int boots);

const char *kargs_decision_name(enum kargs_decision d); /* "same", "reboot", "write", ... */

enum trial_health {
	TRIAL_FIT,	    /* nothing failed, or only what fails without the args, too */
	TRIAL_UNFIT,	    /* something else failed */
	TRIAL_NOT_COMPARED, /* something failed, and what fails without the args is not known */
};

/*
 * At the verdict: what NOTE_COMMIT, NOTE_LOOKED_BACK and NOTE_HEALTHY become by what failed; sets
 * reboot.
 */
void trial_weigh(const struct boot_env *env, enum trial_health health, struct trial *t);

/*
 * Does what a decision of WRITE_AND_REBOOT (arms) or WRITE_NO_REBOOT (adopts) asks,
 * in place. Rebooting is the caller's. No other decision writes: 0.
 *
 * 1: the file was absent (facts->env == NULL) and has been created, without arguments. Close the
 * boot partition, open it, decide and call again. Closing unmounts the partition or makes it
 * read-only again where railhead mounted it or made it writable, which puts the new name where GRUB
 * finds it on every file system, XFS too: a trial that GRUB can't see must not be armed, since the
 * next boot would take it for one that GRUB passed by.
 */
int trial_write(const struct root *root, int dirfd, const struct trial_facts *facts,
		const struct trial *t, const struct boot_id *id, struct err *err);
/* How far a boot has come, and whether GRUB counts it. */
struct arrival {
	const char *cmdline;
	bool counts;  /* GRUB can write there */
	bool in_root; /* stage early has come, or this boot may have none */
	bool alone;   /* railhead leaves it alone: trial_ended() notes what that says of a trial */
};

/*
 * First thing in a boot, before a decision: GRUB counts boots that have begun, and in_root sets the
 * count back. The initrd stage leaves it, since args that kill this kernel behind it are left out
 * by the count, too. Where GRUB left the args out after two boots that had not come so far, no slot
 * with args is good from here on, and the decision sees one dead trial of them. A trial that GRUB
 * took, and not for this line, died, or was none (an entry without the variable). A file that can
 * be mended is mended. 1: wrote, 2: mended the file, and *err says what was wrong, 0: nothing was
 * due.
 */
int trial_arrived(int dirfd, const struct arrival *a, const struct boot_id *id, struct err *err);
/* Whether trial_arrived() would write. */
bool trial_arrival_is_due(int dirfd, const struct arrival *a);
/*
 * This boot ends, or is left alone, for that reason. Notes it if the boot is the trial that GRUB
 * took and no cause is noted yet. With ENV_END_ALONE, a boot without any mark of GRUB's counts as
 * that trial, too: trial_arrived() has seen to one that comes after it. 1: it was due, and was
 * written if write says so.
 */
int trial_ended(int dirfd, const char *cmdline, enum env_end end, bool write, struct err *err);
/* At the verdict: writes t->note down. 1: wrote, 0: nothing was due. */
int trial_settle(int dirfd, const struct trial *t, const struct boot_id *id, struct err *err);
