/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines with two values for people at a terminal: found and wanted, or one side and the other.
 */
#pragma once

#include <stdio.h>

#include "engine/record.h"
#include "report/screen.h"

struct side_line {
	const char *label;	  /* "differs" */
	const char *id;		  /* fold.h */
	const char *left, *right; /* right NULL: only left */
	char *reason;		  /* or NULL */
	char *place;		  /* "sku.yaml:9"; or NULL */
};

struct sides {
	VEC(struct side_line) list;
	bool all_places; /* a place without room in its line goes below */
};

void sides_free(struct sides *lines);
/*
 * Equal lines of several members of those sets become one; values are cut to the screen's width,
 * and the reasons follow below. Prints at most `most` lines, of which the last counts the rest, and
 * a third as many reasons.
 */
void sides_render(FILE *out, const struct sides *lines, const struct record_sets *sets,
		  const struct screen *screen, size_t most);
/* Prints a whole line, as in a pipe, without its place. */
void sides_print_whole(FILE *out, const struct side_line *line);
