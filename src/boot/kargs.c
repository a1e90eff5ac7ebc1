/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/kargs.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/sha256.h"
#include "base/str.h"
#include "boot/env_layout.h"

/* --- a token ----------------------------------------------------------------------- */

/* A token as next_arg() hands it to the handlers: quotes taken off. */
struct token {
	const char *name;
	size_t name_len;
	const char *value; /* NULL: no '=' */
	size_t value_len;
};

static struct token token_of(const char *text)
{
	size_t len = strlen(text);
	bool quoted = *text == '"';
	struct token t = {0};
	const char *eq;

	if (quoted) {
		text++;
		len--;
	}
	eq = memchr(text, '=', len);
	/* "Don't include quotes in value": next_arg() in lib/cmdline.c. */
	if (eq && eq[1] == '"') {
		t.value = eq + 2;
		t.value_len = len - (size_t)(t.value - text);
		if (t.value_len > 0 && text[len - 1] == '"')
			t.value_len--;
	} else {
		if (quoted && len > 0 && text[len - 1] == '"')
			len--;
		if (eq) {
			t.value = eq + 1;
			t.value_len = len - (size_t)(t.value - text);
		}
	}
	t.name = text;
	t.name_len = eq ? (size_t)(eq - text) : len;
	return t;
}

/* dash2underscore() in kernel/params.c */
static char dash(char c)
{
	return c == '-' ? '_' : c;
}

static bool name_is(const struct token *t, const char *name, size_t len)
{
	if (t->name_len != len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (dash(t->name[i]) != dash(name[i]))
			return false;
	return true;
}

static bool named(const struct token *t, const char *name)
{
	return name_is(t, name, strlen(name));
}

static bool value_same(const struct token *a, const struct token *b)
{
	if (!a->value || !b->value)
		return !a->value && !b->value;
	return a->value_len == b->value_len && memcmp(a->value, b->value, a->value_len) == 0;
}

bool karg_same_key(const char *a, const char *b)
{
	struct token x = token_of(a), y = token_of(b);

	return name_is(&x, y.name, y.name_len);
}

bool karg_equal(const char *a, const char *b)
{
	struct token x = token_of(a), y = token_of(b);

	return name_is(&x, y.name, y.name_len) && value_same(&x, &y);
}

/*
 * The keys whose handlers do more than assign (Documentation/admin-guide/
 * kernel-parameters.txt and the handlers themselves).
 */
static const struct {
	const char *key;
	enum karg_rule rule;
} rules[] = {
	{"intel_iommu", KARG_LIST},
	{"amd_iommu", KARG_LIST},
	{"iommu", KARG_LIST},
	{"pci", KARG_LIST},
	{"intremap", KARG_LIST},
	{"modprobe.blacklist", KARG_LIST},
	{"rd.driver.blacklist", KARG_LIST},
	{"console", KARG_EACH},
	{"earlycon", KARG_EACH},
	{"earlyprintk", KARG_EACH},
	{"memmap", KARG_EACH},
	{"acpi_osi", KARG_EACH},
	{"video", KARG_EACH},
	{"rd.driver.pre", KARG_EACH},
	{"hugepagesz", KARG_PAGES},
	{"hugepages", KARG_PAGES},
	{"default_hugepagesz", KARG_PAGES},
	{"isolcpus", KARG_ONLY},
	{"nohz_full", KARG_ONLY},
};

static enum karg_rule token_rule(const struct token *t)
{
	if (!t->value)
		return KARG_FLAG;
	for (size_t i = 0; i < array_len(rules); i++)
		if (named(t, rules[i].key))
			return rules[i].rule;
	return KARG_LAST;
}

enum karg_rule karg_rule(const char *text)
{
	struct token t = token_of(text);

	return token_rule(&t);
}

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

/* The kernel's isspace() is that of latin-1; blanks of ASCII are what a line can have. */
static bool blank(char c)
{
	return isspace((unsigned char)c) != 0;
}

/* parse_args() in kernel/params.c looks for "--" where next_arg() has taken quotes off. */
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

/* whole: "--" is a token like any other, and what follows it is split too. */
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

void kargs_free(struct kargs *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].text);
		free(l->v[i].origin);
	}
	vec_free(l);
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

