/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loader/bls.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sys/read.h"

#define VARIABLE "$" ENV_VAR_KARGS
/* blscfg does not expand ${...}; treat it as our variable. */
#define BRACED "${" ENV_VAR_KARGS "}"

/* --- files ----------------------------------------------------------------------------------- */

bool bls_counts(const char *name)
{
	size_t n = strlen(name);

	return *name != '.' && n > 5 && streq(name + n - 5, ".conf") && !strstr(name, "rescue");
}

static char *read_entry(int boot, const char *name)
{
	cleanup_free char *path = xasprintf(BLS_DIR "/%s", name);

	return read_at(boot, path, BLS_FILE_MAX);
}

void bls_read(int boot, struct bls_entries *ret)
{
	cleanup_strv struct strv names = {0};
	cleanup_close int fd = root_open_at(boot, BLS_DIR, O_RDONLY | O_DIRECTORY);

	if (fd >= 0)
		read_dir_at(fd, ".", &names);
	for (size_t i = 0; i < names.n; i++) {
		/* GRUB ignores a link to nothing, too */
		if (!bls_counts(names.v[i]) || faccessat(fd, names.v[i], F_OK, 0) != 0)
			continue;
		vec_push(ret,
			 ((struct bls_entry){xstrdup(names.v[i]), read_entry(boot, names.v[i])}));
	}
}

void bls_free(struct bls_entries *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].name);
		free(l->v[i].text);
	}
	vec_free(l);
}

/* --- lines ----------------------------------------------------------------------------------- */

struct line {
	const char *start; /* of the line, in the text */
	const char *key, *value;
	size_t key_len, value_len;
	const char *next; /* the byte after its newline */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The next key and its value, as GRUB sees them; false where it stops. */
static bool next_line(const char **p, struct line *l)
{
	while (**p) {
		const char *end = strchrnul(*p, '\n');

		*l = (struct line){.start = *p, .next = *end ? end + 1 : end};
		*p = l->next;
		while (end > l->start && end[-1] == '\r') /* GRUB drops all of them */
			end--;
		for (l->key = l->start; l->key < end && is_blank(*l->key); l->key++)
			;
		if (l->key < end && *l->key == '#')
			continue;
		while (l->key + l->key_len < end && !is_blank(l->key[l->key_len]))
			l->key_len++;
		for (l->value = l->key + l->key_len; l->value < end && is_blank(*l->value);)
			l->value++;
		l->value_len = (size_t)(end - l->value);
		return l->key_len > 0 && l->value_len > 0;
	}
	return false;
}

static bool key_is(const struct line *l, const char *key)
{
	return l->key_len == strlen(key) && memcmp(l->key, key, l->key_len) == 0;
}

bool bls_is_grub(const char *text)
{
	struct line l;

	while (next_line(&text, &l))
		if (key_is(&l, "grub_users") || key_is(&l, "grub_class") || key_is(&l, "grub_arg"))
			return true;
	return false;
}

/* --- words ----------------------------------------------------------------------------------- */

struct word {
	const char *p;
	size_t len;
	bool gone;
};

struct words {
	struct word *v;
	size_t n;
	size_t cap;
};

static void words_free(struct words *l)
{
	vec_free(l);
}
#define cleanup_words __attribute__((__cleanup__(words_free)))

/* As kargs_split(), but in place, and with the words behind a lone "--". */
static void split(const char *p, size_t len, struct words *ret)
{
	const char *end = p + len;

	for (;;) {
		struct word w = {0};
		bool in_quote = false;

		while (p < end && isspace((unsigned char)*p))
			p++;
		if (p == end)
			return;
		for (w.p = p; p < end && (in_quote || !isspace((unsigned char)*p)); p++)
			if (*p == '"')
				in_quote = !in_quote;
		w.len = (size_t)(p - w.p);
		vec_push(ret, w);
	}
}

static bool is(const struct word *w, const char *text)
{
	return w->len == strlen(text) && memcmp(w->p, text, w->len) == 0;
}

static bool starts(const struct word *w, const char *text)
{
	return w->len >= strlen(text) && memcmp(w->p, text, strlen(text)) == 0;
}

static bool same(const struct word *a, const struct word *b)
{
	return a->len == b->len && memcmp(a->p, b->p, a->len) == 0;
}

/* The word at which the kernel stops reading: a lone "--", or the end. */
static size_t kernel_end(const struct words *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (!l->v[i].gone && is(&l->v[i], "--"))
			return i;
	return l->n;
}

/* --- judging --------------------------------------------------------------------------------- */

static enum bls_state judge(const char *options, size_t len, const char *kernelopts)
{
	struct words words cleanup_words = {0};
	enum bls_state inner;
	bool takes = false;
	size_t end;

