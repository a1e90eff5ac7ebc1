/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/sets.h"

#include "base/mem.h"
#include "base/str.h"
#include "report/inventory.h"
#include "report/table.h"

enum { SHOWN = 8 }; /* functions that a row of text names; JSON has all */

/* --- the account -------------------------------------------------------------------------- */

/*
 * The predicate of sel, or of a set that sel is in, that leaves fn out; NULL if none does. *why
 * gets the found and the wanted value.
 */
static const char *predicate_of(const struct node *node, const struct profile *p,
				const struct selector *sel, const struct pci_fn *fn,
				struct str *why)
{
	for (const struct selector *s = sel; s;
	     s = selector_find(p->devices.v, p->devices.n, s->in)) {
		cleanup(mismatch_free) struct mismatch m = {0};

		if (!selector_excludes(node, s, fn, &m))
			continue;
		if (s != sel)
			str_addf(why, "not in %s, %s: ", s->name, m.predicate);
		str_addf(why, "%s, expected %s", m.found, m.wanted);
		return s == sel ? m.predicate : "in";
	}
	return NULL;
}

static struct exclusion *exclusion_for(struct set_account *a, const char *predicate)
{
	struct exclusion e = {0};

	for (size_t i = 0; i < a->excluded.n; i++)
		if (streq(a->excluded.v[i].predicate, predicate))
			return &a->excluded.v[i];
	e.predicate = predicate;
	vec_push(&a->excluded, e);
	return &a->excluded.v[a->excluded.n - 1];
}

/* The protected set that holds fn, which this set would have had otherwise. */
static const char *protector(const struct sets_account *all, const struct pci_fn *fn)
{
	for (size_t i = 0; i < all->sets.set.n; i++)
		if (all->sets.set.v[i].sel->protect && device_set_has(&all->sets.set.v[i], fn))
			return all->sets.set.v[i].sel->name;
	return "another set";
}

static void account_for(const struct node *node, const struct profile *p,
			const struct sets_account *all, struct set_account *a,
			const struct pci_fn *fn)
{
	cleanup_str struct str why = {0};
	const char *predicate;
	struct left_out out = {.fn = fn};
	struct exclusion *e;

	if (device_set_has(a->set, fn))
		return;
	predicate = predicate_of(node, p, a->set->sel, fn, &why);
	if (!predicate) {
		predicate = "protect";
		str_addf(&why, "kept by %s", protector(all, fn));
	}
	e = exclusion_for(a, predicate);
	out.why = str_take(&why);
	e->count++;
	vec_push(&e->list, out);
}

static bool is_by_id(const struct exclusion *e)
{
	return streq(e->predicate, "pci") || streq(e->predicate, "in");
}

static uint8_t base_class(const struct pci_fn *fn)
{
	return (uint8_t)(fn->class >> 16);
}

static void keep_classes(struct exclusion *e, const bool *class)
{
	size_t kept = 0;

	for (size_t i = 0; i < e->list.n; i++) {
		if (class[base_class(e->list.v[i].fn)])
			e->list.v[kept++] = e->list.v[i];
		else
			free(e->list.v[i].why);
	}
	e->list.n = kept;
}

/*
 * Lists only functions of the class of the set's devices, because most functions with another id
 * are bridges and timers.
 */
static void keep_near(struct set_account *a)
{
	bool class[256] = {false};

	for (size_t i = 0; i < a->set->fn.n; i++)
		class[base_class(a->set->fn.v[i])] = true;
	for (size_t i = 0; i < a->excluded.n; i++) {
		const struct exclusion *e = &a->excluded.v[i];

		for (size_t j = 0; !is_by_id(e) && j < e->list.n; j++)
			class[base_class(e->list.v[j].fn)] = true;
	}
	for (size_t i = 0; i < a->excluded.n; i++)
		if (is_by_id(&a->excluded.v[i]))
			keep_classes(&a->excluded.v[i], class);
}

static void account_kept(const struct node *node, const struct profile *p, struct set_account *a)
{
	for (size_t i = 0; a->set->sel->protect && i < a->set->fn.n; i++)
		for (size_t j = 0; j < p->devices.n; j++) {
			const struct pci_fn *fn = a->set->fn.v[i];
			cleanup_str struct str why = {0};
			cleanup_free char *text = NULL;

			if (p->devices.v[j].protect)
				continue;
			if (predicate_of(node, p, &p->devices.v[j], fn, &why))
				continue;
			text = xasprintf("%s from %s", fn->addr, p->devices.v[j].name);
			strv_add(&a->keeps, text);
		}
}

int sets_account(const struct node *node, const struct profile *profile, struct sets_account *ret,
		 struct err *err)
{
	const struct pci_functions *functions = node_functions(node);
	struct sets_account all = {0};
	int r = device_sets_resolve(node, profile->devices.v, profile->devices.n, &all.sets, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < all.sets.set.n; i++) {
		struct set_account a = {.set = &all.sets.set.v[i]};

		for (size_t j = 0; j < functions->n; j++)
			account_for(node, profile, &all, &a, &functions->v[j]);
		keep_near(&a);
		account_kept(node, profile, &a);
		vec_push(&all.list, a);
	}
	*ret = all;
	return 0;
}

void sets_account_free(struct sets_account *all)
{
	for (size_t i = 0; i < all->list.n; i++) {
		struct set_account *a = &all->list.v[i];

		for (size_t j = 0; j < a->excluded.n; j++) {
			for (size_t k = 0; k < a->excluded.v[j].list.n; k++)
				free(a->excluded.v[j].list.v[k].why);
			vec_free(&a->excluded.v[j].list);
		}
		vec_free(&a->excluded);
		strv_free(&a->keeps);
	}
	vec_free(&all->list);
	device_sets_free(&all->sets);
}