char *kargs_value(const char *cmdline, const char *key)
{
	cleanup_kargs struct kargs line = {0};

	kargs_split(&line, cmdline, NULL);
	for (size_t i = line.n; i > 0; i--) {
		struct token t = token_of(line.v[i - 1].text);

		if (named(&t, key))
			return xstrndup(t.value ? t.value : "", t.value_len);
	}
	return NULL;
}

/* --- what may travel ------------------------------------------------------------------ */

int karg_check(const char *text, struct err *err)
{
	if (!*text)
		return err_set(err, -EINVAL, "an empty kernel argument");
	for (const char *p = text; *p; p++) {
		if (*p == '"' || *p == '\'' || *p == '\\' || *p == '$')
			return err_set(err, -EINVAL,
				       "%s: a kernel argument with %c can't travel through a GRUB "
				       "variable",
				       text, *p);
		if (*p <= ' ' || *p > '~')
			return err_set(err, -EINVAL,
				       "%s: a kernel argument is printable ASCII without blanks; "
				       "give each argument an item of its own",
				       text);
	}
	if (*text == '#' || *text == '=')
		return err_set(err, -EINVAL, "%s: a kernel argument can't begin with %c", text,
			       *text);
	if (streq(text, "--"))
		return err_set(err, -EINVAL, "--: what follows it is for init, not the kernel");
	if (str_starts(text, "railhead.") || streq(text, "railhead") ||
	    str_starts(text, "railhead="))
		return err_set(err, -EINVAL, "%s: arguments for railhead itself can't be profiled",
			       text);
	return 0;
}

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

/* --- comma lists ----------------------------------------------------------------------- */

/* Appends the items of every occurrence of the key of `like`, in order. */
static void list_items(const struct kargs *l, const struct token *like, struct strv *ret)
{
	for (size_t i = 0; i < l->n; i++) {
		struct token t = token_of(l->v[i].text);
		const char *p, *end;

		if (!t.value || !name_is(&t, like->name, like->name_len))
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

/* --- huge pages ------------------------------------------------------------------------ */

/*
 * hugepagesz_setup(), default_hugepagesz_setup() and hugepages_setup() of mm/hugetlb.c: a
 * count belongs to the size before it, the first count of a size wins, a size given twice
 * makes the count that follows it void.
 */
enum { PAGE_SIZES_MAX = 8 };

struct pages {
	struct {
		uint64_t size;
		char *count; /* NULL: none */
	} of[PAGE_SIZES_MAX];
	size_t n;
	uint64_t def;	 /* default_hugepagesz=, 0: not given */
	char *def_count; /* a count before any size */
	int cur;	 /* index of the size that the next count belongs to; -1: the default */
	bool valid;	 /* the next count counts */
};

static void pages_free(struct pages *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->of[i].count);
	free(p->def_count);
}
#define cleanup_pages __attribute__((__cleanup__(pages_free)))

/* memparse() for the sizes that there are; 0 for what is none. */
static uint64_t page_size(const struct token *t)
{
	cleanup_free char *s = xstrndup(t->value ? t->value : "", t->value_len);
	char *end;
	uint64_t n = strtoull(s, &end, 0);

	switch (toupper((unsigned char)*end)) {
	case 'T':
		return n << 40;
	case 'G':
		return n << 30;
	case 'M':
		return n << 20;
	case 'K':
		return n << 10;
	default:
		return n;
	}
}

static int pages_find(const struct pages *p, uint64_t size)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->of[i].size == size)
			return (int)i;
	return -1;
}

/* Makes size the one that the next count belongs to. */
static void pages_size(struct pages *p, uint64_t size)
{
	int i = pages_find(p, size);

	if (i < 0 && p->n < PAGE_SIZES_MAX) {
		i = (int)p->n++;
		p->of[i].size = size;
	}
	p->cur = i;
	p->valid = i >= 0;
}

static void pages_hugepagesz(struct pages *p, uint64_t size)
{
	int i = pages_find(p, size);

	/* Once more is fine for the default size as long as it has no count. */
	if (i >= 0 && (size != p->def || p->of[i].count))
		p->valid = false;
	else
		pages_size(p, size);
}

static void pages_default(struct pages *p, uint64_t size)
{
	if (p->def) {
		p->valid = false;
		return;
	}
	p->def = size;
	pages_size(p, size);
	if (p->def_count && p->cur >= 0 && !p->of[p->cur].count)
		p->of[p->cur].count = take_ptr(p->def_count);
}

