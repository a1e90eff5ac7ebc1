/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sections/members.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "plan/change.h"
#include "profile/language.h"
#include "profile/rules.h"
#include "profile/section.h"

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

/* --- changes ------------------------------------------------------------------------------- */

struct change *setting_begin(const struct section_ctx *ctx, const struct member *m,
			     const struct field *row, const char *path, struct place at,
			     struct plan *plan)
{
	const struct target_item *item = row->item;
	const char *section = ctx->section->name, *addr = m->fn->addr;
	bool judged = row->class == KEY_JUDGES;
	cleanup_free char *slashed = xstrdup(path);
	struct change *c;

	for (char *dot = slashed; (dot = strchr(dot, '.'));)
		*dot = '/';
	c = plan_add(plan, section, item->kind, judged ? STAGE_GATE : STAGE_DEVICES,
		     judged ? PHASE_CHECK : PHASE_PORT, at, "%s/%s/%s", section, addr, slashed);
	change_on(c, addr, item);
	c->on.key = row->name;
	change_target(c, "%s:%s/%s", section, addr, slashed);
	if (!judged)
		change_lane(c, "%s", addr);
	member_govern(m, path, c);
	return c;
}

static bool is_map(const struct ynode *value)
{
	return value->kind == YAML_MAP;
}

/* The values of a row, each of which is one part of the change or more. */
static struct change *add_values(const struct section_ctx *ctx, const struct member *m,
				 const struct field *row, const char *path, struct plan *plan)
{
	const struct settings *s = ctx->section->settings;
	const struct ynode *all = member_value(m, path);
	const struct field *key = row->spec->kind == SPEC_MAP ? row->spec->fields : NULL;
	struct change *c = NULL;

	if (!all || (is_map(all) && !all->keys.n))
		return NULL;
	if (!key) {
		c = setting_begin(ctx, m, row, path, all->at, plan);
		if (all->kind == YAML_SCALAR)
			change_want(c, all);
		else
			s->add(c, row->name, NULL, all);
	}
	for (; key && key->name; key++) {
		const struct ynode *value = ynode_get(all, key->name);

		if (!value || (is_map(value) && !value->keys.n))
			continue;
		if (!c)
			c = setting_begin(ctx, m, row, path, value->at, plan);
		s->add(c, key->name, key->item, value);
	}
	return c;
}

/* above: the path of the map that has the row, with a dot at its end, or "". */
static void emit_row(const struct section_ctx *ctx, const struct member *m, const struct field *row,
		     const char *above, struct plan *plan)
{
	cleanup_free char *path = xasprintf("%s%s", above, row->name);
	cleanup_free char *below = xasprintf("%s.", path);
	struct change *c = row->item ? add_values(ctx, m, row, path, plan) : NULL;

	if (c) {
		ctx->section->settings->extend(ctx, m, c);
		item_desired(c);
	}
	if (!row->item && row->spec->kind == SPEC_MAP)
		for (const struct field *key = row->spec->fields; key->name; key++)
			emit_row(ctx, m, key, below, plan);
}

void setting_emit(const struct section_ctx *ctx, const struct member *m, const struct field *row,
		  struct plan *plan)
{
	emit_row(ctx, m, row, "", plan);
}

void settings_emit(const struct section_ctx *ctx, const struct ynode *node, struct plan *plan)
{
	cleanup(members_free) struct members members = {0};

	members_find(ctx, node, &members);
	for (size_t i = 0; i < members.list.n; i++)
		for (const struct field *row = ctx->section->spec->item->fields; row->name; row++)
			setting_emit(ctx, &members.list.v[i], row, plan);
}
