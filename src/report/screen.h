/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Standard output and standard error. All output goes through one filter, because much of the text
 * is foreign: firmware (DMI strings), drivers, captured trees, the kernel command line. The filter
 * turns escape sequences, other control characters and the invisible characters that change the
 * order of text (Unicode's bidirectional controls) into '?'.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* The properties of standard output. */
struct screen {
	bool terminal;	      /* it is a terminal; in a pipe nothing is folded or cut */
	bool utf8;	      /* of the locale, as LC_ALL, LC_CTYPE or LANG names it */
	unsigned int columns; /* of the terminal; else of $COLUMNS, else 80 */
	unsigned int rows;    /* of the terminal, else 24 */
};

/* Installs the filter on both streams. Call it once, before any output. */
void screen_begin(void);
/* Examines standard output. */
struct screen screen_look(void);

/*
 * auto: on a terminal, unless NO_COLOR is set (no-color.org) or TERM is "dumb". 0, or -EINVAL
 * for any word other than auto, always and never.
 */
int screen_colour(const char *when);

enum style { STYLE_BAD, STYLE_DIFFERS, STYLE_GOOD, STYLE_DIM, STYLE_COUNT };

/* Begin and end text in a style, if colour is on. out: stdout, or a stream of a test. */
void style_begin(FILE *out, enum style style);
void style_end(FILE *out);

/*
 * raw: turns the filter off for JSON and files, because JSON escapes control characters itself and
 * must hold the original text. Returns the previous state.
 */
bool screen_raw(bool raw);

/*
 * Draws a line on standard error's terminal in place of the previous one; output to either stream
 * erases the line first. NULL: erases it.
 */
void screen_draw(const char *line);

/* The same filter over a string, into a new one; the caller frees. */
char *scrub(const char *text);
