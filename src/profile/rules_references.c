/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contradictions: sections that name device sets which are not there, or not to be touched. */
#include "profile/rules.h"

#include <string.h>

static void want_set_at(struct ruling *r, const char *in, const char *key)
{
	const struct ynode *n = tree_get(section(r, in), key);
	cleanup_free char *path = xasprintf("%s.%s", in, key);

	if (*scalar(n))
		want_set(r, n, path, n->text);
}

static void want_keys(struct ruling *r, const struct ynode *map, const char *path)
{
	for (size_t i = 0; i < count(map, YAML_MAP); i++) {
		cleanup_free char *key = xasprintf("%s.%.64s", path, map->keys.v[i]->text);

		want_set(r, map->keys.v[i], key, map->keys.v[i]->text);
	}
}

#define VFS_OF "vfs of "

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

static void judge_on(struct ruling *r, const struct ynode *on, const char *key)
{
	bool vfs = str_starts(on->text, VFS_OF);
	const char *name = on->text + (vfs ? strlen(VFS_OF) : 0);
	const struct selector *set = find_set(r, name);

	want_set(r, on, key, name);
	if (vfs && set && !set->protect && !gets_vfs(r, set))
		rule_error(r, on, key,
			   "sriov: gives %.64s no VFs; write sriov: {%.64s: {vfs: ...}}", name,
			   name);
}

static void checks_name_sets(struct ruling *r)
{
	const struct ynode *checks = ynode_get(section(r, "gate"), "checks");

	for (size_t i = 0; i < count(checks, YAML_MAP); i++) {
		const struct ynode *on = ynode_get(checks->items.v[i], "on");
		const struct ynode *with = ynode_get(checks->items.v[i], "with");
		const char *name = checks->keys.v[i]->text;
		cleanup_free char *on_key = xasprintf("gate.checks.%.64s.on", name);
		cleanup_free char *with_key = xasprintf("gate.checks.%.64s.with", name);

		if (*scalar(on))
			judge_on(r, on, on_key);
		if (*scalar(with))
			want_set(r, with, with_key, with->text);
	}
}

static void sections_name_sets(struct ruling *r)
{
	for (size_t i = 0; set_sections[i]; i++)
		want_keys(r, section(r, set_sections[i]), set_sections[i]);
	want_keys(r, ynode_get(section(r, "require"), "firmware"), "require.firmware");
	want_set_at(r, "pairs", "nics");
	want_set_at(r, "pairs", "gpus");
}

static void pairs_are_of_two(struct ruling *r)
{
	const struct ynode *pairs = section(r, "pairs"), *gpus = ynode_get(pairs, "gpus");

	if (*scalar(gpus) && streq(gpus->text, ynode_text(pairs, "nics", "")))
		rule_error(r, gpus, "pairs.gpus", "nics: names the same set; name the GPUs' set");
}

const struct rule rules_references[] = {
	RULE_OF_WHOLE("sections-name-sets", sections_name_sets),
	RULE_OF_WHOLE("checks-name-sets", checks_name_sets),
	RULE("pairs-are-of-two", pairs_are_of_two),
	NO_MORE_RULES,
};