/* --- JSON --------------------------------------------------------------------------------- */

static json_t *members_to_json(const struct device_set *set)
{
	json_t *list = json_array();

	for (size_t i = 0; i < set->fn.n; i++) {
		const struct pci_fn *fn = set->fn.v[i];

		json_array_append_new(list, json_pack("{s:s, s:o?, s:o, s:o}", "address", fn->addr,
						      "driver", text_json(fn->driver), "netdevs",
						      texts_json(&fn->net), "rdma",
						      texts_json(&fn->ibdevs)));
	}
	return list;
}

static json_t *excluded_to_json(const struct set_account *a)
{
	json_t *groups = json_array();

	for (size_t i = 0; i < a->excluded.n; i++) {
		const struct exclusion *e = &a->excluded.v[i];
		json_t *list = json_array();

		for (size_t j = 0; j < e->list.n; j++)
			json_array_append_new(list, json_pack("{s:s, s:o}", "address",
							      e->list.v[j].fn->addr, "reason",
							      text_json(e->list.v[j].why)));
		json_array_append_new(groups,
				      json_pack("{s:s, s:I, s:o}", "predicate", e->predicate,
						"count", (json_int_t)e->count, "functions", list));
	}
	return groups;
}

json_t *sets_to_json(const struct sets_account *all)
{
	json_t *list = json_array();

	for (size_t i = 0; i < all->list.n; i++) {
		const struct set_account *a = &all->list.v[i];
		const struct selector *sel = a->set->sel;
		json_t *obj =
			json_pack("{s:s, s:b, s:o, s:o, s:o}", "name", sel->name, "protect",
				  sel->protect, "members", members_to_json(a->set), "excluded",
				  excluded_to_json(a), "keeps", texts_json(&a->keeps));

		if (sel->expect >= 0 && !sel->or_more)
			json_object_set_new(obj, "expect", json_integer(sel->expect));
		else
			json_object_set_new(obj, "at_least", json_integer(a->set->least));
		json_array_append_new(list, obj);
	}
	return list;
}

/* --- text --------------------------------------------------------------------------------- */

static void add_words(struct str *out, const struct strv *l)
{
	for (size_t i = 0; i < l->n; i++)
		str_addf(out, " %s", l->v[i]);
}

static void members_to_rows(struct table *t, const struct device_set *set)
{
	for (size_t i = 0; i < set->fn.n; i++) {
		const struct pci_fn *fn = set->fn.v[i];
		cleanup_str struct str detail = {0};

		str_add(&detail, fn->driver ? fn->driver : "no driver");
		add_words(&detail, &fn->net);
		add_words(&detail, &fn->ibdevs);
		table_add(t, set->sel->name, "member", fn->addr, str_get(&detail));
	}
}

static bool all_for_one_reason(const struct exclusion *e)
{
	for (size_t i = 1; i < e->list.n; i++)
		if (!streq(e->list.v[0].why, e->list.v[i].why))
			return false;
	return e->list.n > 0;
}

/* "ports: 0000:5e:00.0, 0000:5e:00.1: the card has 2, expected 1" */
static void describe(struct str *out, const struct exclusion *e)
{
	bool same = all_for_one_reason(e);
	size_t n = e->list.n < SHOWN ? e->list.n : SHOWN;

	str_add(out, e->predicate);
	for (size_t i = 0; i < n; i++) {
		str_addf(out, "%s %s", i ? same ? "," : ";" : ":", e->list.v[i].fn->addr);
		if (!same)
			str_addf(out, ": %s", e->list.v[i].why);
	}
	if (n < e->list.n)
		str_addf(out, "%s and %zu more", same ? "," : ";", e->list.n - n);
	if (same)
		str_addf(out, ": %s", e->list.v[0].why);
}

static void excluded_to_rows(struct table *t, const struct set_account *a)
{
	for (size_t i = 0; i < a->excluded.n; i++) {
		const struct exclusion *e = &a->excluded.v[i];
		cleanup_str struct str detail = {0};
		cleanup_free char *count = xasprintf("%zu", e->count);

		describe(&detail, e);
		table_add(t, a->set->sel->name, "excluded", count, str_get(&detail));
	}
}

static void set_to_rows(struct table *t, const struct set_account *a)
{
	const struct selector *sel = a->set->sel;
	cleanup_free char *count = xasprintf("%zu", a->set->fn.n);
	cleanup_free char *expected = device_set_expectation(a->set), *detail = NULL;

	if (!expected)
		detail = xstrdup("no number expected");
	else
		detail = xasprintf("%s expected: %s%s", expected,
				   device_set_holds(a->set) ? "ok" : "no",
				   sel->protect ? "; protected" : "");
	table_add(t, sel->name, "members", count, detail);
	members_to_rows(t, a->set);
	for (size_t i = 0; i < a->keeps.n; i++)
		table_add(t, sel->name, "keeps", "", a->keeps.v[i]);
	excluded_to_rows(t, a);
}

void sets_render(FILE *out, const struct sets_account *all, bool aligned)
{
	static const char *const heading[] = {"SET", "WHAT", "FUNCTIONS", "DETAIL", NULL};
	struct table t = {.name = "set", .heading = heading};

	for (size_t i = 0; i < all->list.n; i++)
		set_to_rows(&t, &all->list.v[i]);
	table_print(out, &t, aligned);
	table_free(&t);
}
