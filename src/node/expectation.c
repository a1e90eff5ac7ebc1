/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the number of members that a device set must have on a node, and why a set has none. */
#include <string.h>

#include "base/mem.h"
#include "base/pattern.h"
#include "base/str.h"
#include "node/node.h"

bool device_set_holds(const struct device_set *set)
{
	if (set->unread)
		return false;
	if (set->sel->expect >= 0 && !set->sel->or_more)
		return set->fn.n == (size_t)set->sel->expect;
	return set->fn.n >= (size_t)set->least;
}

char *device_set_expectation(const struct device_set *set)
{
	const struct selector *sel = set->sel;

	if (sel->expect < 0 && !selector_least(sel))
		return NULL;
	return xasprintf("%s%d", sel->expect < 0 || sel->or_more ? ">=" : "", set->least);
}

/* --- the predicates of a set, one by one ---------------------------------------------------- */

struct predicate {
	struct selector alone; /* a selector with only this predicate */
	char *text;	       /* "pci 15b3:1023" */
};

struct predicates {
	VEC(struct predicate) list;
};

static const struct selector any = {
	.vendor = -1,
	.device = -1,
	.subsystem_vendor = -1,
	.subsystem_device = -1,
	.numa = -1,
	.expect = -1,
};

static void add(struct predicates *ret, const struct selector *alone, char *text)
{
	struct predicate p = {.alone = *alone, .text = text};

	vec_push(&ret->list, p);
}

static void add_id(struct predicates *ret, const char *key, int vendor, int device)
{
	struct selector alone = any;

	if (vendor < 0 && device < 0)
		return;
	if (streq(key, "pci")) {
		alone.vendor = vendor;
		alone.device = device;
	} else {
		alone.subsystem_vendor = vendor;
		alone.subsystem_device = device;
	}
	add(ret, &alone,
	    device < 0
		    ? xasprintf("%s %04x:*", key, (unsigned int)vendor)
		    : xasprintf("%s %04x:%04x", key, (unsigned int)vendor, (unsigned int)device));
}

static void add_number(struct predicates *ret, const char *key, struct selector *alone, int *field,
		       int wanted, int none)
{
	if (wanted == none)
		return;
	*field = wanted;
	add(ret, alone, xasprintf("%s %d", key, wanted));
	*field = none;
}

static void add_text(struct predicates *ret, const char *key, struct selector *alone, char **field,
		     char *wanted)
{
	if (!wanted)
		return;
	*field = wanted;
	add(ret, alone, xasprintf("%s %s", key, wanted));
	*field = NULL;
}

static void add_predicates(struct predicates *ret, const struct selector *s)
{
	struct selector alone = any, link = any;

	add_id(ret, "pci", s->vendor, s->device);
	add_id(ret, "subsystem", s->subsystem_vendor, s->subsystem_device);
	add_text(ret, "address", &alone, &alone.address, s->address);
	add_number(ret, "numa", &alone, &alone.numa, s->numa, -1);
	add_number(ret, "ports", &alone, &alone.ports, s->ports, 0);
	add_number(ret, "port", &alone, &alone.port, s->port, 0);
	add_text(ret, "driver", &alone, &alone.driver, s->driver);
	add_text(ret, "part_number", &alone, &alone.part_number, s->part_number);
	link.ethernet = s->ethernet;
	link.infiniband = s->infiniband;
	if (s->ethernet || s->infiniband)
		add(ret, &link, xasprintf("link %s", s->ethernet ? "ethernet" : "infiniband"));
}

/* The predicates of sel and of its wider sets, all of which device_sets_resolve() found. */
static void find_predicates(const struct selector *sels, size_t n, const struct selector *sel,
			    struct predicates *ret)
{
	for (; sel; sel = selector_find(sels, n, sel->in))
		add_predicates(ret, sel);
}

static void predicates_free(struct predicates *p)
{
	for (size_t i = 0; i < p->list.n; i++)
		free(p->list.v[i].text);
	vec_free(&p->list);
}

/* --- the nearest functions -------------------------------------------------------------------- */

enum { NEAREST_MAX = 3, FAR = 1000, TYPOS_MAX = 2 };

/* Functions that differ from the predicates in the same way. */
struct group {
	char *how; /* "15b3:1021", "ports: the card has 2" */
	size_t n;
	unsigned int distance, digits;
};

struct groups {
	VEC(struct group) list;
};

static unsigned int digits_apart(int wanted, unsigned int have)
{
	unsigned int n = 0;

	for (unsigned int shift = 0; wanted >= 0 && shift < 16; shift += 4)
		n += (((unsigned int)wanted >> shift) & 0xf) != ((have >> shift) & 0xf);
	return n;
}

/* Whether `wanted` is a complete address that differs from `have` in one character. */
static bool address_is_mistyped(const char *wanted, const char *have)
{
	unsigned int n = 0;

	if (!wanted || pattern_is(wanted) || strlen(wanted) != strlen(have))
		return false;
	for (size_t i = 0; wanted[i]; i++)
		n += wanted[i] != have[i];
	return n == 1;
}

/* Another vendor's function is near only if the id looks mistyped. */
static bool id_is_far(const struct selector *s, const struct pci_fn *fn, unsigned int *digits)
{
	unsigned int vendor = digits_apart(s->vendor, fn->vendor) +
			      digits_apart(s->subsystem_vendor, fn->subsystem_vendor);

	*digits += vendor + digits_apart(s->device, fn->device) +
		   digits_apart(s->subsystem_device, fn->subsystem_device);
	return vendor && *digits > TYPOS_MAX;
}

