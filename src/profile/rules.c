/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of all subjects, and what they share. */
#include "profile/rules.h"

#include <string.h>

#include "base/words.h"
#include "profile/section.h"

enum {
	/* What keeps rules that compare each with each quick. */
	SETS_MAX = 256,
	ITEMS_MAX = 1024, /* of a list; schema.c asks this of each document */
};

/* --- messages ----------------------------------------------------------------------------- */

static bool is_said(const struct diags *d, struct place at, const char *key, const char *text)
{
	for (size_t i = 0; i < d->list.n; i++) {
		const struct diag *said = &d->list.v[i];

		if (said->at.line == at.line && said->at.col == at.col && streq(said->text, text) &&
		    streq(said->key, key) && streq(said->at.file, at.file ? at.file : ""))
			return true;
	}
	return false;
}

void rule_error(struct ruling *r, const struct ynode *n, const char *key, const char *fmt, ...)
{
	cleanup_str struct str text = {0};
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	if (!is_said(r->diags, n->at, key, str_get(&text)))
		diag_error(r->diags, n->at, key, "%s", str_get(&text));
}

void rule_warn(struct ruling *r, const struct ynode *n, const char *key, const char *fmt, ...)
{
	cleanup_str struct str text = {0};
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	if (!is_said(r->diags, n->at, key, str_get(&text)))
		diag_warn(r->diags, n->at, key, "%s", str_get(&text));
}

/* --- the tree ----------------------------------------------------------------------------- */

const struct ynode *tree_get(const struct ynode *map, const char *path)
{
	while (map && *path) {
		size_t len = strcspn(path, ".");
		cleanup_free char *key = xstrndup(path, len);

		map = map->kind == YAML_MAP ? ynode_get(map, key) : NULL;
		path += len + (path[len] == '.');
	}
	return map;
}

/* --- kernel arguments --------------------------------------------------------------------- */

bool arg_is(const char *arg, const char *key)
{
	size_t len = strlen(key);

	return arg_key_len(arg) == len && dash_equal(arg, key, len);
}

const char *arg_value(const char *arg)
{
	const char *eq = strchr(arg, '=');

	return eq ? eq + 1 : "";
}

const struct ynode *set_list(const struct ruling *r)
{
	return ynode_get(section(r, "kernel_args"), "set");
}

const struct ynode *find_arg(const struct ruling *r, const char *key)
{
	const struct ynode *set = set_list(r);

	for (size_t i = 0; i < count(set, YAML_LIST); i++)
		if (set->items.v[i]->kind == YAML_SCALAR && arg_is(set->items.v[i]->text, key))
			return set->items.v[i];
	return NULL;
}

const struct ynode *what_disables_iommu(const struct ruling *r)
{
	static const char *const off[] = {"iommu", "intel_iommu", "amd_iommu"};
	const struct ynode *iommu = ynode_get(section(r, "kernel_args"), "iommu");

	if (ynode_is_word(iommu, IOMMU_DISABLED))
		return iommu;
	for (size_t i = 0; i < array_len(off); i++) {
		const struct ynode *arg = find_arg(r, off[i]);

		if (arg && commas_have(arg_value(arg->text), "off"))
			return arg;
	}
	return NULL;
}

/* --- CPUs --------------------------------------------------------------------------------- */

const struct ynode *vendor_said(const struct ruling *r)
{
	const struct ynode *said = ynode_get(section(r, "match"), "cpu_vendor");

	return said ?: ynode_get(section(r, "expect"), "cpu_vendor");
}

enum cpu_vendor wanted_vendor(const struct ruling *r)
{
	const char *word = scalar(vendor_said(r));

	for (enum cpu_vendor v = CPU_INTEL; v <= CPU_ARM; v++)
		if (streq(word, cpu_vendor_name(v)))
			return v;
	return r->node ? node_cpu_vendor(r->node) : CPU_UNKNOWN;
}

