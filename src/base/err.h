/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The error contract, for all of railhead:
 *
 *  - A function that can fail returns int: 0 (or a count), or a negative errno.
 *  - Its last parameter is `struct err *err` (before a format string, if there is one).
 *  - Success leaves *err alone. Failure fills it and leaves every other output alone.
 *  - A caller that knows more wraps the error outside-in, so that the one line printed at
 *    the end reads "sriov 0000:3b:00.0: sriov_numvfs: 16 asked, 8 possible: Numerical
 *    result out of range".
 *  - A function either reports (prints, logs) or returns, never both.
 *
 * There is no allocation on the error path: the message is a fixed buffer, cut with "…"
 * when it is too long. A NULL err is allowed where the caller does not care.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

#include "base/fault.h"

#define ERR_TEXT_MAX 1024

struct err {
	int code;		 /* negative errno of the innermost failure */
	enum fault fault;	 /* which one that is, where err_fault() said so */
	char text[ERR_TEXT_MAX]; /* "context: context: what happened" */
};

/* Sets the message; returns code (a negative errno), so that `return err_set(...)` works. */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The same, with ": " and strerror(-code) appended. */
int err_errno(struct err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The sentence about a path that a person gave, from -errno: "No such file or directory; check the
 * path". Static, or that of strerror().
 */
const char *err_of_path(int code);
/* Sets "path: " and that sentence. Returns code. */
int err_path(struct err *err, int code, const char *path);

/* The same failure as *from, under that code. Returns code. */
int err_copy(struct err *err, int code, const struct err *from);

/* Says which fault the failure is that was just set. Returns code. */
int err_fault(struct err *err, int code, enum fault fault);

/* Puts "context: " before the message. Returns err->code. */
int err_wrap(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