static void pages_count(struct pages *p, const struct token *t)
{
	char **count = p->cur < 0 ? &p->def_count : &p->of[p->cur].count;

	if (p->valid && !*count)
		*count = xstrndup(t->value, t->value_len);
	p->valid = true;
}

static void pages_parse(struct pages *p, const struct kargs *l)
{
	*p = (struct pages){.cur = -1, .valid = true};
	for (size_t i = 0; i < l->n; i++) {
		struct token t = token_of(l->v[i].text);

		if (!t.value)
			continue;
		if (named(&t, "hugepagesz"))
			pages_hugepagesz(p, page_size(&t));
		else if (named(&t, "default_hugepagesz"))
			pages_default(p, page_size(&t));
		else if (named(&t, "hugepages"))
			pages_count(p, &t);
	}
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? streq(a, b) : a == b;
}

/* The count of a size, "" if the size is given without one, NULL if it is not given. */
static const char *pages_of(const struct pages *p, uint64_t size)
{
	int i = pages_find(p, size);

	if (i < 0)
		return NULL;
	return p->of[i].count ? p->of[i].count : "";
}

/*
 * Calls each token of l that speaks of huge pages right or wrong by what `other` holds,
 * and appends those that are wrong. A size and its count go together.
 */
static void pages_compare(const struct kargs *l, const struct pages *other, struct kargs *ret)
{
	struct pages mine;
	uint64_t size = 0;

	pages_parse(&mine, l);
	for (size_t i = 0; i < l->n; i++) {
		struct token t = token_of(l->v[i].text);
		bool right = true;

		if (token_rule(&t) != KARG_PAGES)
			continue;
		if (named(&t, "hugepages")) {
			right = size ? same_text(pages_of(&mine, size), pages_of(other, size))
				     : same_text(mine.def_count, other->def_count);
		} else {
			size = page_size(&t);
			if (named(&t, "default_hugepagesz"))
				right = other->def == size;
			else
				right = same_text(pages_of(&mine, size), pages_of(other, size));
		}
		if (!right)
			kargs_add(ret, l->v[i].text, l->v[i].origin);
	}
	pages_free(&mine);
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

		if (have.value && name_is(&have, t->name, t->name_len))
			return value_same(&have, t);
	}
	return false;
}

static bool only_is(const struct kargs *line, const struct token *t)
{
	for (size_t i = 0; i < line->n; i++) {
		struct token have = token_of(line->v[i].text);

		if (name_is(&have, t->name, t->name_len) && !value_same(&have, t))
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

		if (w.value && name_is(&w, t.name, t.name_len) && !value_same(&w, &t))
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

/* --- the next boot's line ------------------------------------------------------------------ */

/*
 * The tokens right before `mark` that are of owned, in its order: where the first of them
 * is. One that the loader left out is passed over; what is not of owned ends the run.
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

/* What a trial adds behind the mark; an older snippet's is a part of it. Ends where? */
static size_t ours_end(const struct kargs *line, size_t mark)
{
	cleanup_kargs struct kargs extra = {0};
	size_t at = mark + 1, i = 0;

	if (at == line->n || !str_starts(line->v[at].text, ENV_ARG_TRIAL))
		return at;
	kargs_split(&extra, ENV_TRIAL_EXTRA, NULL);
	for (at++; at < line->n; at++, i++) {
		while (i < extra.n && !streq(line->v[at].text, extra.v[i].text))
			i++;
		if (i == extra.n)
			break;
	}
	return at;
}

static void add_all(struct kargs *to, const struct kargs *from, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		kargs_add(to, from->v[i].text, from->v[i].origin);
}

char *kargs_predict(const char *cmdline, const struct kargs *owned, const struct kargs *wanted)
{
	cleanup_kargs struct kargs line = {0}, next = {0};
	size_t done = 0;

	split(&line, cmdline, NULL, true);
	/* A menu entry with the variable in two places gets ours in both of them. */
	for (size_t i = 0; i < line.n; i++) {
		if (i < done || !str_starts(line.v[i].text, ENV_ARG_SLOT))
			continue;
		add_all(&next, &line, done, ours_begin(&line, done, i, owned));
		add_all(&next, wanted, 0, wanted->n);
		done = ours_end(&line, i);
	}
	add_all(&next, &line, done, line.n);
	if (done == 0)
		add_all(&next, wanted, 0, wanted->n);
	return kargs_line(&next);
}
