/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * railhead's own files: /run/railhead (per boot), /var/lib/railhead, and the notices: two files
 * with names of railhead's own in directories that other programs have for it. Never the machine's:
 * see machine.h. Below a root that is not "/", everything lands in that root's own directories.
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
/* The same, for root's eyes alone. */
int state_write_private(const struct root *root, const char *name, const char *text,
			struct err *err);
/* The whole text; caller frees. -ENOENT if there is none. */
int state_read(const struct root *root, const char *name, char **ret, struct err *err);
/* Absent is success. */
int state_remove(const struct root *root, const char *name, struct err *err);

/*
 * What one boot leaves for the next: /var/lib/railhead, for root alone. Written as the others are.
 * A file system that is read-only, full or not there is an error, and never more than a loss of
 * time: the next boot does anew what it would have taken from there.
 */
#define STATE_KEPT_DIR "/var/lib/railhead"
int state_keep(const struct root *root, const char *name, const char *text, struct err *err);
int state_kept(const struct root *root, const char *name, char **ret, struct err *err);
int state_forget(const struct root *root, const char *name, struct err *err);

/*
 * What others are told of the verdict. These are no settings of the machine: nothing in it
 * changes by them, no profile names their paths, and the list here is closed. So they are no
 * changes of a plan, and are written by who writes the record.
 */
enum notice {
	NOTICE_METRICS,	 /* node_exporter's textfile collector */
	NOTICE_FEATURES, /* node-feature-discovery, source "local" */
	NOTICE_COUNT,
};

const char *notice_path(enum notice notice);
/*
 * Makes the notice hold text, mode 0644: its reader sees the old file or the new one. Success,
 * and nothing is written, where its directory is absent (none is made) or it holds that text.
 */
int notice_write(const struct root *root, enum notice notice, const char *text, struct err *err);
/*
 * The same for a text that takes back what the file claims. Where there is no room for a new file
 * the old one is overwritten, and where that fails it is removed: an error means that it may claim
 * still (a file system that is read-only, an immutable file).
 */
int notice_withdraw(const struct root *root, enum notice notice, const char *text, struct err *err);

/*
 * One run at a time: a lock on STATE_DIR/lock, waited for until deadline (clock_usec).
 * Returns an fd that holds it until closed, or -EBUSY with the holder's pid in *err. It is
 * this process's: its children do not hold it.
 */
int state_lock(const struct root *root, uint64_t deadline, struct err *err);

/*
 * Whether another process holds that lock; true for who may not know. Never by who holds the lock:
 * looking takes it away (fcntl(2)).
 */
bool state_is_locked(const struct root *root);

/* The kernel's random boot id, 36 characters; "" if it can't be read. */
void state_boot_id(const struct root *root, char ret[37]);
