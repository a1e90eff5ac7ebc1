/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/diag.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* Cap the count: a garbage file would otherwise produce one diagnostic per key. */
enum { DIAGS_MAX = 500 };

/*
 * Replaces control characters, because text from a file may contain any of them: a problem must
 * stay on one line and must not control the terminal.
 */
static void tame(char *s)
{
	for (; *s; s++) {
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = '?';
		/* U+0080 to U+009F: the C1 controls, among them the short form of ESC [ */
		else if ((unsigned char)s[0] == 0xc2 && ((unsigned char)s[1] & 0xe0) == 0x80)
			s[0] = s[1] = '?';
	}
}

static void push(struct diags *d, bool warning, struct place at, const char *key, char *text)
{
	struct diag one = {
		.at = at,
		.key = xstrdup(key),
		.text = text,
		.code = d->code ?: "invalid",
		.warning = warning,
	};

	/* The tree and its profile may be gone before the message is printed. */
	one.at.file = xstrdup(at.file ? at.file : "");
	tame(one.key);
	tame(one.text);
	vec_push(&d->list, one);
}

static void add(struct diags *d, bool warning, struct place at, const char *key, const char *fmt,
		va_list ap)
{
	d->errors += !warning;
	if (d->list.n > DIAGS_MAX)
		return;
	if (d->list.n == DIAGS_MAX) {
		push(d, warning, (struct place){.file = at.file}, "",
		     xstrdup("more problems than can be listed; fix these first"));
		return;
	}
	push(d, warning, at, key, xvasprintf(fmt, ap));
}

void diag_error(struct diags *d, struct place at, const char *key, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(d, false, at, key, fmt, ap);
	va_end(ap);
}

void diag_warn(struct diags *d, struct place at, const char *key, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(d, true, at, key, fmt, ap);
	va_end(ap);
}

void diag_copy(struct diags *d, const struct diag *of)
{
	const char *was = d->code;

	d->code = of->code;
	if (of->warning)
		diag_warn(d, of->at, of->key, "%s", of->text);
	else
		diag_error(d, of->at, of->key, "%s", of->text);
	d->code = was;
}

/* --- in order ----------------------------------------------------------------------------- */

static int by_place(const void *va, const void *vb, void *data)
{
	const struct diag *a = va, *b = vb;
	const char *first = data;
	int r = streq(b->at.file, first) - streq(a->at.file, first);

	r = r ?: strcmp(a->at.file, b->at.file);
	r = r ?: (a->at.line > b->at.line) - (a->at.line < b->at.line);
	r = r ?: (a->at.col > b->at.col) - (a->at.col < b->at.col);
	r = r ?: a->warning - b->warning;
	r = r ?: strcmp(a->key, b->key);
	return r ?: strcmp(a->text, b->text);
}

static void diag_free(struct diag *d)
{
	free((char *)d->at.file);
	free(d->key);
	free(d->text);
}

/* Whether one of the first n has the same sentence about the same place; errors come first. */
static bool is_said(const struct diags *d, size_t n, const struct diag *one)
{
	while (n-- > 0) {
		const struct diag *a = &d->list.v[n];

		if (a->at.line != one->at.line || a->at.col != one->at.col ||
		    !streq(a->at.file, one->at.file))
			return false;
		if (streq(a->key, one->key) && streq(a->text, one->text))
			return true;
	}
	return false;
}

void diags_sort(struct diags *d, const char *first)
{
	size_t n = 0;

	if (!d->list.n)
		return;
	qsort_r(d->list.v, d->list.n, sizeof(*d->list.v), by_place, (void *)first);
	for (size_t i = 0; i < d->list.n; i++) {
		if (is_said(d, n, &d->list.v[i])) {
			d->errors -= !d->list.v[i].warning;
			diag_free(&d->list.v[i]);
		} else {
			d->list.v[n++] = d->list.v[i];
		}
	}
	d->list.n = n;
}

/* --- as text ------------------------------------------------------------------------------ */

/* Skips a text in quotes, which may contain anything: "'a; b' is not ...". */
static const char *past_quoted(const char *p)
{
	const char *end = strchr(p + 1, '\'');

	while (end && isalnum((unsigned char)end[1]))
		end = strchr(end + 1, '\'');
	return end ? end : p;
}

const char *diag_remedy(const struct diag *d)
{
	const char *remedy = NULL;

	for (const char *p = d->text; *p; p++) {
		if (*p == '\'' && (p == d->text || strchr(" (=", p[-1])))
			p = past_quoted(p);
		else if (p[0] == ';' && p[1] == ' ')
			remedy = p + 2;
	}
	return remedy;
}

char *diag_format(const struct diag *d)
{
	struct str out = {0};

	str_add(&out, d->at.file);
	if (d->at.line)
		str_addf(&out, ":%u:%u", d->at.line, d->at.col);
	if (d->warning)
		str_add(&out, ": warning");
	if (*d->key)
		str_addf(&out, ": %s", d->key);
	str_addf(&out, ": %s", d->text);
	return str_take(&out);
}

void diags_free(struct diags *d)
{
	for (size_t i = 0; i < d->list.n; i++)
		diag_free(&d->list.v[i]);
	vec_free(&d->list);
	d->errors = 0;
}
