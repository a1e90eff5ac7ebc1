/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's log, by /dev/kmsg (Documentation/ABI/testing/dev-kmsg). Its records have consecutive
 * numbers, so a reader knows which records the ring buffer has lost; `dmesg --clear` hides none.
 * Users choose parts of many records (names of files, processes, cgroups), but not the beginning of
 * a record: a newline inside a record is escaped.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "sys/root.h"

struct kernel_record {
	uint64_t seq; /* the first record of a boot has 0 */
	char *text;   /* control characters and backslashes are escaped: "\x0a" */
};

struct kernel_log {
	const struct root *root;
	const char *begin; /* only records that begin with this text are kept */
	int fd;
	bool empty;	      /* no record was read */
	uint64_t first, next; /* the numbers of the first record read, and of the next one */
	uint64_t lost;	      /* records that nobody looked at before the kernel overwrote them */
	uint64_t seen;	      /* earlier runs of this boot looked at the records before this one */
	uint64_t hold;	      /* kernel_log_save() */
	VEC(struct kernel_record) records;
};

/* begin: a static text. The caller frees the result with kernel_log_free(), which takes NULL. */
struct kernel_log *kernel_log_new(const struct root *root, const char *begin);
void kernel_log_free(struct kernel_log *log);

/*
 * Reads the records of the kernel itself (facility 0) that came since the last call, without
 * waiting. The first call begins where kernel_log_save() of an earlier run in this boot ended, if
 * the log still reaches back to there, and counts the records between as lost. A captured tree may
 * have the records as a file. -ENOENT: no log; -ENODATA: a log without a record; -EPERM: no
 * CAP_SYSLOG where kernel.dmesg_restrict is set; -EBUSY: records come faster than they are read;
 * -EBADMSG: a captured tree's file holds no lines of text.
 */
int kernel_log_read(struct kernel_log *log, struct err *err);

/*
 * Saves for later runs of this boot how far the log was looked at, so that records which are
 * overwritten later count as seen. No-op if nothing was read, or if records were lost. Hold first
 * each record that must be found again: while held, its loss is a loss.
 */
int kernel_log_save(const struct kernel_log *log, struct err *err);
void kernel_log_hold(struct kernel_log *log, uint64_t seq);
