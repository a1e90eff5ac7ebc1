/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/karg_token.h"

#include <string.h>

#include "base/mem.h"

struct token token_of(const char *text)
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

bool token_name_is(const struct token *t, const char *name, size_t len)
{
	if (t->name_len != len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (dash(t->name[i]) != dash(name[i]))
			return false;
	return true;
}

bool token_named(const struct token *t, const char *name)
{
	return token_name_is(t, name, strlen(name));
}

bool token_value_same(const struct token *a, const struct token *b)
{
	if (!a->value || !b->value)
		return !a->value && !b->value;
	return a->value_len == b->value_len && memcmp(a->value, b->value, a->value_len) == 0;
}

bool karg_same_key(const char *a, const char *b)
{
	struct token x = token_of(a), y = token_of(b);

	return token_name_is(&x, y.name, y.name_len);
}

bool karg_equal(const char *a, const char *b)
{
	struct token x = token_of(a), y = token_of(b);

	return token_name_is(&x, y.name, y.name_len) && token_value_same(&x, &y);
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

enum karg_rule token_rule(const struct token *t)
{
	if (!t->value)
		return KARG_FLAG;
	for (size_t i = 0; i < array_len(rules); i++)
		if (token_named(t, rules[i].key))
			return rules[i].rule;
	return KARG_LAST;
}

enum karg_rule karg_rule(const char *text)
{
	struct token t = token_of(text);

	return token_rule(&t);
}
