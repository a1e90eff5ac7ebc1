/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kargs/kargs.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/sha256.h"
#include "base/str.h"
#include "kargs/env_layout.h"
#include "kargs/token.h"

_Static_assert(KARGS_LINE_MAX == ENV_SLOT_SIZE, "a slot has the whole line");

/* --- lists of tokens ----------------------------------------------------------------- */

void kargs_add(struct kargs *l, const char *text, const char *origin)
{
	struct karg k = {.text = xstrdup(text), .origin = origin ? xstrdup(origin) : NULL};

	vec_push(l, k);
}

static void kargs_addn(struct kargs *l, const char *text, size_t len, const char *origin)
{
	struct karg k = {.text = xstrndup(text, len), .origin = origin ? xstrdup(origin) : NULL};

	vec_push(l, k);
}

/* The kernel's isspace() (lib/ctype.c) covers latin-1, including the no-break space. */
static bool blank(char c)
{
	return isspace((unsigned char)c) || c == '\xa0';
}

/* parse_args() in kernel/params.c looks for "--" after next_arg() has removed the quotes. */
static bool is_end(const char *s, size_t len)
{
	if (len > 0 && *s == '"') {
		s++;
		len--;
		if (len > 0 && s[len - 1] == '"')
			len--;
	}
	return len == 2 && memcmp(s, "--", 2) == 0;
}

/* whole: "--" is an ordinary token, and the words behind it are split too. */
static void split(struct kargs *l, const char *line, const char *origin, bool whole)
{
	const char *p = line;

	for (;;) {
		const char *start;
		bool in_quote = false;

		while (blank(*p))
			p++;
		if (!*p)
			return;
		for (start = p; *p && (in_quote || !blank(*p)); p++)
			if (*p == '"')
				in_quote = !in_quote;
		if (!whole && is_end(start, (size_t)(p - start)))
			return;
		kargs_addn(l, start, (size_t)(p - start), origin);
	}
}

void kargs_split(struct kargs *l, const char *line, const char *origin)
{
	split(l, line, origin, false);
}

void kargs_split_all(struct kargs *l, const char *line)
{
	split(l, line, NULL, true);
}

static STORED_TABLE(karg_stored, STORED(karg, text, "", TEXT), STORED(karg, origin, NULL, TEXT));

STORED_TABLE(kargs_stored,
	     {.key = "", .type = STORED_LIST, .rows = karg_stored, .item = sizeof(struct karg)});

void kargs_free(struct kargs *l)
{
	stored_free(kargs_stored, l);
}

char *kargs_line(const struct kargs *l)
{
	struct str line = {0};

	str_add(&line, "");
	for (size_t i = 0; i < l->n; i++)
		str_addf(&line, "%s%s", i ? " " : "", l->v[i].text);
	return str_take(&line);
}

void kargs_hash_line(const char *line, char ret[KARGS_HASH_LEN + 1])
{
	char hex[SHA256_HEX];

	sha256_hex(line, strlen(line), hex);
	memcpy(ret, hex, KARGS_HASH_LEN);
	ret[KARGS_HASH_LEN] = '\0';
}

void kargs_hash(const struct kargs *l, char ret[KARGS_HASH_LEN + 1])
{
	cleanup_free char *line = kargs_line(l);

	kargs_hash_line(line, ret);
}

bool kargs_same(const struct kargs *a, const struct kargs *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!karg_equal(a->v[i].text, b->v[i].text))
			return false;
	return true;
}

/* Tokens whose order among each other may matter: of one key, or of the pairs of huge pages. */
static bool same_group(const char *a, const char *b)
{
	return karg_same_key(a, b) || (karg_rule(a) == KARG_PAGES && karg_rule(b) == KARG_PAGES);
}

/* Whether the tokens of l in the group of `text` are those of `like`, in the same order. */
static bool group_is_same(const struct kargs *l, const struct kargs *like, const char *text)
{
	size_t k = 0;

	for (size_t i = 0; i < l->n; i++) {
		if (!same_group(l->v[i].text, text))
			continue;
		while (k < like->n && !same_group(like->v[k].text, text))
			k++;
		if (k == like->n || !karg_equal(l->v[i].text, like->v[k].text))
			return false;
		k++;
	}
	return true;
}

bool kargs_same_but_order(const struct kargs *a, const struct kargs *b)
{
	for (size_t i = 0; i < a->n; i++)
		if (!group_is_same(a, b, a->v[i].text))
			return false;
	return a->n == b->n;
}

char *kargs_value(const char *cmdline, const char *key)
{
	cleanup_kargs struct kargs line = {0};

	kargs_split(&line, cmdline, NULL);
	for (size_t i = line.n; i > 0; i--) {
		struct token t = token_of(line.v[i - 1].text);

		if (token_named(&t, key))
			return xstrndup(t.value ? t.value : "", t.value_len);
	}
	return NULL;
}

/* --- checks before the args travel ------------------------------------------------------------ */

