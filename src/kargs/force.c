/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares arguments with a command line: which are in force, and which are contradicted. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/words.h"
#include "kargs/pages.h"
#include "kargs/token.h"

/* --- comma lists ----------------------------------------------------------------------- */

static void token_items(const struct token *t, struct strv *ret)
{
	const char *p = t->value, *end = p + t->value_len;

	while (p <= end) {
		const char *comma = memchr(p, ',', (size_t)(end - p));
		const char *stop = comma ? comma : end;
		cleanup_free char *item = xstrndup(p, (size_t)(stop - p));

		if (*item)
			strv_add(ret, item);
		p = stop + 1;
	}
}

static bool item_in_force(const struct strv *items, const char *item)
{
	bool on = false;

	for (size_t i = 0; i < items->n; i++) {
		if (streq(items->v[i], item))
			on = true;
		else if (words_oppose(items->v[i], item))
			on = false;
	}
	return on;
}

/* All occurrences of a key form one list, in their order. */
static bool list_in_force(const struct kargs *line, const struct token *t)
{
	cleanup_strv struct strv have = {0}, want = {0};
	bool there = false;

	for (size_t i = 0; i < line->n; i++) {
		struct token other = token_of(line->v[i].text);

		if (!other.value || !token_name_is(&other, t->name, t->name_len))
			continue;
		token_items(&other, &have);
		there = true;
	}
	token_items(t, &want);
	for (size_t i = 0; i < want.n; i++)
		if (!item_in_force(&have, want.v[i]))
			return false;
	return there;
}

/* --- in force ---------------------------------------------------------------------------- */

static bool has_equal(const struct kargs *l, const char *text)
{
	for (size_t i = 0; i < l->n; i++)
		if (karg_equal(l->v[i].text, text))
			return true;
	return false;
}

/* "mod.param" means "mod.param=1": for such keys an occurrence without a value wins too. */
static bool assigns(const struct token *t, const struct token *like)
{
	return (t->value || token_is_param(t)) && token_name_is(t, like->name, like->name_len);
}

static bool last_is(const struct kargs *line, const struct token *t)
{
	for (size_t i = line->n; i > 0; i--) {
		struct token have = token_of(line->v[i - 1].text);

		if (assigns(&have, t))
			return token_value_same(&have, t);
	}
	return false;
}

static bool first_is(const struct kargs *line, const struct token *t)
{
	for (size_t i = 0; i < line->n; i++) {
		struct token have = token_of(line->v[i].text);

		if (have.value && token_name_is(&have, t->name, t->name_len))
			return token_value_same(&have, t);
	}
	return false;
}

/* ",cma" adds to a plain crashkernel=; ",high" and ",low" are read only without a plain one. */
static bool leaves_void(const char *kind, const char *of)
{
	return !*kind && (streq(of, ",high") || streq(of, ",low"));
}

static bool last_of_kind_is(const struct kargs *line, const struct token *t)
{
	const char *kind = token_kind(t);
	bool found = false, same = false;

	for (size_t i = line->n; i > 0; i--) {
		struct token have = token_of(line->v[i - 1].text);

		if (!have.value || !token_name_is(&have, t->name, t->name_len))
			continue;
		if (leaves_void(token_kind(&have), kind))
			return false;
		if (found || !streq(token_kind(&have), kind))
			continue;
		found = true;
		same = token_value_same(&have, t);
	}
	return same;
}

static bool in_force(const struct kargs *line, const char *text)
{
	struct token t = token_of(text);

	switch (token_rule(&t)) {
	case KARG_LAST:
		return last_is(line, &t);
	case KARG_FIRST:
		return first_is(line, &t);
	case KARG_KIND:
		return last_of_kind_is(line, &t);
	case KARG_LIST:
		return list_in_force(line, &t);
	case KARG_FLAG:
		return token_is_param(&t) ? last_is(line, &t) : has_equal(line, text);
	case KARG_EACH:
	case KARG_PAGES:
		break;
	}
	return has_equal(line, text);
}

bool kargs_has(const char *cmdline, const char *token)
{
	cleanup_kargs struct kargs line = {0};

	kargs_split(&line, cmdline, NULL);
	return in_force(&line, token);
}

void kargs_missing(const struct kargs *l, const char *cmdline, struct kargs *ret)
{
	cleanup_kargs struct kargs line = {0};
	cleanup_pages struct pages pages = {0};

	kargs_split(&line, cmdline, NULL);
	pages_parse(&pages, &line);
	for (size_t i = 0; i < l->n; i++)
		if (karg_rule(l->v[i].text) != KARG_PAGES && !in_force(&line, l->v[i].text))
			kargs_add(ret, l->v[i].text, l->v[i].origin);
	pages_compare(l, &pages, ret);
}

