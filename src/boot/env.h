/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * railhead.env: read strictly, written in place. See env_layout.h.
 *
 * An operation is planned as a few overwrites, each of which is on the disk before the
 * next one begins, in an order in which a power cut between any two leaves a file that
 * means either the state before or the state after. The head (selectors and state, one
 * sector) is the last of them where a slot changes before it counts:
 *
 *   arm     head without a trial, if one was armed; the count; the slot not in use; head
 *   adopt   the same
 *   commit  the count; head; the other slot, emptied, if the args are none
 *   died, ...   head
 *   reset   head; both slots
 *   left out  the slot not in use, emptied; head
 *
 * Each head is followed by the last sector, with the copy of its values and the count of begun
 * boots (railhead_begun), which GRUB writes too. It is written before a slot has args, and not
 * taken away while one has any: GRUB never boots uncounted args for good.
 *
 * Writes that would change nothing are left out: a plan may be empty.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "boot/env_layout.h"
#include "boot/kargs.h"
#include "sys/root.h"

enum { ENV_REFUSED_MAX = 4, ENV_KERNEL_HASH_LEN = 8, ENV_BOOT_LEN = 28 };

/*
 * Args that are not tried again on that kernel, until an operator says --retry or the node has had
 * as many healthy boots as the site asks for.
 */
struct env_refused {
	char hash[KARGS_HASH_LEN + 1];
	char kernel[ENV_KERNEL_HASH_LEN + 1]; /* of the release */
	unsigned int deaths;		      /* 1..9 trials died; 0: see unfit */
	int64_t time;			      /* the last trial was armed, seconds since 1970 */
	bool unfit; /* something failed that held without them; false: they did not arrive */
};

/* A trial that came to its verdict, while something failed (boot/health.h). */
enum env_look {
	ENV_LOOK_NONE,
	ENV_LOOK_BACK,	 /* result 'l': the next boot looks, without the args */
	ENV_LOOK_SECOND, /* result 's': that has been done, this trial decides */
};

struct boot_env {
	char good;			 /* 'a', 'b' or ENV_NONE */
	char try_;			 /* 'a', 'b', ENV_TAKEN or ENV_NONE */
	char begun;			 /* '0' to '3', or ENV_NONE: not counted */
	char ends[ENV_ENDS_MAX + 1];	 /* of trials of the args of state: boot/ends.h */
	unsigned int healthy;		 /* boots since args were refused last: 0..99 */
	char slot[2][ENV_SLOT_SIZE + 1]; /* padding cut; "" is a slot without args */
	struct {
		unsigned int deaths;	       /* 0..99 */
		bool no_variable;	       /* result 'v' */
		enum env_look look;	       /* results 'l' and 's' */
		char hash[KARGS_HASH_LEN + 1]; /* "" before the first trial */
		char kernel[65];
		char boot[ENV_BOOT_LEN + 1];		     /* of the last writer: env_boot() */
		int64_t time;				     /* seconds since 1970; 0 unknown */
		struct env_refused refused[ENV_REFUSED_MAX]; /* the newest last */
		size_t n_refused;
	} state;
};

/* Who writes: goes into the state. */
struct boot_id {
	char id[37];	 /* /proc/sys/kernel/random/boot_id */
	char kernel[65]; /* uname -r */
	int64_t time;	 /* seconds since 1970 */
};

/* Fills ret from below root: boot id ("" if unknown), uname or "" if not live, the time. */
void boot_id_read(const struct root *root, struct boot_id *ret);

/* A boot id as the state has it. */
void env_boot(const char *boot_id, char ret[ENV_BOOT_LEN + 1]);

/* 'a' or 'b' to 0 or 1; -1 for anything else. */
int env_slot_index(char slot);
/* The slot that does not boot by default: where the next args go. */
char env_free_slot(const struct boot_env *env);
/* The slot that the next boot takes ('a', 'b' or ENV_NONE): the armed one, else good. */
char env_next_slot(const struct boot_env *env);
/* The entry for these args on the kernel of that release, NULL if they may be tried. */
const struct env_refused *env_refused(const struct boot_env *env, const struct kargs *args,
				      const char *kernel);
/* A slot's text, "" for ENV_NONE. */
const char *env_slot(const struct boot_env *env, char slot);

/* An empty one: no slot has args, slot a is good, so that the marker tells GRUB read it. */
void env_init(struct boot_env *ret, const struct boot_id *id);
/*
 * 1: it is not as it was written, and what was written is known: *err says where, *ret is as it was
 * written, and env_plan_mend() mends the file. So after any one byte was changed; but a slot that
 * boots holds what GRUB takes from it. -EBADMSG with what is wrong and where.
 */
int env_parse(const char *buf, size_t len, struct boot_env *ret, struct err *err);
void env_render(const struct boot_env *env, char ret[ENV_SIZE]);
/* Sums up the values of a file and copies them, as env_render() does in the end. */
void env_seal(char buf[ENV_SIZE]);

