/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The status record, /run/railhead/status.json: verdict, why, and every change and number
 * of this boot. /run/railhead/ready exists only while work is admitted.
 *
 * A judgement is one transaction. status_begin() takes back what was claimed and records that
 * nothing is admitted; only status_admit(), with a finished judgement or a person's word, creates
 * the ready file. Claims are taken back before the record changes and made after it is written, and
 * a record that admits work without a ready file admits none: so a process that is killed anywhere
 * leaves fewer claims than the last finished judgement made, and never more.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "engine/run.h"
#include "gate/gate.h"
#include "report/screen.h"

struct status {
	json_t *doc; /* owned */
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

bool status_is_empty(const struct status *s);
/* What is of the user space before a soft-reboot goes; stage initrd is of the boot. */
void status_leave_user_space(struct status *s);
/* The judgement that was begun has nobody at it any more: its reason says so. */
void status_blame_killed(struct status *s);
/* How many judgements were begun (status_begin()) since the last verdict: 0, or the one at work. */
unsigned int status_begun(const struct status *s);
bool status_has_stage(const struct status *s, enum stage stage);
const char *status_verdict(const struct status *s); /* "waiting" if there is none */
/* Whether work may run: by the verdict, or by hand (report/admission.h) until its time is over. */
bool status_admitted(const struct status *s);
bool status_verdict_admits(const struct status *s);
const char *status_digest(const struct status *s); /* "" if none */

/* NULL: there is none any more. */
void status_set_profile(struct status *s, const struct profile *profile);
/* Replaces the stage's part: its changes (and those of also), counts and times. */
void status_set_stage(struct status *s, const struct run *run, unsigned int stages,
		      const struct stage_result *result);
/* What the boot lacked, so that the stage did more than its own work; NULL: nothing. */
void status_set_lack(struct status *s, enum stage stage, const char *sentence);
void status_set_measurements(struct status *s, const struct measurements *m);
/* Of the checks that m has any of; what is there of the others stays. */
void status_replace_measurements(struct status *s, const struct measurements *m);
/* What was measured last, for a judgement without measuring anew. */
void status_measurements(const struct status *s, struct measurements *ret);
/* What is to be known of a device that came back, as a JSON object; takes it over. */
void status_set_device(struct status *s, const char *addr, json_t *device);
void status_set_verdict(struct status *s, const struct verdict *v);
/* One that lets no work in, with one reason. */
void status_set_simple(struct status *s, enum verdict_kind kind, const char *reason);
/* Whether the record says that already. */
bool status_says(const struct status *s, const struct verdict *v);

/*
 * Since when this boot waits for what a verdict `waiting` names. Kept, until a verdict lets work
 * in or a person runs the gate, also while the verdict is another one: so that all waiting of a
 * boot together has an end. Times are clock_usec()'s.
 */
struct waiting {
	uint64_t since, until;
	uint64_t looked; /* when it was looked for last */
};

/* False: this boot has not waited. */
bool status_waiting(const struct status *s, struct waiting *ret);
/* The verdict is "waiting", and not because a gate has waited: none has judged yet. */
bool status_is_unjudged(const struct status *s);
/* NULL: forgotten. */
void status_set_waiting(struct status *s, const struct waiting *w);

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
/*
 * A judgement begins: nothing is admitted, and nothing measured, until its verdict. What is let in
 * by hand stays so.
 */
int status_begin(const struct root *root, struct status *s, struct err *err);
/* Tells other readers again; the label lapses otherwise. */
void status_renew(const struct root *root, struct status *s);
/* Writes the record; then, if it admits work, creates the ready file and tells other readers. */
int status_admit(const struct root *root, struct status *s, struct err *err);

/*
 * The record as an operator reads it (status_text.c): may the node take work; if not, each cause,
 * on a terminal folded (fold.h) and with the remedy of the first; how it came about; where to look
 * next.
 */
void status_render(FILE *out, const struct status *s, const struct screen *screen);
