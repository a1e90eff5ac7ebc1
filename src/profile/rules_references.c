/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules about sections that name device sets which do not exist or must not be changed. */
#include "profile/rules.h"

#include "profile/language.h"
#include "profile/section.h"
#include "profile/view.h"

/* Takes ownership of key. */
static void add(struct set_references *refs, const struct ynode *at, char *key)
{
	struct set_reference ref = {.at = at, .key = key};

	ref.set = set_name_in(scalar(at), &ref.vfs);
	if (*scalar(at))
		vec_push(&refs->list, ref);
	else
		free(key);
}

static bool names_set(const struct spec *spec)
{
	return spec == &spec_set_name || spec == &spec_on_set;
}

/* Adds the names of sets in a value and below it, found by the specs of the language. */
static void walk(struct set_references *refs, const struct spec *spec, const struct ynode *n,
		 const char *path)
{
	spec = spec_for(spec, n->kind);
	if (!spec)
		return;
	if (n->kind == YAML_SCALAR && names_set(spec))
		add(refs, n, xstrdup(path));
	for (size_t i = 0; i < n->items.n; i++) {
		const struct ynode *key = n->kind == YAML_MAP ? n->keys.v[i] : NULL;
		cleanup_free char *below =
			key ? xasprintf("%s.%.64s", path, key->text) : xstrdup(path);
		const struct spec *of = key ? spec_child(spec, key->text) : spec->item;

		if (key && spec->kind == SPEC_MAP_OF && names_set(spec->key))
			add(refs, key, xstrdup(below));
		if (of)
			walk(refs, of, n->items.v[i], below);
	}
}

void set_references(const struct profile *p, struct set_references *ret)
{
	for (const struct section *const *s = sections; *s; s++) {
		const struct ynode *section = profile_section(p, (*s)->name);

		if (section)
			walk(ret, (*s)->spec, section, (*s)->name);
	}
}

void set_references_free(struct set_references *refs)
{
	for (size_t i = 0; i < refs->list.n; i++)
		free(refs->list.v[i].key);
	vec_free(&refs->list);
}

/* Whether sriov gives VFs to functions that belong, or may belong, to set. */
static bool gets_vfs(struct ruling *r, const struct selector *set)
{
	const struct ynode *sriov = section(r, "sriov");

	for (size_t i = 0; i < count(sriov, YAML_MAP); i++) {
		const struct selector *s = find_set(r, sriov->keys.v[i]->text);
		cleanup_view struct ynode *view = s ? set_view(r->p, s) : NULL;
		const struct ynode *vfs = tree_get(view, "sriov.vfs");

		if (!s || (vfs && !is_zero(vfs) && sets_may_share(r, s, set)))
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

const struct rule rules_references[] = {
	RULE_OF_WHOLE("named-sets-exist", named_sets_exist),
	NO_MORE_RULES,
};