static void want_expected(struct ruling *r, const struct ynode *n, const char *key,
			  const struct cpus *cpus)
{
	const struct ynode *expect = ynode_get(section(r, "expect"), "cpus");
	uint64_t there;

	/* ">=N" leaves open how many there are, and nosmt which numbers they have */
	if (find_arg(r, "nosmt") || !ynode_exact(expect, &there) ||
	    cpus_last(cpus) < (int64_t)there)
		return;
	rule_error(r, n, key, "CPU %d does not exist: expect.cpus (at %u:%u) is %llu",
		   cpus_last(cpus), expect->at.line, expect->at.col, (unsigned long long)there);
}

void want_cpus(struct ruling *r, const struct ynode *n, const char *key, const struct cpus *list)
{
	struct cpus beyond;
	cleanup_free char *text = NULL;

	if (!list || !cpus_count(list))
		return;
	want_expected(r, n, key, list);
	if (!r->node || !cpus_count(&r->node->cpus))
		return;
	beyond = *list;
	cpus_remove_all(&beyond, &r->node->cpus);
	if (!cpus_count(&beyond))
		return;
	text = cpus_format(&beyond);
	rule_error(r, n, key, "this machine has no CPU %s; its last is %d", text,
		   cpus_last(&r->node->cpus));
}

/* --- all of them -------------------------------------------------------------------------- */

static const struct rule *const subjects[] = {
	rules_document,
	rules_devices,
	rules_references,
	rules_overlap,
};

/* The first list that is too long; bases and drop-ins may have added up to it. */
static const struct ynode *long_list(const struct ynode *n)
{
	if (n->kind == YAML_LIST && n->items.n > ITEMS_MAX)
		return n;
	for (size_t i = 0; i < n->items.n; i++) {
		const struct ynode *found = long_list(n->items.v[i]);

		if (found)
			return found;
	}
	return NULL;
}

static bool is_bounded(struct ruling *r)
{
	const struct ynode *list = long_list(r->p->doc);

	if (r->p->devices.n > SETS_MAX) {
		rule_error(r, section(r, "devices"), "devices", "%zu sets; at most %d are allowed",
			   r->p->devices.n, SETS_MAX);
		return false;
	}
	if (list && !r->diags->errors)
		rule_error(r, list, "", "%zu items in this list; at most %d are allowed",
			   list->items.n, ITEMS_MAX);
	return !list;
}

/* Rules that compare sets with sets go up along these often. */
static const struct selector **find_wider(const struct ruling *r)
{
	size_t n = r->p->devices.n;
	const struct selector **wider = xrealloc(NULL, n + 1, sizeof(*wider));

	for (size_t i = 0; i < n; i++) {
		wider[i] = find_set(r, r->p->devices.v[i].in);
	}
	return wider;
}

static void judge(struct ruling *r, const struct rule *rules)
{
	for (const struct rule *rule = rules; rule->name; rule++)
		if (r->p->name || !rule->whole)
			rule->check(r);
}

/* The rules of all sections at a time: what the profile says of a set is gathered once. */
static void judge_sets(struct ruling *r)
{
	static const struct set_rule end = NO_MORE_SET_RULES;
	VEC(struct set_rule) all = {0};

	for (const struct section *const *s = sections; *s; s++)
		for (const struct set_rule *rule = (*s)->set_rules; rule && rule->name; rule++)
			vec_push(&all, *rule);
	vec_push(&all, end);
	rule_each_set(r, all.v);
	vec_free(&all);
}

void rules_check(const struct profile *p, const struct node *node, struct diags *diags)
{
	struct ruling r = {.p = p, .node = node, .diags = diags};
	struct device_sets sets = {0};
	struct err err = {0};

	if (!is_bounded(&r))
		return;
	r.wider = find_wider(&r);
	/* An in: that leads nowhere is a rule's to report. */
	if (node && device_sets_resolve(node, p->devices.v, p->devices.n, &sets, &err) == 0)
		r.sets = &sets;
	for (size_t i = 0; i < array_len(subjects); i++)
		judge(&r, subjects[i]);
	for (const struct section *const *s = sections; *s; s++)
		if ((*s)->rules)
			judge(&r, (*s)->rules);
	if (p->name)
		judge_sets(&r);
	device_sets_free(&sets);
	free(r.wider);
}