void kargs_dropped(const struct kargs *owned, const struct kargs *wanted, const char *cmdline,
		   struct kargs *ret)
{
	cleanup_kargs struct kargs line = {0}, pages_dropped = {0};
	cleanup_pages struct pages pages = {0};

	if (kargs_same(owned, wanted))
		return; /* also where sizes of pages contradict each other */
	kargs_split(&line, cmdline, NULL);
	for (size_t i = 0; i < owned->n; i++) {
		const char *text = owned->v[i].text;
		struct token t = token_of(text);
		enum karg_rule rule = token_rule(&t);

		if (rule == KARG_PAGES || !has_equal(&line, text))
			continue;
		if (has_equal(wanted, text))
			continue; /* also if a later word contradicts it */
		if (rule != KARG_LIST || !list_in_force(wanted, &t))
			kargs_add(ret, text, owned->v[i].origin);
	}
	pages_parse(&pages, wanted);
	pages_compare(owned, &pages, &pages_dropped);
	for (size_t i = 0; i < pages_dropped.n; i++)
		if (has_equal(&line, pages_dropped.v[i].text))
			kargs_add(ret, pages_dropped.v[i].text, pages_dropped.v[i].origin);
}

/* The line without our args. */
static void others(const char *cmdline, const struct kargs *owned, struct kargs *ret)
{
	static const struct kargs none = {0};
	cleanup_free char *rest = kargs_predict(cmdline, owned, &none);
	cleanup_kargs struct kargs line = {0};

	kargs_split(&line, rest, NULL);
	for (size_t i = 0; i < line.n; i++)
		if (!str_starts(line.v[i].text, "railhead."))
			kargs_add(ret, line.v[i].text, NULL);
}

static bool lists_oppose(const struct token *a, const struct token *b)
{
	cleanup_strv struct strv x = {0}, y = {0};

	token_items(a, &x);
	token_items(b, &y);
	for (size_t i = 0; i < x.n; i++)
		for (size_t k = 0; k < y.n; k++)
			if (words_oppose(x.v[i], y.v[k]))
				return true;
	return false;
}

static bool kinds_clash(const struct token *theirs, const struct token *w)
{
	const char *a = token_kind(theirs), *b = token_kind(w);

	return leaves_void(a, b) || (streq(a, b) && !token_value_same(theirs, w));
}

static bool clash(const struct token *theirs, const struct token *w)
{
	switch (token_rule(w)) {
	case KARG_LAST:
	case KARG_FIRST:
		return assigns(theirs, w) && !token_value_same(theirs, w);
	case KARG_KIND:
		return theirs->value && kinds_clash(theirs, w);
	case KARG_LIST:
		return theirs->value && lists_oppose(theirs, w);
	case KARG_FLAG:
		return token_is_param(w) && theirs->value;
	case KARG_EACH:
	case KARG_PAGES:
		break;
	}
	return false;
}

static bool contradicts(const struct kargs *wanted, const char *text)
{
	struct token t = token_of(text);

	for (size_t i = 0; i < wanted->n; i++) {
		struct token w = token_of(wanted->v[i].text);

		if (token_name_is(&w, t.name, t.name_len) && clash(&t, &w))
			return true;
	}
	return false;
}

void kargs_conflicts(const struct kargs *wanted, const struct kargs *owned, const char *cmdline,
		     struct kargs *ret)
{
	cleanup_kargs struct kargs rest = {0};
	cleanup_pages struct pages pages = {0};
	struct pages theirs;

	others(cmdline, owned, &rest);
	for (size_t i = 0; i < rest.n; i++)
		if (contradicts(wanted, rest.v[i].text))
			kargs_add(ret, rest.v[i].text, NULL);
	/*
	 * Of huge pages, only a count for a size of ours contradicts ours. Other sizes are the
	 * user's.
	 */
	pages_parse(&pages, wanted);
	pages_parse(&theirs, &rest);
	for (size_t i = 0; i < theirs.n; i++) {
		const char *mine = pages_of(&pages, theirs.of[i].size);

		if (mine && *mine && theirs.of[i].count && !streq(mine, theirs.of[i].count)) {
			cleanup_free char *text = xasprintf(
				"hugepagesz=%lluM hugepages=%s",
				(unsigned long long)(theirs.of[i].size >> 20), theirs.of[i].count);

			kargs_add(ret, text, NULL);
		}
	}
	pages_free(&theirs);
}
