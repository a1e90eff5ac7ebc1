/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record of a boot (engine/record.h) where others read it: /run/railhead/status.json, and
 * /run/railhead/ready, which exists only while work is admitted.
 *
 * A judgement is one transaction (engine/flow.h). Its beginning takes back what was claimed and
 * records that nothing is admitted; only status_admit(), with a finished judgement or a person's
 * word, creates the ready file. Claims are taken back before the record changes and made after it
 * is written, and a record that admits work without a ready file admits none: so a process that is
 * killed anywhere leaves fewer claims than the last finished judgement made, and never more.
 */
#pragma once

#include <stdbool.h>

#include "engine/record.h"

struct status {
	struct record record;
	/*
	 * The initramfs, where the real root may be read-only still: the early stage tells the
	 * other readers (publish.h).
	 */
	bool unpublished;
	bool new_user_space;  /* the record was of the one before a soft-reboot */
	bool claim_lost;      /* the record admits work, and there is no ready file */
	struct strv warnings; /* sentences: what could not be told to other readers, each once */
};

/*
 * The record of this boot and user space (sys/manager.h); an empty one if there is none or it is of
 * an earlier boot. Of one from before a soft-reboot only stage initrd is left. One that admits work
 * without a ready file is "lapsed".
 */
void status_load(const struct root *root, struct status *ret);
void status_free(struct status *s);

/* The same, of a record's text, which may be NULL. user_space: "" where that is not known. */
void status_parse(struct status *ret, const char *text, const char *boot_id,
		  const char *user_space);
/* The initramfs has a user space of its own, which is not that of the boot. */
void status_of_initramfs(struct status *s);
/* What is of the user space before a soft-reboot goes. */
void status_leave_user_space(struct status *s);
/* The judgement that was begun has nobody at it any more: its reason says so. */
void status_blame_killed(struct status *s);

/*
 * Withdraws the ready file, and what others were told (publish.h). That they can't be told is a
 * warning of the status, and no failure.
 */
int status_withdraw(const struct root *root, struct status *s, struct err *err);
/*
 * Writes the record; withdraws the ready file before that if the record admits no work, and
 * never creates it. If such a record can't be written, the one that is there is removed, which
 * needs no space. An admission that is over, or is not needed any more, is dropped.
 */
int status_store(const struct root *root, struct status *s, struct err *err);
/* Tells other readers again; the label lapses otherwise. */
void status_renew(const struct root *root, struct status *s);
/* Writes the record; then, if it admits work, creates the ready file and tells other readers. */
int status_admit(const struct root *root, struct status *s, struct err *err);