int kargs_check(const struct kargs *l, struct err *err)
{
	size_t len = 0, unclaimed = 0;
	int r;

	for (size_t i = 0; i < l->n; i++) {
		struct token t = token_of(l->v[i].text);

		r = karg_check(l->v[i].text, err);
		if (r < 0)
			return l->v[i].origin ? err_wrap(err, "%s", l->v[i].origin) : r;
		len += strlen(l->v[i].text) + (i ? 1 : 0);
		if (t.value && !memchr(t.name, '.', t.name_len))
			unclaimed++;
	}
	if (unclaimed > KARGS_MAX)
		return err_set(
			err, -E2BIG,
			"%zu kernel arguments of the form key=value; the kernel panics at the "
			"32nd that it does not know, so more than %d are refused",
			unclaimed, KARGS_MAX);
	if (len > ENV_SLOT_SIZE)
		return err_set(err, -E2BIG,
			       "the kernel arguments are %zu characters long; a slot of %s has %d",
			       len, ENV_FILE_NAME, ENV_SLOT_SIZE);
	return 0;
}

int kargs_check_parsed(const struct kargs *l, struct err *err)
{
	for (size_t i = 0; i < l->n; i++) {
		int r = karg_check_parsed(l->v[i].text, err);

		if (r < 0)
			return l->v[i].origin ? err_wrap(err, "%s", l->v[i].origin) : r;
	}
	return 0;
}

/* --- the next boot's line ------------------------------------------------------------------ */

/*
 * Finds the first of the tokens right before `mark` that are of owned, in its order. Tokens of
 * owned that the loader left out are skipped; a token that is not of owned ends the run.
 */
static size_t ours_begin(const struct kargs *line, size_t from, size_t mark,
			 const struct kargs *owned)
{
	size_t at = mark, left = owned->n;

	while (at > from) {
		size_t i = left;

		while (i > 0 && !karg_equal(line->v[at - 1].text, owned->v[i - 1].text))
			i--;
		if (i == 0)
			break;
		left = i - 1;
		at--;
	}
	return at;
}

/* The end of a mark and the words added behind it: those of `added` that are there, in its order.
 */
static size_t added_end(const struct kargs *line, size_t mark, const char *added)
{
	cleanup_kargs struct kargs extra = {0};
	size_t at = mark + 1;

	kargs_split(&extra, added, NULL);
	for (size_t i = 0; at < line->n; at++, i++) {
		while (i < extra.n && !streq(line->v[at].text, extra.v[i].text))
			i++;
		if (i == extra.n)
			break;
	}
	return at;
}

static size_t trial_end(const struct kargs *line, size_t mark)
{
	size_t end = added_end(line, mark, ENV_TRIAL_EXTRA);
	size_t older = added_end(line, mark, ENV_TRIAL_OLDER);

	return older > end ? older : end;
}

/* An older snippet's trial stands behind the slot's mark. */
static size_t ours_end(const struct kargs *line, size_t mark)
{
	size_t at = mark + 1;

	if (at == line->n || !str_starts(line->v[at].text, ENV_ARG_TRIAL))
		return at;
	return trial_end(line, at);
}

/* The last mark of a trial or a count before the slot's mark; `mark` if there is none. */
static size_t added_begin(const struct kargs *line, size_t from, size_t mark, size_t *ret_end)
{
	*ret_end = mark;
	for (size_t i = mark; i > from; i--) {
		const char *text = line->v[i - 1].text;

		if (str_starts(text, ENV_ARG_TRIAL))
			*ret_end = trial_end(line, i - 1);
		else if (str_starts(text, ENV_ARG_BEGUN))
			*ret_end = added_end(line, i - 1, ENV_BEGUN_EXTRA);
		else
			continue;
		return i - 1;
	}
	return mark;
}

/* The last mark of the beginning of our args before the slot's mark; line->n: an older snippet's.
 */
static size_t begin_mark(const struct kargs *line, size_t from, size_t mark)
{
	for (size_t i = mark; i > from; i--)
		if (streq(line->v[i - 1].text, ENV_ARG_BEGIN))
			return i - 1;
	return line->n;
}

static void add_all(struct kargs *to, const struct kargs *from, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		kargs_add(to, from->v[i].text, from->v[i].origin);
}

bool kargs_between_marks(const char *cmdline, struct kargs *ret)
{
	cleanup_kargs struct kargs line = {0};

	split(&line, cmdline, NULL, true);
	for (size_t i = line.n; i-- > 0;) {
		size_t begin, end;

		if (!str_starts(line.v[i].text, ENV_ARG_SLOT))
			continue;
		begin = begin_mark(&line, 0, i);
		end = begin + 1;
		if (begin == line.n)
			begin = added_begin(&line, 0, i, &end);
		if (begin < i)
			add_all(ret, &line, end, i);
		return begin < i;
	}
	return false;
}

char *kargs_predict(const char *cmdline, const struct kargs *owned, const struct kargs *wanted)
{
	cleanup_kargs struct kargs line = {0}, next = {0};
	size_t done = 0;

	split(&line, cmdline, NULL, true);
	/* If a menu entry has the variable in two places, both get our args. */
	for (size_t i = 0; i < line.n; i++) {
		size_t begin, added, end;

		if (i < done || !str_starts(line.v[i].text, ENV_ARG_SLOT))
			continue;
		begin = begin_mark(&line, done, i);
		added = added_begin(&line, done, begin < line.n ? begin : i, &end);
		if (begin == line.n)
			begin = ours_begin(&line, done, i, owned);
		add_all(&next, &line, done, added < begin ? added : begin);
		add_all(&next, &line, end, begin);
		add_all(&next, wanted, 0, wanted->n);
		done = ours_end(&line, i);
	}
	add_all(&next, &line, done, line.n);
	if (done == 0)
		add_all(&next, wanted, 0, wanted->n);
	return kargs_line(&next);
}
