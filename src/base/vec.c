/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/vec.h"

#include "base/str.h"

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void strv_add(struct strv *l, const char *s)
{
	vec_push(l, xstrdup(s));
}

void strv_sort(struct strv *l)
{
	if (l->n > 1)
		qsort(l->v, l->n, sizeof(*l->v), by_bytes);
}

int strv_contains(const struct strv *l, const char *s)
{
	for (size_t i = 0; i < l->n; i++)
		if (streq(l->v[i], s))
			return 1;
	return 0;
}

char *strv_some(const struct strv *l, size_t most)
{
	struct str text = {0};

	for (size_t i = 0; i < l->n && i < most; i++)
		str_addf(&text, "%s%s", i ? ", " : "", l->v[i]);
	if (l->n > most)
		str_addf(&text, " and %zu more", l->n - most);
	return str_take(&text);
}

void strv_free(struct strv *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	vec_free(l);
}
