/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text in the columns of a terminal. A character is one column, whatever its bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* "base.yaml:12" of "/etc/.../base.yaml:12:3". The caller frees. */
char *text_place(const char *origin);
size_t text_width(const char *s);
/* Cuts s to at most `columns` columns; the last ones mark the cut. The caller frees. */
char *text_cut(const char *s, size_t columns, bool utf8);
/*
 * TEXT behind a label of that width; broken within the columns, below TEXT. columns 0: on one line,
 * as in a pipe.
 */
void text_labelled(FILE *out, const char *label, size_t width, const char *text, size_t columns);
/* Breaks lines at blanks; later lines begin with `indent` blanks. A longer word stays whole. */
void text_wrap(FILE *out, const char *s, size_t columns, size_t indent);
