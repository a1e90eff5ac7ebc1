/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel command lines: our tokens against a second reading of next_arg() (lib/cmdline.c of
 * Linux), and laws that the comparison of tokens must keep. The input is two lines: a command
 * line, and the arguments that are wanted on it.
 */
#include "fuzz.h"

#include <ctype.h>

#include "base/mem.h"
#include "base/str.h"
#include "kargs/kargs.h"

/* isspace() of lib/ctype.c knows latin-1. */
static bool blank(char c)
{
	return isspace((unsigned char)c) || (unsigned char)c == 0xa0;
}

/*
 * One argument as the kernel's parser cuts it, by its own states rather than by ours: it
 * walks once, notes the first '=', drops a quote before the name or the value and the quote
 * at the end that belongs to it. Cuts in place; returns the rest of the line.
 */
static char *kernel_next(char *p, char **ret_name, char **ret_value)
{
	bool in_quote = false, quoted = false;
	size_t equals = 0, i = 0;

	if (p[0] == '"') {
		p++;
		in_quote = quoted = true;
	}
	for (; p[i] && (in_quote || !blank(p[i])); i++) {
		if (equals == 0 && p[i] == '=')
			equals = i;
		if (p[i] == '"')
			in_quote = !in_quote;
	}
	*ret_name = p;
	*ret_value = NULL;
	if (equals) {
		p[equals] = '\0';
		*ret_value = p + equals + 1;
		if (p[equals + 1] == '"') {
			(*ret_value)++;
			if (i > 0 && p[i - 1] == '"')
				p[i - 1] = '\0';
		}
	}
	if (quoted && i > 0 && p[i - 1] == '"')
		p[i - 1] = '\0';
	if (p[i])
		p[i++] = '\0';
	return p + i;
}

static bool name_same(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (*a != *b && !(strchr("-_", *a) && strchr("-_", *b)))
			return false;
	return *a == *b;
}

static void against_kernel(const char *line)
{
	cleanup_free char *copy = xstrdup(line);
	cleanup_kargs struct kargs ours = {0};
	char *p = copy;
	size_t n = 0;

	kargs_split(&ours, line, NULL);
	while (blank(*p))
		p++;
	for (char *name, *value; *p; n++) {
		cleanup_free char *found = NULL;

		p = kernel_next(p, &name, &value);
		while (blank(*p))
			p++;
		if (!value && streq(name, "--"))
			break;
		must(n < ours.n);
		found = kargs_value(ours.v[n].text, name);
		must(found && streq(found, value ? value : ""));
	}
	must(n == ours.n);
}

/* The last argument of a name is the one that kargs_value() gives. */
static void last_wins(const char *line, const char *name)
{
	cleanup_free char *copy = xstrdup(line), *got = kargs_value(line, name), *want = NULL;
	char *p = copy;

	if (!*name || strpbrk(name, "=\" \t\n\v\f\r\xa0"))
		return;
	while (blank(*p))
		p++;
	for (char *key, *value; *p;) {
		p = kernel_next(p, &key, &value);
		while (blank(*p))
			p++;
		if (!value && streq(key, "--"))
			break;
		if (!name_same(key, name))
			continue;
		free(want);
		want = xstrdup(value ? value : "");
	}
	must(got && want ? streq(got, want) : got == want);
}

static void joined_is_split(const char *line)
{
	cleanup_kargs struct kargs a = {0}, b = {0};
	cleanup_free char *joined = NULL;

	kargs_split(&a, line, NULL);
	joined = kargs_line(&a);
	kargs_split(&b, joined, NULL);
	must(a.n == b.n && kargs_same(&a, &b));
	for (size_t i = 0; i < a.n; i++) {
		must(streq(a.v[i].text, b.v[i].text));
		must(karg_equal(a.v[i].text, a.v[i].text));
		must(karg_same_key(a.v[i].text, a.v[i].text));
	}
}

/* What is missing or dropped is taken from the list it is missing or dropped of. */
static void is_part(const struct kargs *part, const struct kargs *of)
{
	must(part->n <= of->n);
	for (size_t i = 0; i < part->n; i++) {
		bool found = false;

		for (size_t k = 0; k < of->n; k++)
			found |= streq(part->v[i].text, of->v[k].text);
		must(found);
	}
}

static void algebra(const char *line, const char *words)
{
	cleanup_kargs struct kargs wanted = {0}, missing = {0}, dropped = {0}, none = {0};
	cleanup_kargs struct kargs conflicts = {0};
	char hash[KARGS_HASH_LEN + 1];

	kargs_split(&wanted, words, "fuzz:1");
	kargs_missing(&wanted, line, &missing);
	is_part(&missing, &wanted);
	for (size_t i = 0; i < missing.n; i++)
		if (karg_rule(missing.v[i].text) != KARG_PAGES)
			must(!kargs_has(line, missing.v[i].text));
	kargs_dropped(&wanted, &wanted, line, &none);
	must(none.n == 0);
	kargs_dropped(&wanted, &none, line, &dropped);
	is_part(&dropped, &wanted);
	kargs_conflicts(&wanted, &none, line, &conflicts);
	kargs_hash(&wanted, hash);
	must(strlen(hash) == KARGS_HASH_LEN);
	kargs_check(&wanted, NULL);
}

/* The next line has no mark of this boot's, and there is nothing of ours left to take away. */
static void prediction(const char *line, const char *words)
{
	cleanup_kargs struct kargs owned = {0}, none = {0}, before = {0}, after = {0};
	cleanup_free char *next = NULL, *again = NULL;

	kargs_split(&owned, words, NULL);
	next = kargs_predict(line, &owned, &none);
	again = kargs_predict(next, &owned, &none);
	must(streq(next, again));
	kargs_split(&before, line, NULL);
	kargs_split(&after, next, NULL);
	must(after.n <= before.n);
	for (size_t i = 0; i < after.n; i++)
		must(!str_starts(after.v[i].text, "railhead.slot="));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xstrndup((const char *)data, size);
	char *words = strchr(text, '\n');

	if (words)
		*words++ = '\0';
	else
		words = text + strlen(text);
	against_kernel(text);
	last_wins(text, words);
	joined_is_split(text);
	algebra(text, words);
	prediction(text, words);
	return 0;
}
