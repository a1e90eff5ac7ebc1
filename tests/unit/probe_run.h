/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a check of a profile to what is run for it. Include after cmocka.h. */
#pragma once

#include "checks/probe.h"
#include "profile/section.h"
#include "profile/yaml.h"
#include "tree.h"

#define HEAD "schema: 1\nname: sku\nversion: 1.0.0\nmatch: {dmi: {sys_vendor: ACME}}\n"

/* The probes of a check's map. */
static inline void check_measures(const struct section_ctx *ctx, const char *name,
				  const struct ynode *map, struct probes *ret)
{
	const struct check *check = check_find(ynode_text(map, "run", ""));

	assert_non_null(check);
	check->measure(&(struct checked){ctx, check, name, map, NULL}, ret);
}

/* "ID: words | resources | wanted", or "ID: reason" of one that is not run. */
static inline void add_probe(const struct probe *p, struct str *out)
{
	str_addf(out, "%s:", p->m.id);
	if (probe_is_declined(p)) {
		str_addf(out, " %s%s%s\n", p->m.reason, p->m.remedy ? "; " : "",
			 or_empty(p->m.remedy));
		return;
	}
	for (size_t i = 1; i < p->argv.n; i++)
		str_addf(out, " %s", p->argv.v[i]);
	str_add(out, " |");
	for (size_t i = 0; i < p->resources.n; i++)
		str_addf(out, " %s", p->resources.v[i]);
	str_add(out, " |");
	for (size_t i = 0; i < p->n_figures; i++)
		str_addf(out, " %s%s%s;", p->figures[i].key, p->figures[i].wanted ? " " : "",
			 p->figures[i].wanted ? p->figures[i].wanted : "");
	str_add(out, "\n");
}

/* A profile on the machine that is the tree. */
struct on_machine {
	struct node node;
	struct profile *profile;
	struct device_sets sets;
	struct section_ctx ctx;
};

/* With these other sections, and a gate of one check, c. */
static inline void on_machine(struct tmp *t, const char *others, const char *check,
			      struct on_machine *ret)
{
	cleanup_free char *yaml = xasprintf("%s%sgate: {checks: {c: {%s}}}\n", HEAD, others, check);
	struct err err = {0};

	*ret = (struct on_machine){0};
	assert_int_equal(node_survey(&t->root, &ret->node, &err), 0);
	tmp_write(t, "sku.yaml", yaml);
	if (profile_load_named(&t->root, tmp_path(t, "sku.yaml"), NULL, &ret->profile, &t->diags,
			       &err) < 0) {
		tmp_print(&t->diags);
		fail_msg("%s", yaml);
	}
	assert_int_equal(device_sets_resolve(&ret->node, ret->profile->devices.v,
					     ret->profile->devices.n, &ret->sets, &err),
			 0);
	ret->ctx = (struct section_ctx){
		.root = &t->root, .node = &ret->node, .profile = ret->profile, .sets = &ret->sets};
}

static inline void on_machine_free(struct on_machine *m)
{
	device_sets_free(&m->sets);
	profile_free(m->profile);
	node_free(&m->node);
}

/*
 * The probes of a check of that word, in a profile that has these other sections, on the
 * machine that is the tree.
 */
static inline void gives(struct tmp *t, const char *others, const char *run, const char *check,
			 const char *want)
{
	cleanup_free char *keys = xasprintf("run: %s, %s", run, check);
	cleanup_str struct str got = {0};
	struct measurements all = {0};
	struct probes probes = {0};
	struct on_machine m;
	const struct ynode *checks;

	on_machine(t, others, keys, &m);
	checks = ynode_get(profile_section(m.profile, "gate"), "checks");
	check_measures(&m.ctx, "c", checks->items.v[0], &probes);
	for (size_t i = 0; i < probes.list.n; i++) {
		add_probe(probes.list.v[i], &got);
		vec_push(&all.list, probes.list.v[i]->m);
	}
	assert_string_equal(str_get(&got), want);
	measurements_free(&all);
	probes_free(&probes);
	on_machine_free(&m);
}
