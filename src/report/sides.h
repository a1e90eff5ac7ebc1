/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of two values, as people read them on a terminal: what is found and what is wanted, or what
 * is on one side and on the other.
 */
#pragma once

#include <stdio.h>

#include "engine/record.h"
#include "report/screen.h"

struct side_line {
	const char *label;	  /* "differs" */
	const char *id;		  /* fold.h */
	const char *left, *right; /* right NULL: left is all */
	char *reason;		  /* or NULL */
	char *place;		  /* "sku.yaml:9"; or NULL */
};

struct sides {
	VEC(struct side_line) list;
	bool all_places; /* one that the line has no room for stands below */
};

void sides_free(struct sides *lines);
/*
 * Lines that say the same of several members of those sets become one; values are cut to the
 * screen's width, and the reasons follow below. At most so many lines, the last of which counts the
 * others, and a third as many reasons.
 */
void sides_render(FILE *out, const struct sides *lines, const struct record_sets *sets,
		  const struct screen *screen, size_t most);
/* A line whole, as in a pipe: without its place. */
void sides_print_whole(FILE *out, const struct side_line *line);
