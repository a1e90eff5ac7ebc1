/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of the arguments are in force on a command line, and which contradict them. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/karg_pages.h"
#include "boot/karg_token.h"

/* --- comma lists ----------------------------------------------------------------------- */

/* Appends the items of every occurrence of the key of `like`, in order. */
static void list_items(const struct kargs *l, const struct token *like, struct strv *ret)
{
	for (size_t i = 0; i < l->n; i++) {
		struct token t = token_of(l->v[i].text);
		const char *p, *end;

		if (!t.value || !token_name_is(&t, like->name, like->name_len))
			continue;
		p = t.value;
		end = p + t.value_len;
		while (p <= end) {
			const char *comma = memchr(p, ',', (size_t)(end - p));
			const char *stop = comma ? comma : end;
			cleanup_free char *item = xstrndup(p, (size_t)(stop - p));

			if (*item)
				strv_add(ret, item);
			p = stop + 1;
		}
	}
}

static bool ends(const char *s, const char *suffix, size_t *ret_stem)
{
	size_t n = strlen(s), m = strlen(suffix);

	if (n < m || !streq(s + n - m, suffix))
		return false;
	*ret_stem = n - m;
	return n == m || s[n - m - 1] == '_';
}

/* on and off, sm_on and sm_off, pt and nopt. */
static bool opposite(const char *a, const char *b)
{
	size_t i, j;

	if ((ends(a, "on", &i) && ends(b, "off", &j)) || (ends(a, "off", &i) && ends(b, "on", &j)))
		return i == j && strncmp(a, b, i) == 0;
	return (str_starts(a, "no") && streq(a + 2, b)) || (str_starts(b, "no") && streq(b + 2, a));
}

static bool item_in_force(const struct strv *items, const char *item)
{
	bool on = false;

	for (size_t i = 0; i < items->n; i++) {
		if (streq(items->v[i], item))
			on = true;
		else if (opposite(items->v[i], item))
			on = false;
	}
	return on;
}

static bool list_in_force(const struct kargs *line, const struct token *t, const char *text)
{
	cleanup_strv struct strv have = {0}, want = {0};
	struct karg one = {.text = (char *)text};
	struct kargs only = {.v = &one, .n = 1, .cap = 1};

	list_items(line, t, &have);
	list_items(&only, t, &want);
	for (size_t i = 0; i < want.n; i++)
		if (!item_in_force(&have, want.v[i]))
			return false;
	return true;
}

/* --- in force ---------------------------------------------------------------------------- */

static bool has_equal(const struct kargs *l, const char *text)
{
	for (size_t i = 0; i < l->n; i++)
		if (karg_equal(l->v[i].text, text))
			return true;
	return false;
}

static bool last_is(const struct kargs *line, const struct token *t)
{
	for (size_t i = line->n; i > 0; i--) {
		struct token have = token_of(line->v[i - 1].text);

		if (have.value && token_name_is(&have, t->name, t->name_len))
			return token_value_same(&have, t);
	}
	return false;
}

static bool only_is(const struct kargs *line, const struct token *t)
{
	for (size_t i = 0; i < line->n; i++) {
		struct token have = token_of(line->v[i].text);

		if (token_name_is(&have, t->name, t->name_len) && !token_value_same(&have, t))
			return false;
	}
	return last_is(line, t);
}

static bool in_force(const struct kargs *line, const char *text)
{
	struct token t = token_of(text);

	switch (token_rule(&t)) {
	case KARG_LAST:
		return last_is(line, &t);
	case KARG_ONLY:
		return only_is(line, &t);
	case KARG_LIST:
		return list_in_force(line, &t, text);
	case KARG_EACH:
	case KARG_PAGES:
	case KARG_FLAG:
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
			continue; /* also if something behind it contradicts it */
		if (rule != KARG_LIST || !list_in_force(wanted, &t, text))
			kargs_add(ret, text, owned->v[i].origin);
	}
	pages_parse(&pages, wanted);
	pages_compare(owned, &pages, &pages_dropped);
	for (size_t i = 0; i < pages_dropped.n; i++)
		if (has_equal(&line, pages_dropped.v[i].text))
			kargs_add(ret, pages_dropped.v[i].text, pages_dropped.v[i].origin);
}

/* The line without what is ours: each token of owned is taken off once, from the back. */
static void others(const char *cmdline, const struct kargs *owned, struct kargs *ret)
{
	cleanup_kargs struct kargs line = {0};
	cleanup_free bool *ours = NULL;

	kargs_split(&line, cmdline, NULL);
	ours = xcalloc(line.n ? line.n : 1, sizeof(*ours));
	for (size_t i = 0; i < owned->n; i++)
		for (size_t k = line.n; k > 0; k--)
			if (!ours[k - 1] && karg_equal(line.v[k - 1].text, owned->v[i].text)) {
				ours[k - 1] = true;
				break;
			}
	for (size_t k = 0; k < line.n; k++)
		if (!ours[k] && !str_starts(line.v[k].text, "railhead."))
			kargs_add(ret, line.v[k].text, NULL);
}

static bool contradicts(const struct kargs *wanted, const char *text)
{
	struct token t = token_of(text);
	enum karg_rule rule = token_rule(&t);

	if (rule != KARG_LAST && rule != KARG_ONLY)
		return false;
	for (size_t i = 0; i < wanted->n; i++) {
		struct token w = token_of(wanted->v[i].text);

		if (w.value && token_name_is(&w, t.name, t.name_len) && !token_value_same(&w, &t))
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
	/* Of huge pages: a count for a size of ours. A size that we don't name is theirs. */
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
