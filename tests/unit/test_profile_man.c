/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page of railhead.conf(5) and its table say the same: each key of the table is an item of the
 * page with its words and its range, and no item is there that the table has not. KEYS of
 * railhead.profile(5) is made of the tables (tests/lint/keys).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "profile/keypath.h"
#include "profile/schema.h"
#include "profile/value.h"

struct item {
	char *path;
	struct str body; /* what stands below it */
	bool seen;
};

struct page {
	VEC(struct item) items;
	size_t missing;
};

/* "qos.SET.pfc" -> "qos.*.pfc" */
static char *as_path(const char *text)
{
	struct str out = {0};

	while (*text) {
		size_t len = isupper((unsigned char)*text)
				     ? strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_")
				     : strcspn(text, ".");

		if (isupper((unsigned char)*text))
			str_add(&out, "*");
		else
			str_addn(&out, text, len);
		text += len;
		if (*text)
			str_addn(&out, text++, 1);
	}
	return str_take(&out);
}

static void read_page(struct page *p, const char *file)
{
	FILE *f = fopen(file, "r");
	char line[1024];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		struct item item = {0};

		str_chomp(line);
		if (str_starts(line, ".Sh "))
			vec_push(&p->items, item); /* ends the last one */
		if (!str_starts(line, ".It Cm ")) {
			if (p->items.n)
				str_addf(&p->items.v[p->items.n - 1].body, "%s ", line);
			continue;
		}
		item.path = as_path(line + strlen(".It Cm "));
		vec_push(&p->items, item);
	}
	fclose(f);
}

static struct item *find(struct page *p, const char *path)
{
	for (size_t i = 0; i < p->items.n; i++)
		if (p->items.v[i].path && streq(p->items.v[i].path, path))
			return &p->items.v[i];
	return NULL;
}

static void want_text(struct page *p, const struct item *item, const char *text)
{
	if (strstr(str_get(&item->body), text))
		return;
	print_message("%s: the page does not say %s of it\n", item->path, text);
	p->missing++;
}

static void want_scalar(struct page *p, const struct item *item, const struct spec *s)
{
	const char *word;

	for (size_t i = 0; (word = spec_word(s, i)); i++)
		want_text(p, item, word);
	if (s->check == value_int && s->max) {
		char *range = xasprintf("%lld to %lld", (long long)s->min, (long long)s->max);

		want_text(p, item, range);
		free(range);
	}
}

static void walk(struct page *p, const struct spec *s, struct str *path);

static void walk_map(struct page *p, const struct spec *s, struct str *path)
{
	for (const struct field *f = s->fields; f->name; f++) {
		size_t was = keypath_key(path, f->name);

		walk(p, f->spec, path);
		keypath_back(path, was);
	}
}

/* An item for each value; maps of known keys are there by their keys. */
static void walk(struct page *p, const struct spec *s, struct str *path)
{
	struct item *item = path->len ? find(p, str_get(path)) : NULL;
	size_t was = path->len;

	if (!s)
		return;
	if (item)
		item->seen = true;
	if (!item && s->kind != SPEC_MAP && s->kind != SPEC_MAP_OF) {
		print_message("no item '.It Cm %s' in the page\n", str_get(path));
		p->missing++;
	}
	if (s->kind == SPEC_SCALAR && item)
		want_scalar(p, item, s);
	if (s->kind == SPEC_MAP)
		walk_map(p, s, path);
	if (s->kind == SPEC_LIST && s->item->kind == SPEC_SCALAR && item)
		want_scalar(p, item, s->item);
	if (s->kind == SPEC_LIST && s->item->kind == SPEC_MAP) {
		str_add(path, "[]");
		walk_map(p, s->item, path);
		keypath_back(path, was);
	}
	if (s->kind == SPEC_MAP_OF) {
		keypath_key(path, "*");
		walk(p, s->item, path);
		keypath_back(path, was);
	}
	if (s->kind == SPEC_EITHER && item && s->scalar)
		want_scalar(p, item, s->scalar);
}

static void agree(const char *file, const struct spec *table, size_t least)
{
	struct page p = {0};
	struct str path = {0};

	read_page(&p, file);
	assert_true(p.items.n > least);
	walk(&p, table, &path);
	for (size_t i = 0; i < p.items.n; i++) {
		struct item *item = &p.items.v[i];

		if (item->path && !item->seen) {
			print_message("item '%s' of %s: no such key\n", item->path, file);
			p.missing++;
		}
		free(item->path);
		str_free(&item->body);
	}
	vec_free(&p.items);
	str_free(&path);
	assert_int_equal(p.missing, 0);
}

static void the_page_of_the_site(void **state)
{
	(void)state;
	agree("packaging/man/railhead.conf.5", &schema_site, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_page_of_the_site),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
