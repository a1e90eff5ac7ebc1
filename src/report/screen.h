/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Standard output and standard error. All that is printed goes through one filter, since much of it
 * was written by others: firmware (DMI strings), drivers, captured trees, the kernel command line.
 * Escape sequences, other control characters and the invisible characters that change the order of
 * text (Unicode's bidirectional controls) come out as '?'.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* What people get to see, and on what. */
struct screen {
	bool terminal;	      /* standard output is one; in a pipe nothing is folded or cut */
	bool utf8;	      /* of the locale, as LC_ALL, LC_CTYPE or LANG names it */
	unsigned int columns; /* of the terminal; else of $COLUMNS, else 80 */
	unsigned int rows;    /* of the terminal, else 24 */
};

/* Lays the filter over both streams. Once, before anything is printed. */
void screen_begin(void);
/* What standard output is. */
struct screen screen_look(void);

/*
 * auto: on a terminal, unless NO_COLOR is set (no-color.org) or TERM is "dumb". 0, or -EINVAL of
 * another word than auto, always and never.
 */
int screen_colour(const char *when);

enum style { STYLE_BAD, STYLE_DIFFERS, STYLE_GOOD, STYLE_DIM, STYLE_COUNT };

/* Between the two, text is in that style, where there is colour. out: stdout, or a stream of a
 * test. */
void style_begin(FILE *out, enum style style);
void style_end(FILE *out);

/*
 * JSON and files pass as they are: JSON escapes control characters itself, and must hold what was
 * found. Returns what it was before.
 */
bool screen_raw(bool raw);

/*
 * A line on standard error's terminal in place of the one drawn before; what is printed by either
 * stream erases it first. NULL: it goes.
 */
void screen_draw(const char *line);

/* The same filter over a string, into a new one; the caller frees. */
char *scrub(const char *text);