/* The file as it is; -EBADMSG only if it is far too long. Caller frees. */
int env_read_bytes(int dirfd, char **ret, size_t *ret_len, struct err *err);
/*
 * -ENOENT: no such file, dirfd is -1, or an empty file, which says nothing: a power cut can
 * leave that of a new name on vfat. 1, -EBADMSG: as env_parse().
 */
int env_read(int dirfd, struct boot_env *ret, struct err *err);
/* Makes the file (env_init), or replaces an empty or damaged one; see machine_create_durable. */
int env_create(const struct root *root, int dirfd, const struct boot_id *id, struct boot_env *ret,
	       struct err *err);

#define ENV_STEPS_MAX 8
struct env_write {
	size_t offset;
	size_t len;
	char data[ENV_SLOT_SIZE];
};
struct env_plan {
	struct env_write step[ENV_STEPS_MAX];
	size_t n;
	struct boot_env after; /* what the file means once all steps are done */
};

/* Each fills *ret from env; -E2BIG or -EINVAL if the args can't travel. */

/*
 * The next boot, and only that, tries args. deaths: trials of these args that died so far.
 * Whoever arms refused args means it: they are refused no longer.
 */
int env_plan_arm(const struct boot_env *env, const struct kargs *args, unsigned int deaths,
		 const struct boot_id *id, struct env_plan *ret, struct err *err);
/*
 * Args that are refused have earned one more trial. They stay refused while it lasts, so that they
 * are at once if it dies, and healthy boots count from 0 again.
 */
int env_plan_try_again(const struct boot_env *env, const struct kargs *args,
		       const struct boot_id *id, struct env_plan *ret, struct err *err);
/*
 * The args are on the line of this very boot already: make them good with no trial. counts: GRUB
 * can write there, and is to count the boots that begin with them.
 */
int env_plan_adopt(const struct boot_env *env, const struct kargs *args, bool counts,
		   const struct boot_id *id, struct env_plan *ret, struct err *err);
/*
 * This boot, which GRUB has counted as begun, came as far as railhead: in_root: to stage early, so
 * that the count begins again. counts: as for adopt.
 */
void env_plan_arrived(const struct boot_env *env, bool counts, bool in_root, struct env_plan *ret);
/*
 * GRUB left the args of the good slot out of this boot, since two with them had begun and not come
 * to stage early: no slot with args is good, and one trial of them on the kernel of id counts as
 * dead.
 */
void env_plan_left_out(const struct boot_env *env, const struct boot_id *id, struct env_plan *ret);
/* The trial of slot is over and well: it becomes good. */
void env_plan_commit(const struct boot_env *env, char slot, const struct boot_id *id,
		     struct env_plan *ret);
/* No trial at the next boot; the slots stay. */
void env_plan_disarm(const struct boot_env *env, const struct boot_id *id, struct env_plan *ret);
/*
 * The trial that GRUB took died: it is counted, unless its end gives the attempt back
 * (boot/ends.h); args of which `most` trials have died, or one since they were refused, are
 * refused.
 */
void env_plan_died(const struct boot_env *env, unsigned int most, const struct boot_id *id,
		   struct env_plan *ret);
/* This boot is the trial that GRUB took, and ends before its verdict. One write in one sector. */
void env_plan_ended(const struct boot_env *env, enum env_end end, struct env_plan *ret);
/* The args of this trial did not arrive, although it booted: refused. */
void env_plan_not_arrived(const struct boot_env *env, const struct boot_id *id,
			  struct env_plan *ret);
/* GRUB took the trial, but booted an entry without the variable: nothing was tried. */
void env_plan_no_variable(const struct boot_env *env, const struct boot_id *id,
			  struct env_plan *ret);
/* The sectors in which the file, these ENV_SIZE bytes, is not as env says. */
void env_plan_mend(const char *buf, const struct boot_env *env, const struct boot_id *id,
		   struct env_plan *ret);
/* Something failed with the args of this trial that held without them: refused. */
void env_plan_unfit(const struct boot_env *env, const struct boot_id *id, struct env_plan *ret);
/*
 * back: something failed in this trial; the next boot has the earlier args, and looks. again: it
 * has looked, the args are armed for the trial that decides. over: other args are wanted by now.
 */
void env_plan_look_back(const struct boot_env *env, const struct boot_id *id, struct env_plan *ret);
void env_plan_look_again(const struct boot_env *env, const struct boot_id *id,
			 struct env_plan *ret);
void env_plan_look_over(const struct boot_env *env, const struct boot_id *id, struct env_plan *ret);
/* A healthy boot, without args that are refused. One sector is written. */
void env_plan_healthy(const struct boot_env *env, struct env_plan *ret);
/* Gives up ownership: no slot is good, both are empty. */
void env_plan_reset(const struct boot_env *env, const struct boot_id *id, struct env_plan *ret);

/* Writes the steps of a plan, in order, each durable before the next (machine_overwrite). */
int env_write(int dirfd, const struct env_plan *plan, struct err *err);