static void describe(struct str *how, const struct predicate *p, const struct pci_fn *fn,
		     const struct mismatch *m)
{
	if (how->len)
		str_add(how, " and ");
	if (p->alone.vendor >= 0)
		str_addf(how, "%04x:%04x", fn->vendor, fn->device);
	else
		str_addf(how, "%s: %s", m->predicate, m->found);
}

/* A profile's selectors, and the predicates of the explained selector. */
struct question {
	const struct node *node;
	const struct selector *sels;
	size_t n;
	struct predicates predicates;
};

static bool holds_all(const struct node *node, const struct predicates *p, const struct pci_fn *fn)
{
	for (size_t i = 0; i < p->list.n; i++)
		if (selector_excludes(node, &p->list.v[i].alone, fn, NULL))
			return false;
	return true;
}

static const char *protector(const struct question *q, const struct pci_fn *fn)
{
	for (size_t i = 0; i < q->n; i++) {
		struct predicates p = {0};
		bool holds;

		if (!q->sels[i].protect)
			continue;
		find_predicates(q->sels, q->n, &q->sels[i], &p);
		holds = holds_all(q->node, &p, fn);
		predicates_free(&p);
		if (holds)
			return q->sels[i].name;
	}
	return "another set";
}

/* The distance of fn from all predicates: one for each that fails. */
static struct group measure(const struct question *q, const struct pci_fn *fn)
{
	const struct predicates *p = &q->predicates;
	struct group g = {.n = 1};
	struct str how = {0};

	for (size_t i = 0; i < p->list.n; i++) {
		const struct selector *alone = &p->list.v[i].alone;
		cleanup(mismatch_free) struct mismatch m = {0};

		if (!selector_excludes(q->node, alone, fn, &m))
			continue;
		g.distance++;
		if (id_is_far(alone, fn, &g.digits))
			g.distance += FAR;
		g.digits += address_is_mistyped(alone->address, fn->addr);
		describe(&how, &p->list.v[i], fn, &m);
	}
	if (!g.distance)
		str_addf(&how, "protected by %s", protector(q, fn));
	g.how = str_take(&how);
	return g;
}

static void add_group(struct groups *all, struct group g)
{
	size_t at = 0;

	for (size_t i = 0; i < all->list.n; i++)
		if (streq(all->list.v[i].how, g.how)) {
			all->list.v[i].n++;
			free(g.how);
			return;
		}
	vec_push(&all->list, g);
	while (at + 1 < all->list.n && all->list.v[at].digits <= g.digits)
		at++;
	for (size_t i = all->list.n - 1; i > at; i--)
		all->list.v[i] = all->list.v[i - 1];
	all->list.v[at] = g;
}

static void groups_clear(struct groups *all)
{
	for (size_t i = 0; i < all->list.n; i++)
		free(all->list.v[i].how);
	vec_free(&all->list);
}

/* Groups at the smallest distance at which any predicate holds. */
static void find_nearest(const struct question *q, struct groups *ret)
{
	const struct pci_functions *functions = node_functions(q->node);
	unsigned int best = FAR;

	for (size_t i = 0; i < functions->n; i++) {
		const struct pci_fn *fn = &functions->v[i];
		struct group g;

		if (*fn->physfn)
			continue;
		g = measure(q, fn);
		/* If no predicate holds, only a mistyped id is near. */
		if (g.distance > best || (g.distance == q->predicates.list.n && !g.digits)) {
			free(g.how);
			continue;
		}
		if (g.distance < best)
			groups_clear(ret);
		best = g.distance;
		add_group(ret, g);
	}
}

static void add_nearest(struct str *out, const struct groups *near)
{
	for (size_t i = 0; i < near->list.n && i < NEAREST_MAX; i++)
		str_addf(out, "%s %s (%zu)", i ? "," : "; nearest:", near->list.v[i].how,
			 near->list.v[i].n);
	if (near->list.n > NEAREST_MAX)
		str_addf(out, " and %zu more", near->list.n - NEAREST_MAX);
	if (!near->list.n)
		str_add(out, "; see `railhead survey` for what there is");
}

static char *why_empty(const struct node *node, const struct selector *sels, size_t n,
		       const struct selector *sel)
{
	struct question q = {.node = node, .sels = sels, .n = n};
	const struct predicates *p = &q.predicates;
	struct groups near = {0};
	struct str out = {0};

	find_predicates(sels, n, sel, &q.predicates);
	find_nearest(&q, &near);
	str_addf(&out, "%s: no function matches ", sel->name);
	for (size_t i = 0; i < p->list.n; i++)
		str_addf(&out, "%s%s", i ? ", " : "", p->list.v[i].text);
	add_nearest(&out, &near);
	groups_clear(&near);
	predicates_free(&q.predicates);
	return str_take(&out);
}

char *device_set_fault(const struct node *node, const struct selector *sels, size_t n,
		       const struct device_set *set)
{
	const struct selector *sel = set->sel;

	if (set->unread)
		return xasprintf("%s: %s may be a member, but railhead can't read it: %s",
				 sel->name, set->unread->addr, set->unread->unread);
	if (!set->fn.n)
		return why_empty(node, sels, n, sel);
	if (set->fn.n < (size_t)set->least)
		return xasprintf("%s: %zu of %d functions; see `lspci -Dnn`: a function that is "
				 "gone from the bus needs a reseat or an RMA",
				 sel->name, set->fn.n, sel->expect);
	if (!sel->expect)
		return xasprintf("%s: %zu functions, none expected: this node is another SKU, or "
				 "has a card too many; see `railhead match --explain`",
				 sel->name, set->fn.n);
	return xasprintf("%s: %zu functions, %d expected; see `railhead match --explain`, and "
			 "describe the set more narrowly or expect more",
			 sel->name, set->fn.n, sel->expect);
}