	split(options, len, &words);
	end = kernel_end(&words);
	for (size_t i = 0; i < words.n; i++)
		if (starts(&words.v[i], ENV_ARG_SLOT))
			return BLS_FLAT;
	for (size_t i = 0; i < end; i++) {
		takes |= is(&words.v[i], VARIABLE);
		if (!kernelopts || !is(&words.v[i], "$kernelopts"))
			continue;
		inner = judge(kernelopts, strlen(kernelopts), NULL);
		if (inner == BLS_FLAT)
			return BLS_FLAT_KERNELOPTS;
		takes |= inner == BLS_TAKES;
	}
	return takes ? BLS_TAKES : BLS_LACKS;
}

enum bls_state bls_judge_options(const char *options, const char *kernelopts)
{
	return judge(options, strlen(options), kernelopts);
}

enum bls_state bls_judge(const char *text, const char *kernelopts)
{
	struct line l;

	while (next_line(&text, &l))
		if (key_is(&l, "options"))
			return judge(l.value, l.value_len, kernelopts);
	return BLS_NO_OPTIONS;
}

/* --- mending --------------------------------------------------------------------------------- */

/* Takes the run of `ours` that begins at `at`, if it is there unbroken. */
static bool take_run(struct words *l, size_t at, const struct words *ours)
{
	if (at + ours->n > l->n)
		return false;
	for (size_t i = 0; i < ours->n; i++)
		if (l->v[at + i].gone || !same(&l->v[at + i], &ours->v[i]))
			return false;
	for (size_t i = 0; i < ours->n; i++)
		l->v[at + i].gone = true;
	return true;
}

/*
 * Takes the args of slot X, which stand right before its marker. A word changed there leaves the
 * others. The words of an earlier marker, before `from`, are not touched.
 */
static void take_before(struct words *l, size_t from, size_t marker, const struct words *ours)
{
	if (marker >= ours->n && take_run(l, marker - ours->n, ours))
		return;
	for (size_t i = ours->n; i > 0; i--)
		for (size_t j = marker; j > from; j--)
			if (!l->v[j - 1].gone && same(&l->v[j - 1], &ours->v[i - 1])) {
				l->v[j - 1].gone = true;
				break;
			}
}

/* Takes the words that a trial or a count adds, which stand right behind their marker. */
static void take_behind(struct words *l, size_t marker, const struct words *ours)
{
	if (take_run(l, marker + 1, ours))
		return;
	for (size_t i = 0; i < ours->n; i++)
		for (size_t j = marker + 1; j < l->n; j++)
			if (!l->v[j].gone && same(&l->v[j], &ours->v[i])) {
				l->v[j].gone = true;
				break;
			}
}

/* Takes the words between the markers; false: an older snippet's, which had no first one. */
static bool take_between(struct words *l, size_t from, size_t marker)
{
	size_t begin = marker;

	while (begin > from && !is(&l->v[begin], ENV_ARG_BEGIN))
		begin--;
	if (!is(&l->v[begin], ENV_ARG_BEGIN))
		return false;
	while (begin < marker)
		l->v[begin++].gone = true;
	return true;
}

static void take_slot(struct words *l, size_t from, size_t marker, const struct boot_env *env,
		      bool *unknown)
{
	const struct word *w = &l->v[marker];
	size_t len = strlen(ENV_ARG_SLOT);
	char slot = w->len == len + 1 ? w->p[len] : ENV_NONE;

	l->v[marker].gone = true;
	if (take_between(l, from, marker))
		return;
	if (env && env_slot_index(slot) >= 0) {
		struct words ours cleanup_words = {0};
		const char *text = env_slot(env, slot);

		split(text, strlen(text), &ours);
		take_before(l, from, marker, &ours);
	} else {
		*unknown = true;
	}
}

/* Takes the added words of a trial, or of a boot that GRUB counted; older: of an older snippet. */
static void take_added(struct words *l, size_t marker, const char *added, const char *older)
{
	struct words ours cleanup_words = {0}, before cleanup_words = {0};

	l->v[marker].gone = true;
	split(added, strlen(added), &ours);
	split(older, strlen(older), &before);
	if (!take_run(l, marker + 1, &before))
		take_behind(l, marker, &ours);
}

static void take_ours(struct words *l, const struct boot_env *env, bool *unknown)
{
	size_t from = 0;

	for (size_t i = 0; i < l->n; i++)
		if (starts(&l->v[i], ENV_ARG_SLOT)) {
			take_slot(l, from, i, env, unknown);
			from = i;
		}
	for (size_t i = 0; i < l->n; i++)
		if (starts(&l->v[i], ENV_ARG_TRIAL))
			take_added(l, i, ENV_TRIAL_EXTRA, ENV_TRIAL_OLDER);
		else if (starts(&l->v[i], ENV_ARG_BEGUN))
			take_added(l, i, ENV_BEGUN_EXTRA, ENV_BEGUN_EXTRA);
}

/*
 * Removes all but one variable, where the kernel reads it, or all without keep; true if one is
 * left.
 */
static bool keep_one_variable(struct words *l, bool keep)
{
	size_t end = kernel_end(l);
	bool kept = false;

	for (size_t i = 0; i < l->n; i++) {
		bool ours = !l->v[i].gone && is(&l->v[i], VARIABLE);

		if (ours && keep && !kept && i < end)
			kept = true;
		else if (ours || is(&l->v[i], BRACED))
			l->v[i].gone = true;
	}
	return kept;
}

/* Joins the words that stay, or those that go, with single blanks. */
static void join(const struct words *l, bool gone, size_t add_at, struct str *ret)
{
	size_t len = ret->len;

	for (size_t i = 0; i <= l->n; i++) {
		if (i == add_at)
			str_addf(ret, "%s" VARIABLE, ret->len > len ? " " : "");
		if (i < l->n && l->v[i].gone == gone)
			str_addf(ret, "%s%.*s", ret->len > len ? " " : "", (int)l->v[i].len,
				 l->v[i].p);
	}
}

struct mending {
	const struct boot_env *env;
	bool clear;  /* remove the variable, too */
	bool brings; /* $kernelopts has the variable */
	bool seen;   /* an options line */
	bool changed, added, unknown;
	struct str out, taken;
};

static void copy(struct mending *m, const char *from, const char *to)
{
	str_addn(&m->out, from, (size_t)(to - from));
}

/* Words added behind an open quote would be inside it. */
static bool quote_is_open(const struct line *l)
{
	bool open = false;

	for (size_t i = 0; i < l->value_len; i++)
		open ^= l->value[i] == '"';
	return open;
}

static void mend_line(struct mending *m, const struct line *l)
{
	struct words words cleanup_words = {0};
	bool wants = !m->seen && !m->clear, kept, brought = false, any = false;
	size_t add_at = SIZE_MAX, stay = 0, end;

	m->seen = true;
	split(l->value, l->value_len, &words);
	take_ours(&words, m->env, &m->unknown);
	end = kernel_end(&words);
	for (size_t i = 0; i < end; i++)
		brought |= m->brings && !words.v[i].gone && is(&words.v[i], "$kernelopts");
	kept = keep_one_variable(&words, wants && !brought);
	if (wants && !brought && !kept)
		add_at = end;
	for (size_t i = 0; i < words.n; i++) {
		any |= words.v[i].gone;
		stay += !words.v[i].gone;
	}
	if (!any && add_at == SIZE_MAX) {
		copy(m, l->start, l->next);
		return;
	}
	m->changed = true;
	m->added |= add_at != SIZE_MAX;
	if (any && m->taken.len)
		str_add(&m->taken, " ");
	join(&words, true, SIZE_MAX, &m->taken);
	/* GRUB would end the entry at a line without a value */
	if (!stay && add_at == SIZE_MAX)
		return;
	copy(m, l->start, l->value);
	join(&words, false, add_at, &m->out);
	copy(m, l->value + l->value_len, l->next);
}

static bool mend_text(const char *text, struct mending m, struct bls_mended *ret)
{
	const char *p = text, *done = text;
	struct line l;

	while (next_line(&p, &l)) {
		if (!key_is(&l, "options"))
			continue;
		if (quote_is_open(&l))
			break;
		copy(&m, done, l.start);
		mend_line(&m, &l);
		done = l.next;
	}
	str_add(&m.out, done);
	if (!m.changed) {
		str_free(&m.out);
		str_free(&m.taken);
		return false;
	}
	str_add(&m.taken, "");
	*ret = (struct bls_mended){str_take(&m.out), str_take(&m.taken), m.added, m.unknown};
	return true;
}

bool bls_mend(const char *text, const struct boot_env *env, const char *kernelopts,
	      struct bls_mended *ret)
{
	bool brings = kernelopts && bls_judge_options(kernelopts, NULL) == BLS_TAKES;

	return mend_text(text, (struct mending){.env = env, .brings = brings}, ret);
}

bool bls_clear(const char *text, const struct boot_env *env, struct bls_mended *ret)
{
	return mend_text(text, (struct mending){.env = env, .clear = true}, ret);
}

void bls_mended_free(struct bls_mended *m)
{
	free(m->text);
	free(m->taken);
}
