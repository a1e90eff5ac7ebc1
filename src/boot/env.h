/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * railhead.env: read strictly, written in place. See env_layout.h.
 *
 * An operation is planned as a few overwrites. Each is on the disk before the next begins, and they
 * are ordered so that a power cut between any two leaves a file that means either the state before
 * or the state after. The head (selectors and state, one sector) comes last where a slot must
 * change before it counts:
 *
 *   arm     head without a trial, if one was armed; the count; the slot not in use; head
 *   adopt   the same
 *   commit  the count; head; the other slot, emptied, if the args are none
 *   died, ...   head
 *   reset   head; both slots
 *   left out  the slot not in use, emptied; head
 *
 * Each head is followed by the last sector, with the copy of the head's values and the count of
 * begun boots (railhead_begun), which GRUB writes too. The count is written before a slot has args,
 * and stays while a slot has any, so that GRUB never boots uncounted args for good.
 *
 * Writes that would change nothing are left out, so a plan may be empty.
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
 * as many healthy boots as the site configures.
 */
struct env_refused {
	char hash[KARGS_HASH_LEN + 1];
	char kernel[ENV_KERNEL_HASH_LEN + 1]; /* of the kernel's release */
	unsigned int deaths;		      /* number of dead trials, 1..9; 0: see unfit */
	int64_t time; /* when the last trial was armed, seconds since 1970 */
	bool unfit;   /* an item failed that holds without the args; false: they did not arrive */
};

/* The state of a trial in which something failed at the verdict (boot/health.h). */
enum env_look {
	ENV_LOOK_NONE,
	ENV_LOOK_BACK,	 /* result 'l': the next boot, without the args, looks which items fail */
	ENV_LOOK_SECOND, /* result 's': that boot has looked, and this trial decides */
};

struct boot_env {
	char good;			 /* 'a', 'b' or ENV_NONE */
	char try_;			 /* 'a', 'b', ENV_TAKEN or ENV_NONE */
	char begun;			 /* '0' to '3', or ENV_NONE: not counted */
	char ends[ENV_ENDS_MAX + 1];	 /* of trials of the args of state: boot/ends.h */
	unsigned int healthy;		 /* healthy boots since the last rejection: 0..99 */
	char slot[2][ENV_SLOT_SIZE + 1]; /* without padding; "": a slot without args */
	struct {
		unsigned int deaths;	       /* 0..99 */
		bool no_variable;	       /* result 'v' */
		enum env_look look;	       /* results 'l' and 's' */
		char hash[KARGS_HASH_LEN + 1]; /* "": no trial yet */
		char kernel[65];
		char boot[ENV_BOOT_LEN + 1];		     /* of the last writer: env_boot() */
		int64_t time;				     /* seconds since 1970; 0 unknown */
		struct env_refused refused[ENV_REFUSED_MAX]; /* newest last */
		size_t n_refused;
	} state;
};

/* The writer of the file, as noted in the state. */
struct boot_id {
	char id[37];	 /* /proc/sys/kernel/random/boot_id */
	char kernel[65]; /* uname -r */
	int64_t time;	 /* seconds since 1970 */
};

/* Fills ret from below root: boot id ("" if unknown), kernel release ("" if not live), the time. */
void boot_id_read(const struct root *root, struct boot_id *ret);

/* A boot id in the form of the state. */
void env_boot(const char *boot_id, char ret[ENV_BOOT_LEN + 1]);

/* 'a' or 'b' to 0 or 1; -1 for anything else. */
int env_slot_index(char slot);
/* The slot that does not boot by default: the next args go there. */
char env_free_slot(const struct boot_env *env);
/* The slot that the next boot takes ('a', 'b' or ENV_NONE): the armed slot, else the good slot. */
char env_next_slot(const struct boot_env *env);
/* The entry that rejects these args on the kernel of that release; NULL if they may be tried. */
const struct env_refused *env_refused(const struct boot_env *env, const struct kargs *args,
				      const char *kernel);
/* The text of a slot; "" for ENV_NONE. */
const char *env_slot(const struct boot_env *env, char slot);

/*
 * An empty file: no slot has args, but slot a is good, so that GRUB's marker proves that GRUB read
 * it.
 */
void env_init(struct boot_env *ret, const struct boot_id *id);
/*
 * 0: the file is intact. 1: the file was changed, but the written values are known: *err has the
 * place, *ret the values as written, and env_plan_mend() mends the file. This covers any single
 * changed byte, but a slot that boots is returned as GRUB reads it. -EBADMSG: damaged; err has the
 * cause and the place.
 */
int env_parse(const char *buf, size_t len, struct boot_env *ret, struct err *err);
void env_render(const struct boot_env *env, char ret[ENV_SIZE]);
/* Writes the sum of the values and their copy into a file, as env_render() does at the end. */
void env_seal(char buf[ENV_SIZE]);

