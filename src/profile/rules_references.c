/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contradictions: sections that name device sets which are not there, or not to be touched. */
#include "profile/rules.h"

#include <string.h>

#include "profile/section.h"

static void add(struct set_references *refs, const struct ynode *at, char *key)
{
	struct set_reference ref = {.at = at, .key = key};

	ref.set = set_name_in(scalar(at), &ref.vfs);
	if (*scalar(at))
		vec_push(&refs->list, ref);
	else
		free(key);
}

static void add_keys(struct set_references *refs, const struct ynode *map, const char *path)
{
	for (size_t i = 0; i < count(map, YAML_MAP); i++)
		add(refs, map->keys.v[i], xasprintf("%s.%.64s", path, map->keys.v[i]->text));
}

void set_references(const struct profile *p, struct set_references *ret)
{
	const struct ynode *pairs = profile_section(p, "pairs");
	const struct ynode *checks = tree_get(p->doc, "gate.checks");

	for (const struct section *const *s = sections; *s; s++)
		if (section_is_per_set(*s))
			add_keys(ret, profile_section(p, (*s)->name), (*s)->name);
	add_keys(ret, tree_get(p->doc, "require.firmware"), "require.firmware");
	add(ret, tree_get(pairs, "nics"), xstrdup("pairs.nics"));
	add(ret, tree_get(pairs, "gpus"), xstrdup("pairs.gpus"));
	for (size_t i = 0; i < count(checks, YAML_MAP); i++) {
		const struct ynode *check = checks->items.v[i];
		const char *name = checks->keys.v[i]->text;

		add(ret, tree_get(check, "on"), xasprintf("gate.checks.%.64s.on", name));
		add(ret, tree_get(check, "with"), xasprintf("gate.checks.%.64s.with", name));
	}
}

void set_references_free(struct set_references *refs)
{
	for (size_t i = 0; i < refs->list.n; i++)
		free(refs->list.v[i].key);
	vec_free(&refs->list);
}

static bool is_none(const struct ynode *vfs)
{
	return !vfs || streq(scalar(vfs), "0");
}

/* Whether sriov gives VFs to functions that set has, or may have. */
static bool gets_vfs(struct ruling *r, const struct selector *set)
{
	const struct ynode *sriov = section(r, "sriov");

	for (size_t i = 0; i < count(sriov, YAML_MAP); i++) {
		const struct selector *s = find_set(r, sriov->keys.v[i]->text);
		cleanup_ynode struct ynode *view = s ? set_view(r, s) : NULL;

		if (!s || (!is_none(tree_get(view, "sriov.vfs")) && sets_may_share(r, s, set)))
			return true;
	}
	return false;
}

static void judge_vfs(struct ruling *r, const struct set_reference *ref)
{
	const struct selector *set = find_set(r, ref->set);

	if (set && !set->protect && !must_be_absent(set) && !gets_vfs(r, set))
		rule_error(r, ref->at, ref->key,
			   "sriov: gives %.64s no VFs; write sriov: {%.64s: {vfs: ...}}", ref->set,
			   ref->set);
}

static void named_sets_exist(struct ruling *r)
{
	struct set_references refs = {0};

	set_references(r->p, &refs);
	for (size_t i = 0; i < refs.list.n; i++) {
		const struct set_reference *ref = &refs.list.v[i];

		want_set(r, ref->at, ref->key, ref->set);
		if (ref->vfs)
			judge_vfs(r, ref);
	}
	set_references_free(&refs);
}

static void pairs_are_of_two(struct ruling *r)
{
	const struct ynode *pairs = section(r, "pairs"), *gpus = ynode_get(pairs, "gpus");

	if (*scalar(gpus) && streq(gpus->text, ynode_text(pairs, "nics", "")))
		rule_error(r, gpus, "pairs.gpus", "nics: names the same set; name the GPUs' set");
}

const struct rule rules_references[] = {
	RULE_OF_WHOLE("named-sets-exist", named_sets_exist),
	RULE("pairs-are-of-two", pairs_are_of_two),
	NO_MORE_RULES,
};
