/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sections/overlay.h"

#include <string.h>

#include "base/mem.h"
#include "profile/language.h"
#include "profile/rules.h"

static bool set_has(const struct device_set *set, const struct pci_fn *fn)
{
	for (size_t i = 0; set && i < set->fn.n; i++)
		if (set->fn.v[i] == fn)
			return true;
	return false;
}

static bool wanted_by(const struct section_ctx *ctx, const struct ynode *section,
		      const struct pci_fn *fn)
{
	for (size_t i = 0; i < section->keys.n; i++)
		if (set_has(device_sets_find(ctx->sets, section->keys.v[i]->text), fn))
			return true;
	return false;
}

void overlay_functions(const struct section_ctx *ctx, const struct ynode *section,
		       struct fn_list *ret)
{
	const struct pci_functions *functions = node_functions(ctx->node);

	/* sorted by address, so that ids have a stable order */
	for (size_t i = 0; i < functions->n; i++)
		if (wanted_by(ctx, section, &functions->v[i]))
			vec_push(ret, &functions->v[i]);
}

/* The number of `in:` above a set; a deeper set is narrower. */
static int depth_of(const struct section_ctx *ctx, const struct device_set *set)
{
	int depth = 0;

	while (set && set->sel->in) {
		set = device_sets_find(ctx->sets, set->sel->in);
		depth++;
	}
	return depth;
}

const struct ynode *overlay_value(const struct section_ctx *ctx, const struct ynode *section,
				  const struct pci_fn *fn, const char *path)
{
	const struct ynode *best = NULL;
	int best_depth = -1;

	for (size_t i = 0; i < section->keys.n; i++) {
		const struct device_set *set =
			device_sets_find(ctx->sets, section->keys.v[i]->text);
		const struct ynode *value = tree_get(section->items.v[i], path);

		if (!value || !set_has(set, fn) || depth_of(ctx, set) <= best_depth)
			continue;
		best = value;
		best_depth = depth_of(ctx, set);
	}
	return best;
}

void overlay_each_key(const struct section_ctx *ctx, const struct ynode *section,
		      const struct field *keys,
		      void (*emit)(const struct section_ctx *ctx, const struct ynode *section,
				   const struct pci_fn *fn, const struct field *key,
				   const struct ynode *value, struct plan *plan),
		      struct plan *plan)
{
	struct fn_list fns = {0};

	overlay_functions(ctx, section, &fns);
	for (size_t i = 0; i < fns.n; i++)
		for (const struct field *key = keys; key->name; key++) {
			const struct ynode *value =
				overlay_value(ctx, section, fns.v[i], key->name);

			if (value)
				emit(ctx, section, fns.v[i], key, value, plan);
		}
	vec_free(&fns);
}

void overlay_keys(const struct section_ctx *ctx, const struct ynode *section,
		  const struct pci_fn *fn, const char *path, struct strv *ret)
{
	for (size_t i = 0; i < section->keys.n; i++) {
		const struct ynode *map = tree_get(section->items.v[i], path);

		if (!map || map->kind != YAML_MAP ||
		    !set_has(device_sets_find(ctx->sets, section->keys.v[i]->text), fn))
			continue;
		for (size_t k = 0; k < map->keys.n; k++)
			if (strv_contains(ret, map->keys.v[k]->text) <= 0)
				strv_add(ret, map->keys.v[k]->text);
	}
}

bool overlay_names_key(const struct ynode *said, const char *path)
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

void overlay_govern(const struct section_ctx *ctx, const struct ynode *section,
		    const struct pci_fn *fn, const char *path, struct change *c)
{
	c->optional = overlay_names_key(overlay_value(ctx, section, fn, "optional"), path);
	c->drift_warns = ynode_is_word(overlay_value(ctx, section, fn, "on_drift"), ON_DRIFT_WARN);
}

unsigned int overlay_vfs(const struct section_ctx *ctx, const struct pci_fn *fn)
{
	const struct ynode *section = profile_section(ctx->profile, "sriov");
	const struct ynode *vfs = section ? overlay_value(ctx, section, fn, "vfs") : NULL;
	uint64_t n;

	if (!vfs)
		return 0;
	if (vfs->value.type == VALUE_WORD) /* max */
		return fn->totalvfs;
	return ynode_number(vfs, &n) ? (unsigned int)n : 0;
}
