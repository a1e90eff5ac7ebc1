/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/str.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static void reserve(struct str *b, size_t more)
{
	size_t need = b->len + more + 1;

	if (need <= b->cap)
		return;
	b->cap = need < 64 ? 64 : need * 2;
	b->s = xrealloc(b->s, b->cap, 1);
}

void str_addn(struct str *b, const char *s, size_t n)
{
	reserve(b, n);
	memcpy(b->s + b->len, s, n);
	b->len += n;
	b->s[b->len] = '\0';
}

void str_add(struct str *b, const char *s)
{
	str_addn(b, s, strlen(s));
}

void str_vaddf(struct str *b, const char *fmt, va_list ap)
{
	size_t room = b->cap - b->len;
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(room ? b->s + b->len : NULL, room, fmt, ap);
	if (n > 0 && (size_t)n >= room) {
		reserve(b, (size_t)n);
		vsnprintf(b->s + b->len, (size_t)n + 1, fmt, again);
	}
	va_end(again);
	if (n > 0)
		b->len += (size_t)n;
	else if (room)
		b->s[b->len] = '\0';
}

void str_addf(struct str *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(b, fmt, ap);
	va_end(ap);
}

const char *str_get(const struct str *b)
{
	return b->s ? b->s : "";
}

char *str_take(struct str *b)
{
	char *s = b->s ? b->s : xstrdup("");

	memset(b, 0, sizeof(*b));
	return s;
}

void str_free(struct str *b)
{
	free(b->s);
	memset(b, 0, sizeof(*b));
}

void str_chomp(char *s)
{
	size_t n = strlen(s);

	while (n && isspace((unsigned char)s[n - 1]))
		s[--n] = '\0';
}

char *str_expand(const char *text, const struct str_word *words, size_t n)
{
	struct str ret = {0};

	while (*text) {
		size_t i = 0;

		while (i < n && !str_starts(text, words[i].word))
			i++;
		if (i < n && !words[i].value) {
			str_free(&ret);
			return NULL;
		}
		str_addn(&ret, i < n ? words[i].value : text, i < n ? strlen(words[i].value) : 1);
		text += i < n ? strlen(words[i].word) : 1;
	}
	return str_take(&ret);
}

int str_index(const char *s, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], s) == 0)
			return (int)i;
	return -1;
}

void str_begin_clause(struct str *b)
{
	if (b->len)
		str_add(b, "; ");
}

void str_clause(struct str *b, const char *fmt, ...)
{
	va_list ap;

	str_begin_clause(b);
	va_start(ap, fmt);
	str_vaddf(b, fmt, ap);
	va_end(ap);
}

uint32_t str_hash(const char *s)
{
	uint32_t hash = 2166136261;

	while (*s)
		hash = (hash ^ (unsigned char)*s++) * 16777619;
	return hash;
}

bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
	size_t len = strlen(s), tail = strlen(suffix);

	return len > tail && strcmp(s + len - tail, suffix) == 0;
}

char *str_printable(const char *s, size_t most)
{
	char *copy = xstrndup(s, most);

	str_make_line(copy);
	return copy;
}

void str_make_line(char *s)
{
	for (; *s; s++)
		if (iscntrl((unsigned char)*s))
			*s = '?';
}

size_t str_distance(const char *a, const char *b)
{
	enum { MAX = 64 }; /* keys are short; longer words are never near */
	size_t la = strlen(a), lb = strlen(b);
	size_t d[3][MAX + 1];

	if (la > MAX || lb > MAX)
		return MAX;
	for (size_t j = 0; j <= lb; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t *row = d[i % 3], *up = d[(i - 1) % 3], *up2 = d[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			size_t cost = a[i - 1] != b[j - 1];
			size_t best = up[j - 1] + cost;

			if (up[j] + 1 < best)
				best = up[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    up2[j - 2] + 1 < best)
				best = up2[j - 2] + 1;
			row[j] = best;
		}
	}
	return d[la % 3][lb];
}

bool str_is_near(const char *word, const char *known, size_t *best)
{
	size_t len = strlen(word), of_known = strlen(known);
	size_t limit = len / 3 > 2 ? len / 3 : len > 3 ? 2 : 1;
	size_t d;

	/* The distance is at least the difference of the lengths. */
	if (of_known > len + limit || len > of_known + limit)
		return false;
	d = str_distance(word, known);
	/* Two changes turn almost any word of three letters into almost any other. */
	if (d > limit || d >= len || d >= of_known || d >= *best)
		return false;
	*best = d;
	return true;
}
