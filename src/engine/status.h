/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record of a boot (engine/record.h) in the files that other programs read:
 * /run/railhead/status.json, and /run/railhead/ready, which exists only while work is admitted.
 *
 * A judgement is one transaction (engine/flow.h). Its beginning withdraws all claims and records
 * that no work is admitted. Only status_admit(), after a finished judgement or an admission by
 * hand, creates the ready file. Claims are withdrawn before the record changes and made after it is
 * written, and a record that admits work counts only with a ready file: a process that is killed at
 * any point leaves at most the claims of the last finished judgement.
 */
#pragma once

#include <stdbool.h>

#include "engine/record.h"

struct status {
	struct record record;
	/*
	 * In the initramfs the real root may still be read-only: the early stage informs the other
	 * readers (publish.h).
	 */
	bool unpublished;
	bool new_user_space;  /* the record was from before a soft-reboot */
	bool claim_lost;      /* the record admits work, and there is no ready file */
	struct strv warnings; /* sentences: failures to inform other readers, each once */
};

/*
 * The record of this boot and user space (sys/manager.h); empty if there is no record, or only one
 * of an earlier boot. A record from before a soft-reboot keeps only stage initrd. A record that
 * admits work without a ready file becomes "lapsed".
 */
void status_load(const struct root *root, struct status *ret);
/*
 * The same in the initramfs, a user space apart from that of the boot: the service manager is not
 * asked, which would take longer than the stage.
 */
void status_load_in_initramfs(const struct root *root, struct status *ret);
void status_free(struct status *s);

/* The same for the text of a record, which may be NULL. user_space: "" if it is not known. */
void status_parse(struct status *ret, const char *text, const char *boot_id,
		  const char *user_space);
/* Drops the data of the user space before a soft-reboot. */
void status_leave_user_space(struct status *s);
/* The process of the judgement was killed: makes that the reason of the verdict. */
void status_blame_killed(struct status *s);

/*
 * Withdraws the ready file, and informs other readers (publish.h). If they can't be informed, the
 * status gets a warning, and the call succeeds.
 */
int status_withdraw(const struct root *root, struct status *s, struct err *err);
/*
 * Writes the record. If it admits no work, withdraws the ready file first; never creates the ready
 * file. If a record that admits no work can't be written, the old record is removed, because
 * removal needs no space. Drops an admission that is over or no longer needed.
 */
int status_store(const struct root *root, struct status *s, struct err *err);
/*
 * Writes a record with the verdict and the claims that are on disk. An error leaves the record on
 * disk as it was.
 */
int status_write(const struct root *root, const struct record *r, struct err *err);
/* Informs other readers again, before the label expires. */
void status_renew(const struct root *root, struct status *s);
/* Writes the record; then, if it admits work, creates the ready file and informs other readers. */
int status_admit(const struct root *root, struct status *s, struct err *err);
