/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sections/members.h"

#include <string.h>

#include "base/mem.h"
#include "profile/language.h"
#include "profile/rules.h"

static bool find_member(const struct section_ctx *ctx, const struct ynode *section,
			const struct pci_fn *fn, struct member *ret)
{
	struct set_list sets = {0};

	sets_with(ctx->profile, ctx->sets, fn, &sets);
	*ret = (struct member){.fn = fn, .settings = view_of_section(section, &sets)};
	for (size_t i = 0; i < sets.list.n; i++) {
		const struct ynode *own = ynode_get(section, sets.list.v[i]->name);
		const struct ynode *optional = ynode_get(own, "optional");

		if (optional)
			vec_push(&ret->optional, optional);
	}
	vec_free(&sets.list);
	return ret->settings;
}

static void member_free(struct member *m)
{
	view_free(m->settings);
	vec_free(&m->optional);
}

void members_find(const struct section_ctx *ctx, const struct ynode *section, struct members *ret)
{
	/* without sets no function is read */
	const struct pci_functions *functions = section->keys.n ? node_functions(ctx->node) : NULL;
	struct member one;

	/* sorted by address, so that ids have a stable order */
	for (size_t i = 0; functions && i < functions->n; i++)
		if (find_member(ctx, section, &functions->v[i], &one))
			vec_push(&ret->list, one);
}

void members_free(struct members *m)
{
	for (size_t i = 0; i < m->list.n; i++)
		member_free(&m->list.v[i]);
	vec_free(&m->list);
}

void members_each_key(const struct section_ctx *ctx, const struct ynode *section,
		      const struct field *keys,
		      void (*emit)(const struct member *m, const struct field *key,
				   const struct ynode *value, struct plan *plan),
		      struct plan *plan)
{
	cleanup(members_free) struct members members = {0};

	members_find(ctx, section, &members);
	for (size_t i = 0; i < members.list.n; i++)
		for (const struct field *key = keys; key->name; key++) {
			const struct ynode *value = member_value(&members.list.v[i], key->name);

			if (value)
				emit(&members.list.v[i], key, value, plan);
		}
}

const struct ynode *member_value(const struct member *m, const char *path)
{
	return tree_get(m->settings, path);
}

bool optional_has(const struct ynode *said, const char *path)
{
	size_t len = strcspn(path, ".");

	if (!said || said->kind != YAML_LIST)
		return ynode_is_true(said);
	for (size_t i = 0; i < said->items.n; i++)
		if (strlen(said->items.v[i]->text) == len &&
		    strncmp(said->items.v[i]->text, path, len) == 0)
			return true;
	return false;
}

void member_govern(const struct member *m, const char *path, struct change *c)
{
	for (size_t i = 0; i < m->optional.n && !c->optional; i++) {
		c->optional = optional_has(m->optional.v[i], path);
		if (m->optional.v[i]->kind != YAML_LIST)
			break;
	}
	c->drift_warns = ynode_is_word(member_value(m, "on_drift"), ON_DRIFT_WARN);
}

const struct ynode *function_value(const struct section_ctx *ctx, const char *section,
				   const struct pci_fn *fn, const char *path)
{
	const struct ynode *value;
	struct member m;

	find_member(ctx, profile_section(ctx->profile, section), fn, &m);
	value = member_value(&m, path);
	member_free(&m);
	return value;
}

unsigned int member_vfs(const struct member *m)
{
	const struct ynode *vfs = member_value(m, "vfs");
	uint64_t n;

	if (!vfs)
		return 0;
	if (vfs->value.type == VALUE_WORD) /* max */
		return m->fn->totalvfs;
	return ynode_number(vfs, &n) ? (unsigned int)n : 0;
}

unsigned int function_vfs(const struct section_ctx *ctx, const struct pci_fn *fn)
{
	struct member m;
	unsigned int n;

	find_member(ctx, profile_section(ctx->profile, "sriov"), fn, &m);
	n = member_vfs(&m);
	member_free(&m);
	return n;
}
