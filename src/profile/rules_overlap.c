/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rule: two sets with common functions, neither nested in the other, must not set different values.
 * A narrower set overrides a wider one; between these two only the order in the file would decide,
 * which an author is unlikely to intend.
 */
#include "profile/rules.h"
#include "profile/section.h"

struct pair {
	struct ruling *r;
	const char *section;
	const struct selector *a, *b;
};

static bool same_value(const struct ynode *a, const struct ynode *b)
{
	if (a->kind != b->kind || a->items.n != b->items.n)
		return false;
	if (a->kind == YAML_SCALAR)
		return streq(a->text, b->text);
	for (size_t i = 0; i < a->items.n; i++)
		if (!same_value(a->items.v[i], b->items.v[i]))
			return false;
	return true;
}

static void compare(const struct pair *p, const struct ynode *a, const struct ynode *b,
		    const char *path)
{
	for (size_t i = 0; i < count(b, YAML_MAP); i++) {
		const struct ynode *second = b->items.v[i];
		const struct ynode *first = ynode_get(a, b->keys.v[i]->text);
		cleanup_free char *below =
			xasprintf("%s%s%.80s", path, *path ? "." : "", b->keys.v[i]->text);
		cleanup_free char *key = NULL;

		if (first && first->kind == YAML_MAP && second->kind == YAML_MAP) {
			compare(p, first, second, below);
			continue;
		}
		if (!first || same_value(first, second))
			continue;
		key = xasprintf("%s.%.64s.%s", p->section, p->b->name, below);
		rule_error(
			p->r, second, key,
			"'%.64s' sets a different value at %s, and the two sets share "
			"functions%s; write the same value in both, or put one set into the other "
			"(in: %.64s, or in: %.64s)",
			p->a->name, seen(p->r, first), p->r->sets ? " on this machine" : "",
			p->a->name, p->b->name);
	}
}

static void judge_section(struct ruling *r, const char *name, const struct ynode *map)
{
	for (size_t i = 0; i < count(map, YAML_MAP); i++)
		for (size_t j = i + 1; j < map->items.n; j++) {
			struct pair p = {
				.r = r,
				.section = name,
				.a = find_set(r, map->keys.v[i]->text),
				.b = find_set(r, map->keys.v[j]->text),
			};

			if (p.a && p.b && !set_is_within(r, p.a, p.b) &&
			    !set_is_within(r, p.b, p.a) && sets_surely_share(r, p.a, p.b))
				compare(&p, map->items.v[i], map->items.v[j], "");
		}
}

static void overlaps_agree(struct ruling *r)
{
	for (const struct section *const *s = sections; *s; s++)
		if (section_is_per_set(*s))
			judge_section(r, (*s)->name, section(r, (*s)->name));
}

const struct rule rules_overlap[] = {
	RULE_OF_WHOLE("overlaps-agree", overlaps_agree),
	NO_MORE_RULES,
};
