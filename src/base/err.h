/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The error contract, for all of railhead:
 *
 *  - A function that can fail returns int: 0 (or a count), or a negative errno.
 *  - Its last parameter is `struct err *err` (before a format string, if there is one).
 *  - Success leaves *err alone. Failure fills it and leaves every other output alone.
 *  - A caller with more context wraps the error outside-in, so that the one line printed at
 *    the end reads "sriov 0000:3b:00.0: sriov_numvfs: 16 asked, 8 possible: Numerical
 *    result out of range".
 *  - A function either reports (prints, logs) or returns, never both.
 *
 * The error path allocates nothing: the message is a fixed buffer, and a longer message ends in
 * "...". A caller that needs no error may pass NULL.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

#include "base/fault.h"

#define ERR_TEXT_MAX 1024

/*
 * Stands once in a format string, between what happened and what to do: "no room" TO_MEND "use
 * pci=realloc". The text gets "; ", and err.mend the place of the remedy.
 */
#define TO_MEND "; " ERR_MARK
#define ERR_MARK "\x1f" /* never left in a text */

struct err {
	int code;		 /* negative errno of the innermost failure */
	enum fault fault;	 /* set by err_fault() */
	unsigned int mend;	 /* where in text the remedy begins; 0: it has none */
	char text[ERR_TEXT_MAX]; /* "context: context: what happened" */
};

/* Sets the message; returns code (a negative errno), for use as `return err_set(...)`. */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/*
 * The text of a negative errno, as of strerror(3), but "is not a regular file" for -EBADFD, which
 * railhead uses for that (sys/root.h), as systemd does. Static.
 */
const char *err_text(int code);

/* Like err_set(), with ": " and err_text(code) appended. */
int err_errno(struct err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The sentence for -errno about a path that a user gave: "No such file or directory; check the
 * path". Static, or the text of strerror().
 */
const char *err_of_path(int code);
/* Sets "path: " and the sentence of err_of_path(). Returns code. */
int err_path(struct err *err, int code, const char *path);

/* Copies the message and the fault of *from, with the given code. Returns code. */
int err_copy(struct err *err, int code, const struct err *from);

/* Assigns a fault to the failure that was just set. Returns code. */
int err_fault(struct err *err, int code, enum fault fault);

/*
 * Takes the mark of TO_MEND out of a text that was made with that format. Returns where the remedy
 * begins; 0: it has none.
 */
unsigned int err_take_mark(char *text, const char *fmt);

/*
 * Puts "why: " in front of the message. why may have TO_MEND; its remedy then ends the message.
 * Returns the code.
 */
int err_explain(struct err *err, const char *why);
/* The length of the text before a remedy that begins at mend. */
size_t err_len_before(unsigned int mend);

/* Puts "context: " before the message. Returns err->code. */
int err_wrap(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
