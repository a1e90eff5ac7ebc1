/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of text: aligned columns with a heading on a terminal; in a pipe one line per row,
 * cells separated by tabs, the table's name first and no heading, for awk -F'\t'.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/vec.h"

struct table {
	const char *name;	    /* "condition" */
	const char *const *heading; /* NULL-terminated; its length is the number of columns */
	VEC(struct strv) rows;
};

/* Adds a row of as many cells as the heading has; NULL counts as "". */
void table_row(struct table *t, const char *const *cells);
#define table_add(t, ...) table_row((t), (const char *const[]){__VA_ARGS__})
/* aligned: out is a terminal, as the caller found by isatty(). */
void table_print(FILE *out, const struct table *t, bool aligned);
void table_free(struct table *t);
