/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/diag.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/str.h"

/* Nobody reads more, and a file of garbage would give one for each of its keys. */
enum { DIAGS_MAX = 500 };

/*
 * Text from a file may hold anything that YAML can escape: one problem must stay one line,
 * and no terminal may be steered by it.
 */
static void tame(char *s)
{
	for (; *s; s++) {
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = '?';
		/* U+0080 to U+009F, among which is what ESC [ is short for */
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
	struct str text = {0};

	d->errors += !warning;
	if (d->list.n > DIAGS_MAX)
		return;
	if (d->list.n == DIAGS_MAX) {
		push(d, warning, (struct place){.file = at.file}, "",
		     xstrdup("more problems than can be listed; mend these first"));
		return;
	}
	str_vaddf(&text, fmt, ap);
	push(d, warning, at, key, str_take(&text));
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
	for (size_t i = 0; i < d->list.n; i++) {
		free((char *)d->list.v[i].at.file);
		free(d->list.v[i].key);
		free(d->list.v[i].text);
	}
	vec_free(&d->list);
	d->errors = 0;
}
