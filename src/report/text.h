/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text in the columns of a terminal. A character is one column, whatever its bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/screen.h"

/* "base.yaml:12" of "/etc/.../base.yaml:12:3". The caller frees. */
char *text_place(const char *origin);
size_t text_width(const char *s);
/* Cuts s to at most `columns` columns; the last ones mark the cut. The caller frees. */
char *text_cut(const char *s, size_t columns, bool utf8);
/*
 * Prints a text behind a label of that width. On a terminal the text is broken within the columns,
 * below its beginning; in a pipe it is one line.
 */
void text_labelled(FILE *out, const struct screen *screen, const char *label, size_t width,
		   const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Breaks lines at blanks; later lines begin with `indent` blanks. A longer word stays whole. */
void text_wrap(FILE *out, const char *s, size_t columns, size_t indent);
