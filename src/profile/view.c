/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/view.h"

#include "profile/section.h"
#include "profile/yaml.h"

void sets_around(const struct profile *p, const struct selector *s, struct set_list *ret)
{
	for (size_t i = 0; s && i <= SETS_DEPTH_MAX; i++) {
		vec_push(&ret->list, s);
		s = selector_find(p->devices.v, p->devices.n, s->in);
	}
}

size_t set_depth(const struct profile *p, const struct selector *s)
{
	size_t depth = 0;

	/* one more than permitted: a rule reports it */
	while ((s = selector_find(p->devices.v, p->devices.n, s->in)) && depth <= SETS_DEPTH_MAX)
		depth++;
	return depth;
}

void sets_with(const struct profile *p, const struct device_sets *sets, const struct pci_fn *fn,
	       struct set_list *ret)
{
	for (size_t i = 0; i < sets->set.n; i++) {
		const struct selector *s = sets->set.v[i].sel;
		size_t at = ret->list.n;

		if (!device_set_has(&sets->set.v[i], fn))
			continue;
		vec_push(&ret->list, s);
		for (; at && set_depth(p, ret->list.v[at - 1]) < set_depth(p, s); at--)
			ret->list.v[at] = ret->list.v[at - 1];
		ret->list.v[at] = s;
	}
}

static void add(struct ynode *view, const struct ynode *map)
{
	for (size_t i = 0; i < map->keys.n; i++) {
		struct ynode *own = map->items.v[i], *there = ynode_get(view, map->keys.v[i]->text);

		if (there && there->kind == YAML_MAP && own->kind == YAML_MAP) {
			add(there, own);
		} else if (!there) {
			if (own->kind == YAML_MAP) {
				there = ynode_new(YAML_MAP, own->at);
				add(there, own);
			}
			ynode_add(view, ynode_copy(map->keys.v[i]), there ? there : own);
		}
	}
}

struct ynode *view_of_section(const struct ynode *section, const struct set_list *sets)
{
	struct ynode *view = NULL;

	for (size_t i = 0; i < sets->list.n; i++) {
		const struct ynode *own = ynode_get(section, sets->list.v[i]->name);

		if (!own || own->kind != YAML_MAP)
			continue;
		if (!view)
			view = ynode_new(YAML_MAP, own->at);
		add(view, own);
	}
	return view;
}

struct ynode *view_new(const struct profile *p, const struct set_list *sets)
{
	struct ynode *view = ynode_new(YAML_MAP, p->doc->at);

	for (const struct section *const *s = sections; *s; s++) {
		struct ynode *own = section_is_per_set(*s)
					    ? view_of_section(profile_section(p, (*s)->name), sets)
					    : NULL;

		if (own)
			ynode_add(view, ynode_scalar(own->at, (*s)->name, true), own);
	}
	return view;
}

struct ynode *set_view(const struct profile *p, const struct selector *s)
{
	struct set_list around = {0};
	struct ynode *view;

	sets_around(p, s, &around);
	view = view_new(p, &around);
	vec_free(&around.list);
	return view;
}

void view_free(struct ynode *view)
{
	if (!view)
		return;
	for (size_t i = 0; i < view->items.n; i++)
		if (view->items.v[i]->kind == YAML_MAP)
			view_free(view->items.v[i]);
	vec_free(&view->items);
	ynode_free(view);
}
