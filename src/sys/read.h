/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading below the root. Kernel attributes come back without their trailing newline.
 * Every function returns 0 or a negative errno with the path in *err.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "sys/root.h"

/* At most this much of a /proc or /sys file is read; longer ones are -EFBIG. */
#define READ_TEXT_MAX (1u << 20)

/* The whole text, trailing white space cut; the caller frees *ret. */
int read_text(const struct root *root, char **ret, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/*
 * The same of an attribute of sysfs, configfs or /proc/sys, or of another file of one record such
 * as /proc/cmdline, in one read: the kernel formats the whole of it for the first read
 * (Documentation/filesystems/sysfs.rst; single_open() of fs/seq_file.c; proc_sys_call_handler() of
 * fs/proc/proc_sysctl.c), so that a read which leaves room was the last. Not for files of many
 * records, such as /proc/self/mountinfo: there a read ends before a record that finds no room.
 */
int read_attr(const struct root *root, char **ret, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* As read_text() with another limit and nothing cut; *ret_len may be NULL. */
int read_file(const struct root *root, size_t max, char **ret, size_t *ret_len, struct err *err,
	      const char *path);
/* The first max bytes, or all of a shorter file; nothing cut. For /proc/cpuinfo and its like. */
int read_start(const struct root *root, size_t max, char **ret, size_t *ret_len, struct err *err,
	       const char *path);
int read_fd(int fd, size_t max, char **ret, size_t *ret_len);

/* An attribute, as read_attr() reads it: decimal, or hexadecimal with 0x. */
int read_u64(const struct root *root, uint64_t *ret, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
int read_i64(const struct root *root, int64_t *ret, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The link's own text. Caller frees. */
int read_link(const struct root *root, char **ret, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The last component of the link's text: a driver's or device's name. Caller frees. */
int read_link_name(const struct root *root, char **ret, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Names in a directory, sorted by bytes, without "." and "..". Appends to *ret. */
int read_dir(const struct root *root, struct strv *ret, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * Paths that a shell pattern matches below the root, sorted, each with a leading "/".
 * A path without pattern characters matches itself if it exists. Appends to *ret. -E2BIG for
 * a pattern that leads to more than 16384 directories or 65536 paths: links go round.
 */
int read_glob(const struct root *root, const char *pattern, struct strv *ret, struct err *err);
