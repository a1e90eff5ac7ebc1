/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A growing string. Zero is empty; .s is NUL-terminated after the first addition. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
	char *s;
	size_t len;
	size_t cap;
};

void str_add(struct str *b, const char *s);
void str_addn(struct str *b, const char *s, size_t n);
void str_addf(struct str *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void str_vaddf(struct str *b, const char *fmt, va_list ap);
/* Adds "; " unless the string is empty; str_clause() then adds a clause. */
void str_begin_clause(struct str *b);
void str_clause(struct str *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *str_get(const struct str *b); /* "" when empty, never NULL */
char *str_take(struct str *b);		  /* the caller owns the result; b is empty again */
void str_free(struct str *b);
#define cleanup_str __attribute__((__cleanup__(str_free)))

/* Drops trailing white space in place, such as the newline of a kernel attribute. */
void str_chomp(char *s);
/* s, or "" if s is NULL. */
static inline const char *or_empty(const char *s)
{
	return s ? s : "";
}

bool str_starts(const char *s, const char *prefix);
/* Whether s is longer than suffix, and ends in it. */
bool str_ends(const char *s, const char *suffix);
/* FNV-1a, 32 bits: only for tables in memory, because values are never stored. */
uint32_t str_hash(const char *s);
/* The first `most` characters, with '?' for control characters. Caller frees. */
char *str_printable(const char *s, size_t most);
/*
 * The same in place. For each value from outside that is shown as, or within, one line: a newline
 * in it would forge a line, and other controls act on the terminal.
 */
void str_make_line(char *s);
struct str_word {
	const char *word, *value;
};
/* The text with values for words; NULL if it has a word without a value. Caller frees. */
char *str_expand(const char *text, const struct str_word *words, size_t n);
/* The index of s in list, or -1. */
int str_index(const char *s, const char *const *list, size_t n);
/* The distance between two words (Damerau-Levenshtein, optimal string alignment). */
size_t str_distance(const char *a, const char *b);
/*
 * Whether word may mean known at a smaller distance than *best, which is SIZE_MAX at first; if so,
 * *best becomes that distance.
 */
bool str_is_near(const char *word, const char *known, size_t *best);
