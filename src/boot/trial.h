/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The decision about kernel args: what to write, and whether to reboot. One pure function over
 * facts, so that every boot can be simulated (tests/unit/test_boot_trial.c).
 *
 * Reboot iff
 *
 *  - the next boot would have all wanted args: GRUB will read our slot and pass each word whole,
 *    and nothing else on the line overrules them,
 *  - our args in this boot differ from the wanted ones in either direction,
 *  - GRUB is known to read the file (the marker railhead.slot= is on this boot's line), or no trial
 *    has tested that yet,
 *  - these args are not rejected on this kernel: fewer than TRIAL_MAX trials of them died, and none
 *    booted without the args; or retry_after healthy boots have passed since, each with a verdict:
 *    that earns one more trial, and then the same number of boots counts again. A trial that ended
 *    for another reason than the args is tried again, ENV_GIVEN_MAX times (boot/ends.h); with the
 *    deaths this limits the reboots,
 *  - no other program counts this boot or needs the next one (boot/counters.h), and the trial locks
 *    no disk (boot/seal.h),
 *  - railhead has made fewer than REBOOTS_MAX reboots since the last settled verdict. The facts for
 *    the rest of this list are in railhead.env, which may be lost; this count is kept elsewhere
 *    (boot/witness.h),
 *  - the last trial was not one of other args that died without any boot having reached a verdict
 *    since: so even different args in each boot can't make a loop,
 *  - no boot with the earlier args must first show which items fail without the wanted args.
 *
 * A trial in which something failed is compared with a boot without its args (boot/health.h). If no
 * such boot is known, the node goes back once to make one, and tries once more if the same items
 * failed: with the reboot into the trial these are three reboots, and the result of that last trial
 * is final.
 *
 * A file that is damaged beyond mending is made again, and its args have a trial. Its record of
 * dead trials is lost; the limit on reboots makes up for that.
 */
#pragma once

#include <stdbool.h>

#include "boot/env.h"
#include "boot/kargs.h"

enum { TRIAL_MAX = 2 };

enum kargs_decision {
	KARGS_SAME,		/* all is as wanted; perhaps a commit is due */
	KARGS_WRITE_AND_REBOOT, /* arm a trial (trial_write), then reboot */
	KARGS_WRITE_NO_REBOOT,	/* this boot has the args, the next boot would not (trial_write) */
	KARGS_NOT_ARRIVED,	/* GRUB did not bring the args, or the kernel did not accept them */
	KARGS_REJECTED,		/* the trials died */
	KARGS_UNFIT,		/* an item failed in the trial that holds without the args */
	KARGS_CONFLICT,		/* other args, or GRUB's parser, would keep them out of force */
	KARGS_NO_LOADER,	/* nothing here can bring args to the next boot */
	KARGS_DAMAGED,		/* railhead.env is malformed, and args can't come by a trial */
	KARGS_COUNTED,		/* another program needs this boot or the next one */
	KARGS_SEALED,		/* a trial would lock a disk whose key is sealed to PCRs */
	KARGS_HELD,		/* the budget of railhead's reboots is spent */
};

/* The result that the boot's verdict must write down. */
enum trial_note {
	NOTE_NONE,
	NOTE_COMMIT,	  /* this trial succeeded: its slot becomes good */
	NOTE_DIED,	  /* an earlier boot was a trial and died */
	NOTE_NOT_ARRIVED, /* this trial booted without its args */
	NOTE_NO_VARIABLE, /* GRUB took the trial, but booted an entry without our variable */
	NOTE_SUPERSEDED,  /* other args are wanted, or a reboot is held: no trial is next */
	NOTE_UNFIT,	  /* an item failed in the trial that holds without its args */
	NOTE_LOOK_BACK,	  /* something failed in this trial; the next boot looks without its args */
	NOTE_LOOKED_BACK, /* this boot has looked without the args: they are tried once more */
	NOTE_LOOK_OVER,	  /* the same, but other args are wanted by now */
	NOTE_HEALTHY,	  /* a healthy boot that counts towards the next trial of rejected args */
};

struct trial_facts {
	const struct kargs *wanted;
	const char *cmdline;	    /* /proc/cmdline of this boot */
	const struct boot_env *env; /* NULL: absent or damaged. ends_note() added a trial's panic */
	const char *env_damage;	    /* the damage of the file, or NULL */
	const char *env_gives;	    /* with damage: args that GRUB reads from it; NULL, "": none */
	bool loader_ok;		    /* bootpart: LOADER_GRUB */
	const char *loader_why;	    /* when !loader_ok */
	bool loader_parses;	    /* bootpart: parses_value */
	const char *no_trial_why;   /* bootpart: why a trial can't be disarmed there; or NULL */
	const char *held;	    /* why railhead may not reboot, and the remedy; or NULL */
	enum kargs_decision
		held_as; /* with held: KARGS_COUNTED, _HELD, or _SEALED: no other line either */
	const char *boot_id;
	const char *kernel;
	bool retry; /* apply --retry: rejected or not arrived args are tried once more */
	unsigned int retry_after; /* healthy boots until rejected args are tried again; 0: never */
};

struct trial {
	enum kargs_decision decision;
	char *why;		/* a sentence that names the layer and the remedy */
	char slot;		/* the slot of this boot: 'a', 'b'; ENV_NONE: unknown */
	char left_out;		/* the slot whose args GRUB left out of this boot, or ENV_NONE */
	bool is_trial;		/* this boot is a trial */
	enum trial_note note;	/* due at the verdict: trial_settle() */
	char end;		/* of NOTE_DIED: enum env_end; '\0': unknown */
	bool next_boot_tries;	/* of NOT_ARRIVED: these arguments have not been tried yet */
	bool armed;		/* this very boot armed the trial: just reboot */
	bool again;		/* WRITE_AND_REBOOT arms a trial of rejected args */
	bool reboot;		/* reboot after writing the note: trial_weigh() */
	unsigned int deaths;	/* trials of the wanted args on this kernel that died */
	struct kargs missing;	/* wanted, but not in force in this boot */
	struct kargs dropped;	/* ours in this boot, but no longer wanted */
	struct kargs conflicts; /* other args on the line that contradict wanted ones */
	struct kargs owned;	/* the args of this boot's slot */
};

void trial_decide(const struct trial_facts *facts, struct trial *ret);
void trial_free(struct trial *t);
#define cleanup_trial __attribute__((__cleanup__(trial_free)))

/* Whether GRUB took a trial for the boot with that line; true after the trial is over, too. */
bool trial_on_line(const char *cmdline);
/* The slot whose args GRUB left out of the boot with that line, or ENV_NONE. */
char trial_left_out(const char *cmdline);

/* Healthy boots until rejected args are tried again; 0: now, or never. */
unsigned int trial_boots_left(const struct trial_facts *f);
/* "; they are tried again after 3 more healthy boots"; "" for 0. Caller frees. */
char *trial_again_text(unsigned int boots);

const char *kargs_decision_name(enum kargs_decision d); /* "same", "reboot", "write", ... */

enum trial_health {
	TRIAL_FIT,	    /* no item failed, or only items that fail without the args, too */
	TRIAL_UNFIT,	    /* an item failed that holds without the args */
	TRIAL_NOT_COMPARED, /* an item failed, and the boot to compare with is unknown */
};

/*
 * At the verdict: adapts NOTE_COMMIT, NOTE_LOOKED_BACK and NOTE_HEALTHY to the failed items, and
 * sets reboot.
 */
void trial_weigh(const struct boot_env *env, enum trial_health health, struct trial *t);

/*
 * Carries out a decision of WRITE_AND_REBOOT (arms) or WRITE_NO_REBOOT (adopts), in place. The
 * caller reboots. All other decisions write nothing and return 0.
 *
 * 1: the file was absent (facts->env == NULL) and has been created, without arguments. Close the
 * boot partition, open it, decide and call again. Closing unmounts the partition or makes it
 * read-only again, where railhead mounted it or made it writable, which puts the new name where
 * GRUB finds it on every file system, XFS too. A trial that GRUB can't see must not be armed,
 * because the next boot would conclude that GRUB passed it by.
 */
int trial_write(const struct root *root, int dirfd, const struct trial_facts *facts,
		const struct trial *t, const struct boot_id *id, struct err *err);
/* The progress of a boot, and whether GRUB counts it. */
struct arrival {
	const char *cmdline;
	bool counts;  /* GRUB can write there */
	bool in_root; /* the boot has reached stage early, or may never reach it */
	bool alone;   /* railhead leaves the boot alone: noted if the boot is a trial */
};

/*
 * Call first in a boot, before a decision. GRUB counts boots that have begun, and in_root sets the
 * count back. The initrd stage leaves the count, because the count also leaves out args that kill
 * this kernel behind that stage.
 *
 * If GRUB left the args out after two boots that had not come so far, no slot with args is good
 * from here on, and the decision sees one dead trial of them. A trial that GRUB took, but not for
 * this line, died, or tried nothing (an entry without the variable). A file that can be mended is
 * mended.
 *
 * 1: wrote; 2: mended the file, and *err has the damage; 0: nothing was due.
 */
int trial_arrived(int dirfd, const struct arrival *a, const struct boot_id *id, struct err *err);
/* Whether trial_arrived() would write. */
bool trial_arrival_is_due(int dirfd, const struct arrival *a);
/*
 * This boot ends, or is left alone, for the reason `end`. Notes the reason if the boot is the trial
 * that GRUB took and has no noted cause yet. With ENV_END_ALONE, a boot without any mark of GRUB's
 * counts as that trial, too: trial_arrived() has already handled a boot that comes after the trial.
 * 1: a note was due, and was written if write is set.
 */
int trial_ended(int dirfd, const char *cmdline, enum env_end end, bool write, struct err *err);
/* At the verdict: writes t->note into the file. 1: wrote, 0: nothing was due. */
int trial_settle(int dirfd, const struct trial *t, const struct boot_id *id, struct err *err);