/* The bytes of the file; -EBADMSG only if the file is far too long. Caller frees. */
int env_read_bytes(int dirfd, char **ret, size_t *ret_len, struct err *err);
/*
 * -ENOENT: no such file, dirfd is -1, or the file is empty, because a power cut can leave a new
 * name with an empty file on vfat. 1, -EBADMSG: as env_parse().
 */
int env_read(int dirfd, struct boot_env *ret, struct err *err);
/* Makes the file (env_init), or replaces an empty or damaged file; see machine_create_durable. */
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
	struct boot_env after; /* the meaning of the file after all steps */
};

/* Each fills *ret from env; -E2BIG or -EINVAL if the args can't travel. */

/*
 * The next boot, and no later one, tries args. deaths: trials of these args that died so far.
 * Arming rejected args clears their rejection.
 */
int env_plan_arm(const struct boot_env *env, const struct kargs *args, unsigned int deaths,
		 const struct boot_id *id, struct env_plan *ret, struct err *err);
/*
 * Rejected args get one more trial. They stay on the list of rejected args meanwhile, so that they
 * are rejected at once if the trial dies, and healthy boots count from 0 again.
 */
int env_plan_try_again(const struct boot_env *env, const struct kargs *args,
		       const struct boot_id *id, struct env_plan *ret, struct err *err);
/*
 * The args are on the line of this very boot already, so they become good without a trial. counts:
 * GRUB can write there, and must count the boots that begin with the args.
 */
int env_plan_adopt(const struct boot_env *env, const struct kargs *args, bool counts,
		   const struct boot_id *id, struct env_plan *ret, struct err *err);
/*
 * This boot, which GRUB has counted as begun, reached railhead. in_root: it reached stage early, so
 * the count begins again. counts: as for adopt.
 */
void env_plan_arrived(const struct boot_env *env, bool counts, bool in_root, struct env_plan *ret);
/*
 * GRUB left the args of the good slot out of this boot, because two boots with them had begun and
 * not reached stage early. Now no slot with args is good, and one trial of them on the kernel of id
 * counts as dead.
 */
void env_plan_left_out(const struct boot_env *env, const struct boot_id *id, struct env_plan *ret);
/* The trial of slot succeeded: slot becomes good. */
void env_plan_commit(const struct boot_env *env, char slot, const struct boot_id *id,
		     struct env_plan *ret);
/* No trial at the next boot; the slots stay. */
void env_plan_disarm(const struct boot_env *env, const struct boot_id *id, struct env_plan *ret);
/*
 * The trial that GRUB took died. It counts, unless its end gives the attempt back (boot/ends.h).
 * The args are rejected after `most` dead trials, or after one if they were rejected before.
 */
void env_plan_died(const struct boot_env *env, unsigned int most, const struct boot_id *id,
		   struct env_plan *ret);
/* This boot is the trial that GRUB took, and ends before its verdict. Writes one sector once. */
void env_plan_ended(const struct boot_env *env, enum env_end end, struct env_plan *ret);
/* The trial booted, but its args did not arrive: they are rejected. */
void env_plan_not_arrived(const struct boot_env *env, const struct boot_id *id,
			  struct env_plan *ret);
/* GRUB took the trial, but booted an entry without the variable, so the args were not tried. */
void env_plan_no_variable(const struct boot_env *env, const struct boot_id *id,
			  struct env_plan *ret);
/* Rewrites the sectors in which the file, these ENV_SIZE bytes, differs from env. */
void env_plan_mend(const char *buf, const struct boot_env *env, const struct boot_id *id,
		   struct env_plan *ret);
/* An item failed in this trial that holds without its args: they are rejected. */
void env_plan_unfit(const struct boot_env *env, const struct boot_id *id, struct env_plan *ret);
/*
 * back: something failed in this trial; the next boot has the earlier args, and looks which items
 * fail. again: that boot has looked, and the args are armed for the deciding trial. over: other
 * args are wanted by now.
 */
void env_plan_look_back(const struct boot_env *env, const struct boot_id *id, struct env_plan *ret);
void env_plan_look_again(const struct boot_env *env, const struct boot_id *id,
			 struct env_plan *ret);
void env_plan_look_over(const struct boot_env *env, const struct boot_id *id, struct env_plan *ret);
/* A healthy boot without the rejected args. Writes one sector. */
void env_plan_healthy(const struct boot_env *env, struct env_plan *ret);
/* Gives up ownership: no slot is good, and both are empty. */
void env_plan_reset(const struct boot_env *env, const struct boot_id *id, struct env_plan *ret);

/* Writes the steps of a plan in order, each durable before the next (machine_overwrite). */
int env_write(int dirfd, const struct env_plan *plan, struct err *err);
