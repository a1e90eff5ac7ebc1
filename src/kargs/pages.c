/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kargs/pages.h"

#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "kargs/token.h"

void pages_free(struct pages *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->of[i].count);
	free(p->def_count);
}

/* As memparse(), for the sizes that exist; 0 for other text. */
static uint64_t page_size(const struct token *t)
{
	cleanup_free char *s = xstrndup(t->value ? t->value : "", t->value_len);
	char *end;
	uint64_t n = strtoull(s, &end, 0);

	return n << size_shift(*end);
}

static int pages_find(const struct pages *p, uint64_t size)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->of[i].size == size)
			return (int)i;
	return -1;
}

static bool size_is_one(uint64_t size)
{
	return size && !(size & (size - 1));
}

/* As hugetlb_add_hstate(): counts do not go to a size that is there already. */
static void pages_add(struct pages *p, uint64_t size)
{
	p->valid = true;
	if (pages_find(p, size) >= 0)
		return;
	if (p->n == PAGE_SIZES_MAX) {
		p->valid = false;
		return;
	}
	p->cur = (int)p->n++;
	p->of[p->cur].size = size;
}

/* Whether any node of "32" or "0:32,1:0" gets pages. */
static bool any_pages(const char *count)
{
	while (count) {
		const char *comma = strchr(count, ','), *colon = strchr(count, ':');

		if (strtoull(colon && (!comma || colon < comma) ? colon + 1 : count, NULL, 10))
			return true;
		count = comma ? comma + 1 : NULL;
	}
	return false;
}

static void pages_hugepagesz(struct pages *p, uint64_t size)
{
	int i = pages_find(p, size);

	p->valid = false;
	if (!size_is_one(size))
		return;
	if (i < 0) {
		pages_add(p, size);
	} else if (size == p->def && !any_pages(p->of[i].count)) {
		/* Repeating the default size is fine as long as it has no pages. */
		p->cur = i;
		p->valid = true;
	}
}

static void pages_default(struct pages *p, uint64_t size)
{
	int i;

	p->valid = false;
	if (p->def || !size_is_one(size))
		return;
	pages_add(p, size);
	i = pages_find(p, size);
	if (i < 0)
		return;
	p->def = size;
	if (any_pages(p->def_count)) {
		free(p->of[i].count);
		p->of[i].count = take_ptr(p->def_count);
	}
}

static void pages_count(struct pages *p, const struct token *t)
{
	char **count = p->cur < 0 ? &p->def_count : &p->of[p->cur].count;

	if (p->valid && p->cur != p->last) {
		free(*count);
		*count = xstrndup(t->value, t->value_len);
		p->last = p->cur;
	}
	p->valid = true;
}

void pages_parse(struct pages *p, const struct kargs *l)
{
	*p = (struct pages){.cur = PAGES_OF_DEFAULT, .last = PAGES_OF_NONE, .valid = true};
	for (size_t i = 0; i < l->n; i++) {
		struct token t = token_of(l->v[i].text);

		if (!t.value)
			continue;
		if (token_named(&t, "hugepagesz"))
			pages_hugepagesz(p, page_size(&t));
		else if (token_named(&t, "default_hugepagesz"))
			pages_default(p, page_size(&t));
		else if (token_named(&t, "hugepages"))
			pages_count(p, &t);
	}
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? streq(a, b) : a == b;
}

const char *pages_of(const struct pages *p, uint64_t size)
{
	int i = pages_find(p, size);

	if (i < 0)
		return NULL;
	return p->of[i].count ? p->of[i].count : "";
}

void pages_compare(const struct kargs *l, const struct pages *other, struct kargs *ret)
{
	struct pages mine;
	uint64_t size = 0;

	pages_parse(&mine, l);
	for (size_t i = 0; i < l->n; i++) {
		struct token t = token_of(l->v[i].text);
		bool right = true;

		if (token_rule(&t) != KARG_PAGES)
			continue;
		if (token_named(&t, "hugepages")) {
			right = size ? same_text(pages_of(&mine, size), pages_of(other, size))
				     : same_text(mine.def_count, other->def_count);
		} else {
			size = page_size(&t);
			if (token_named(&t, "default_hugepagesz"))
				right = other->def == size;
			else
				right = same_text(pages_of(&mine, size), pages_of(other, size));
		}
		if (!right)
			kargs_add(ret, l->v[i].text, l->v[i].origin);
	}
	pages_free(&mine);
}
