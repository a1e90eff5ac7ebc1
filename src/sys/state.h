/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * railhead's own files: /run/railhead (for a boot), /var/lib/railhead, and the notices, which are
 * two files of railhead in directories that other programs provide for the purpose. For the
 * machine's files see machine.h. Below a root that is not "/", all files are in directories of that
 * root.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sys/root.h"

#define STATE_DIR "/run/railhead"

/* Replaces STATE_DIR/name: temporary file, fsync, rename, fsync of the directory. */
int state_write(const struct root *root, const char *name, const char *text, struct err *err);
/* The same, readable only for root. */
int state_write_private(const struct root *root, const char *name, const char *text,
			struct err *err);
/* The whole text; caller frees. -ENOENT if the file is missing. */
int state_read(const struct root *root, const char *name, char **ret, struct err *err);
/* Success if already absent. */
int state_remove(const struct root *root, const char *name, struct err *err);

/*
 * Files that a boot keeps for the next boot: /var/lib/railhead, readable only for root, written
 * like the other files. A read-only, full or missing file system is an error, but costs only time:
 * the next boot does the work again.
 */
#define STATE_KEPT_DIR "/var/lib/railhead"
int state_keep(const struct root *root, const char *name, const char *text, struct err *err);
int state_kept(const struct root *root, const char *name, char **ret, struct err *err);
int state_forget(const struct root *root, const char *name, struct err *err);

/*
 * Notices of the verdict for other programs. They are not changes of a plan, because no setting of
 * the machine depends on them, no profile names their paths, and this list is closed. The code that
 * writes the record also writes the notices.
 */
enum notice {
	NOTICE_METRICS,	 /* node_exporter's textfile collector */
	NOTICE_FEATURES, /* node-feature-discovery, source "local" */
	NOTICE_COUNT,
};

const char *notice_path(enum notice notice);
/*
 * Writes text to the notice, with mode 0644; a reader sees the old or the new file. Success without
 * a write if the directory is absent (it is never made) or the notice already holds the text.
 * -EPERM if a user other than root decides where the directory leads (sys/trust.h).
 */
int notice_write(const struct root *root, enum notice notice, const char *text, struct err *err);
/*
 * The same for a text that withdraws the claim of the file. Without room for a new file the old
 * file is overwritten, and if that fails, removed. After an error the claim may still stand (a
 * read-only file system, an immutable file).
 */
int notice_withdraw(const struct root *root, enum notice notice, const char *text, struct err *err);

/*
 * Permits one run at a time: locks STATE_DIR/lock, and waits until deadline (clock_usec). Returns
 * an fd that holds the lock until closed, or -EBUSY with the holder's pid in *err. Children of this
 * process do not hold the lock.
 */
int state_lock(const struct root *root, uint64_t deadline, struct err *err);

/*
 * Whether another process holds the lock; true if this process lacks the permission to know. The
 * holder must not call this, because looking releases the lock (fcntl(2)).
 */
bool state_is_locked(const struct root *root);

/* The kernel's random boot id, 36 characters; "" if unreadable. */
void state_boot_id(const struct root *root, char ret[37]);
