/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * railhead's own files: /run/railhead (per boot). Never the machine's: see machine.h.
 * Below a root that is not "/", everything lands in that root's run/railhead.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sys/root.h"

#define STATE_DIR "/run/railhead"

/* Replaces STATE_DIR/name: temporary file, fsync, rename, fsync of the directory. */
int state_write(const struct root *root, const char *name, const char *text, struct err *err);
/* The whole text; caller frees. -ENOENT if there is none. */
int state_read(const struct root *root, const char *name, char **ret, struct err *err);
/* Absent is success. */
int state_remove(const struct root *root, const char *name, struct err *err);

/*
 * One run at a time: a lock on STATE_DIR/lock, waited for until deadline (clock_usec).
 * Returns an fd that holds it until closed, or -EBUSY with the holder's pid in *err. It is
 * this process's: its children do not hold it.
 */
int state_lock(const struct root *root, uint64_t deadline, struct err *err);

/* The kernel's random boot id, 36 characters; "" if it can't be read. */
void state_boot_id(const struct root *root, char ret[37]);
