/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes that may share a file: of one section, and of two sections. */
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/pattern.h"
#include "base/str.h"
#include "plan/change.h"

/*
 * Links of sysfs lead to each device by many names (from its class, its bus, its driver, its PF,
 * the policy that CPUs share), but a file has the same name in all of them. /proc/sys and
 * /sys/kernel/mm have no links.
 */
static bool has_links(const char *path)
{
	return str_starts(path, "/sys/") && !str_starts(path, "/sys/kernel/mm/");
}

/* Whether the two patterns may match one file. */
static bool targets_meet(const char *a, const char *b, bool *ret_alias)
{
	*ret_alias = has_links(a) && has_links(b);
	if (*ret_alias)
		return patterns_meet(strrchr(a, '/') + 1, strrchr(b, '/') + 1);
	return paths_meet(a, b);
}

static const char *files_of(const struct change *c)
{
	return c->file ? c->file : c->kind == &kind_attr ? c->target : NULL;
}

static struct rival as_rival(const struct change *c, bool alias)
{
	return (struct rival){.id = xstrdup(c->id),
			      .pattern = xstrdup(files_of(c)),
			      .desired = xstrdup(c->desired),
			      .compare = c->compare,
			      .origin = c->origin,
			      .own_ports = c->file != NULL,
			      .alias = alias};
}

/* The most specific rival comes first; among equals, the rival added last. */
static void add_rival(struct rivals *all, struct rival rival)
{
	size_t at = 0;

	while (at < all->list.n &&
	       pattern_weight(all->list.v[at].pattern) > pattern_weight(rival.pattern))
		at++;
	vec_push(&all->list, rival);
	for (size_t i = all->list.n - 1; i > at; i--)
		all->list.v[i] = all->list.v[i - 1];
	all->list.v[at] = rival;
}

/*
 * Keys that separate most pairs of thousands of lines quickly: numbers of a path and of its last
 * part. If links lead to a file by several paths, only the last part decides.
 */
struct key {
	uint32_t path, name; /* 0: a pattern, or no path: may match any */
	bool links;
};

struct keys {
	VEC(struct key) list; /* in the order of the plan */
};

static struct key key_of(const char *path)
{
	if (!path || pattern_is(path))
		return (struct key){0};
	return (struct key){str_hash(path) | 1, str_hash(strrchr(path, '/') + 1) | 1,
			    has_links(path)};
}

static struct keys keys_of(const struct plan *plan)
{
	struct keys keys = {0};

	for (size_t i = 0; i < plan->list.n; i++)
		vec_push(&keys.list, key_of(files_of(plan->list.v[i])));
	return keys;
}

static bool may_meet(const struct keys *keys, size_t i, size_t j)
{
	const struct key *a = &keys->list.v[i], *b = &keys->list.v[j];

	if (!a->path || !b->path)
		return true;
	return a->links && b->links ? a->name == b->name : a->path == b->path;
}

static void share(struct change *a, struct change *b)
{
	bool alias;

	if (!targets_meet(a->target, b->target, &alias))
		return;
	if (pattern_weight(a->target) > pattern_weight(b->target))
		add_rival(&b->yields_to, as_rival(a, alias));
	else
		add_rival(&a->yields_to, as_rival(b, alias));
}

void plan_share_files(struct plan *plan, size_t from)
{
	struct keys keys = keys_of(plan);

	for (size_t i = from; i < plan->list.n; i++)
		for (size_t j = i + 1; j < plan->list.n; j++)
			if (may_meet(&keys, i, j))
				share(plan->list.v[i], plan->list.v[j]);
	vec_free(&keys.list);
}

/* --- two sections ---------------------------------------------------------------------------- */

static void contest(struct change *line, struct change *c)
{
	bool alias;

	if (!files_of(c) || streq(c->section, line->section) || c->while_id ||
	    !targets_meet(line->target, files_of(c), &alias))
		return;
	add_rival(&line->contests, as_rival(c, alias));
	add_rival(&c->contests, as_rival(line, alias));
}

void plan_find_contests(struct plan *plan, const char *section)
{
	struct keys keys = keys_of(plan);

	for (size_t i = 0; i < plan->list.n; i++)
		for (size_t j = 0; streq(plan->list.v[i]->section, section) && j < plan->list.n;
		     j++)
			if (may_meet(&keys, i, j))
				contest(plan->list.v[i], plan->list.v[j]);
	vec_free(&keys.list);
}
