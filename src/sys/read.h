/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads files below the root, and removes the trailing newline of kernel attributes. Every function
 * returns 0 or a negative errno with the path in *err.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "sys/root.h"

/* Limit for a file of /proc or /sys; longer files give -EFBIG. */
#define READ_TEXT_MAX (1u << 20)

/* The whole text without trailing white space; the caller frees *ret. */
int read_text(const struct root *root, char **ret, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/*
 * The same for an attribute of sysfs, configfs or /proc/sys, or another file with a single record
 * such as /proc/cmdline, in one read. The kernel formats the whole file for the first read
 * (Documentation/filesystems/sysfs.rst; single_open() of fs/seq_file.c; proc_sys_call_handler() of
 * fs/proc/proc_sysctl.c), so a read that leaves room in the buffer was the last. Not for files with
 * many records, such as /proc/self/mountinfo, where a read ends before a record that does not fit.
 */
int read_attr(const struct root *root, char **ret, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Like read_text() with another limit, without cutting; *ret_len may be NULL. */
int read_file(const struct root *root, size_t max, char **ret, size_t *ret_len, struct err *err,
	      const char *path);
/*
 * The first max bytes, or all of a shorter file, without cutting; for files such as /proc/cpuinfo.
 */
int read_start(const struct root *root, size_t max, char **ret, size_t *ret_len, struct err *err,
	       const char *path);
int read_fd(int fd, size_t max, char **ret, size_t *ret_len);
/* The whole file below an open directory, "" if empty; NULL if it can't be read. Caller frees. */
char *read_at(int dir, const char *path, size_t max);

/* Reads an attribute like read_attr(): decimal, or hexadecimal with 0x. */
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
/* The same of the directory `path` below the open directory. 0 or a negative errno. */
int read_dir_at(int dir, const char *path, struct strv *ret);

/*
 * Paths below the root that match a shell pattern, sorted, each with a leading "/". A path without
 * pattern characters matches itself if it exists. Appends to *ret. -E2BIG if a pattern leads to
 * more than 16384 directories or 65536 paths, because links can form cycles.
 */
int read_glob(const struct root *root, const char *pattern, struct strv *ret, struct err *err);
