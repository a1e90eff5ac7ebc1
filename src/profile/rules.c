/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the rules of all subjects, and implements the functions that rules share. */
#include "profile/rules.h"

#include <string.h>

#include "base/words.h"
#include "profile/section.h"

enum {
	/* bounds that keep pairwise comparisons fast */
	SETS_MAX = 256,
	ITEMS_MAX = 1024, /* items of a list; schema.c applies this bound to each document */
};

/* --- messages ----------------------------------------------------------------------------- */

static bool is_reported(const struct diags *d, struct place at, const char *key, const char *text)
{
	for (size_t i = 0; i < d->list.n; i++) {
		const struct diag *known = &d->list.v[i];

		if (known->at.line == at.line && known->at.col == at.col &&
		    streq(known->text, text) && streq(known->key, key) &&
		    streq(known->at.file, at.file ? at.file : ""))
			return true;
	}
	return false;
}

/* Rank of a file in the order of merging: bases 0, the profile 1, then its drop-ins. */
static size_t layer_of(const struct ruling *r, const char *file)
{
	const struct strv *files = &r->p->files;
	size_t i = 0;

	while (i < files->n && !streq(files->v[i], file ? file : ""))
		i++;
	return i == 0 ? 1 : i <= r->p->ancestors.n ? 0 : i;
}

enum { PLACE = '\001' }; /* marks the start of a place in a text */

const char *seen(struct ruling *r, const struct ynode *n)
{
	cleanup_free char *text =
		xasprintf("%c%s:%u:%u", PLACE, n->at.file ? n->at.file : "", n->at.line, n->at.col);

	if (!r->cause || layer_of(r, n->at.file) > layer_of(r, r->cause->at.file))
		r->cause = n;
	strv_add(&r->places, text);
	return r->places.v[r->places.n - 1];
}

/* Shortens each place for a message about `file`: a place in the same file loses its name. */
static char *settle_places(const char *text, const char *file)
{
	struct str out = {0};
	size_t len = strlen(file);

	for (;;) {
		size_t plain = strcspn(text, (const char[]){PLACE, '\0'});

		str_addn(&out, text, plain);
		text += plain;
		if (!*text++)
			return str_take(&out);
		if (strncmp(text, file, len) == 0 && text[len] == ':')
			text += len + 1;
	}
}

/* Whether key is exactly n, so that `KEY: null` in a layer above deletes n and nothing else. */
static bool key_is_of(const struct ruling *r, const char *key, const struct ynode *n)
{
	const struct ynode *there = tree_get(r->p->doc, key);

	return there && there->at.line == n->at.line && there->at.col == n->at.col &&
	       streq(there->at.file ? there->at.file : "", n->at.file ? n->at.file : "");
}

/* Appends the place of the other line, and how an upper layer can delete it if possible. */
static void add_other_line(const struct ruling *r, const struct ynode *n, const char *key,
			   struct str *text)
{
	const char *dot = strrchr(key, '.');

	if (dot && key_is_of(r, key, n))
		str_addf(text, ", or delete %s:%u:%u by `%s: null` below %.*s", n->at.file,
			 n->at.line, n->at.col, dot + 1, (int)(dot - key), key);
	else
		str_addf(text, " (the other line is %s:%u:%u)", n->at.file, n->at.line, n->at.col);
}

static void report(struct ruling *r, bool warning, const struct ynode *n, const char *key,
		   const char *fmt, va_list ap)
{
	const struct ynode *at = n;
	cleanup_str struct str marked = {0};
	cleanup_free char *text = NULL;

	str_vaddf(&marked, fmt, ap);
	if (r->cause && layer_of(r, r->cause->at.file) > layer_of(r, n->at.file)) {
		at = r->cause;
		add_other_line(r, n, key, &marked);
	}
	text = settle_places(str_get(&marked), at->at.file ? at->at.file : "");
	strv_free(&r->places);
	r->cause = NULL;
	if (is_reported(r->diags, at->at, key, text))
		return;
	if (warning)
		diag_warn(r->diags, at->at, key, "%s", text);
	else
		diag_error(r->diags, at->at, key, "%s", text);
}

void rule_error(struct ruling *r, const struct ynode *n, const char *key, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(r, false, n, key, fmt, ap);
	va_end(ap);
}

void rule_warn(struct ruling *r, const struct ynode *n, const char *key, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(r, true, n, key, fmt, ap);
	va_end(ap);
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
	const struct ynode *vendor = ynode_get(section(r, "match"), "cpu_vendor");

	return vendor ?: ynode_get(section(r, "expect"), "cpu_vendor");
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

	/* ">=N" leaves the number of CPUs open, and nosmt changes the CPU numbers */
	if (find_arg(r, "nosmt") || !ynode_exact(expect, &there) ||
	    cpus_last(cpus) < (int64_t)there)
		return;
	rule_error(r, n, key, "CPU %d does not exist: expect.cpus (at %s) is %llu", cpus_last(cpus),
		   seen(r, expect), (unsigned long long)there);
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
	rule_error(r, n, key, "this machine has no CPU %s; its last CPU is %d", text,
		   cpus_last(&r->node->cpus));
}

/* --- running the rules -------------------------------------------------------------------- */

static const struct rule *const subjects[] = {
	rules_document,
	rules_devices,
	rules_references,
	rules_overlap,
};

/* The first list that is too long; merging bases and drop-ins can exceed the limit. */
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

	r->diags->code = "too-many";
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

/* Resolves in: once for all sets, because rules that compare sets follow it often. */
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
		if (r->p->name || !rule->whole) {
			r->diags->code = rule->name;
			rule->check(r);
		}
}

/* Runs the set rules of all sections together, so that each set's view is built once. */
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
	/* A rule reports an in: that names no set. */
	if (node && device_sets_resolve(node, p->devices.v, p->devices.n, &sets, &err) == 0)
		r.sets = &sets;
	for (size_t i = 0; i < array_len(subjects); i++)
		judge(&r, subjects[i]);
	for (const struct section *const *s = sections; *s; s++)
		if ((*s)->rules)
			judge(&r, (*s)->rules);
	if (p->name)
		judge_sets(&r);
	diags->code = NULL;
	device_sets_free(&sets);
	free(r.wider);
}
