/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions that an earlier boot had, and this one lacks. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/pci_address.h"
#include "base/str.h"
#include "engine/history.h"
#include "plan/change.h"

enum { NAMED_MAX = 4 };

/* --- the boots of this machine ---------------------------------------------------------------- */

struct past {
	const struct run *run;
	struct history history;
	struct binding now;
};

static void past_free(struct past *p)
{
	history_free(&p->history);
	binding_free(&p->now);
}

/* "": the boot had no such part, or could not read it. */
static const char *part_of(const struct binding *b, const char *part, const char *of)
{
	cleanup_free char *name = xasprintf("%s of %s", part, of);
	const struct binding_part *found = binding_find(b, name);

	return found ? found->value : "";
}

static void past_open(const struct run *run, struct past *ret)
{
	struct history all;

	*ret = (struct past){.run = run};
	if (history_look(run->root, NULL) < 0 || history_read(run->root, &all, NULL) < 0)
		return;
	binding_take(run->root, run->profile, &run->node, &run->sets, &ret->now);
	for (size_t i = 0; i < all.boots.n; i++) {
		const struct binding *parts = &all.boots.v[i].parts;

		if (parts->list.n && binding_same_machine(parts, &ret->now))
			vec_push(&ret->history.boots, all.boots.v[i]);
		else
			boot_past_free(&all.boots.v[i]);
	}
	vec_free(&all.boots);
}

/* The sets that had the function; binding_take() joins their names to "gpus, near". */
static struct strv sets_of(const struct binding *b, const char *addr)
{
	cleanup_free char *names = xstrdup(part_of(b, "set", addr));
	struct strv ret = {0};

	for (char *rest = names, *name; (name = strsep(&rest, ", "));)
		if (*name)
			strv_add(&ret, name);
	return ret;
}

static bool was_in(const struct binding *b, const char *addr, const struct device_set *set)
{
	cleanup_strv struct strv sets = sets_of(b, addr);

	return strv_contains(&sets, set->sel->name);
}

/* A boot whose profile had none of these sets says nothing of their members. */
static bool looked_for(const struct binding *b, const struct strv *sets)
{
	bool any = !sets->n;

	for (size_t i = 0; !any && i < sets->n; i++)
		any = *part_of(b, "members", sets->v[i]);
	return any;
}

/* A boot may have lost the function between two verdicts. NULL: it never had the function. */
static const struct binding *parts_with(const struct boot_past *boot, const char *addr)
{
	if (*part_of(&boot->parts, "model", addr))
		return &boot->parts;
	return *part_of(&boot->good, "model", addr) ? &boot->good : NULL;
}

static bool describe(const struct past *p, const char *addr, struct missing *ret)
{
	const struct history *h = &p->history;
	size_t last = h->boots.n, after;
	cleanup_strv struct strv sets = {0};
	const struct binding *b;

	while (last && !parts_with(&h->boots.v[last - 1], addr))
		last--;
	if (!last)
		return false;
	b = parts_with(&h->boots.v[last - 1], addr);
	sets = sets_of(b, addr);
	after = b == &h->boots.v[last - 1].parts ? last : last - 1;
	while (after < h->boots.n && !looked_for(&h->boots.v[after].parts, &sets))
		after++;
	*ret = (struct missing){
		.addr = xstrdup(addr),
		.model = xstrdup(part_of(b, "model", addr)),
		.root_port = xstrdup(part_of(b, "root port", addr)),
		.numa = xstrdup(part_of(b, "NUMA node", addr)),
		.last_seen = history_time(h, last - 1),
		.gone_since = after < h->boots.n ? history_time(h, after) : xstrdup(""),
	};
	for (size_t i = 0; i < sets.n; i++) {
		cleanup_free char *id = xasprintf("devices/%s/expect", sets.v[i]);

		strv_add(&ret->ids, id);
	}
	return true;
}

bool history_had(const struct run *run, const char *addr, struct missing *ret)
{
	cleanup_free char *whole = xasprintf("0000:%s", addr);
	cleanup(past_free) struct past p = {0};

	if (!pci_address_len(addr) && !pci_address_len(whole))
		return false;
	past_open(run, &p);
	return describe(&p, addr, ret) || describe(&p, whole, ret);
}

/* --- the members that a set lacks ------------------------------------------------------------- */

/*
 * A card that is gone or new can shift the bus numbers of others, and then their addresses mean
 * other cards. Root ports stay: each member must be where that boot had it.
 */
static bool kept_places(const struct past *p, const struct device_set *set, const struct binding *b)
{
	for (size_t i = 0; i < set->fn.n; i++) {
		const char *addr = set->fn.v[i]->addr;

		if (!was_in(b, addr, set) ||
		    !streq(part_of(b, "root port", addr), part_of(&p->now, "root port", addr)))
			return false;
	}
	return true;
}

/* A function that is still on the bus is not lost, but no longer matches. */
static bool is_lost(const struct past *p, const struct device_set *set, const struct binding *b,
		    const char *addr)
{
	const struct profile *profile = p->run->profile;
	struct pci_fn was = {0};

	if (pci_address_len(addr) != strlen(addr) || node_find(&p->run->node, addr) ||
	    !was_in(b, addr, set))
		return false;
	strcpy(was.addr, addr);
	sscanf(part_of(b, "model", addr), "%hx:%hx", &was.vendor, &was.device);
	return selector_may_hold(profile->devices.v, profile->devices.n, set->sel, &was);
}

static bool has(const struct missing_list *l, const char *addr)
{
	for (size_t i = 0; i < l->list.n; i++)
		if (streq(l->list.v[i].addr, addr))
			return true;
	return false;
}

/* Goes back to the last boot in which the set had enough members. */
static void find_lost(const struct past *p, const struct device_set *set, struct missing_list *ret)
{
	unsigned long had = 0, least = (unsigned long)set->least;
	struct missing m;

	for (size_t i = p->history.boots.n; i-- > 0 && had < least;) {
		const struct binding *b = &p->history.boots.v[i].parts;
		size_t n = kept_places(p, set, b) ? b->list.n : 0;

		had = strtoul(part_of(b, "members", set->sel->name), NULL, 10);
		for (size_t k = 0; k < n; k++) {
			const char *addr = binding_name(b->list.v[k].name).address;

			if (addr && !has(ret, addr) && is_lost(p, set, b, addr) &&
			    describe(p, addr, &m))
				vec_push(&ret->list, m);
		}
	}
}

/* The times are written so that they sort as texts. */
static void name_lost(const struct missing_list *all, const struct device_set *set,
		      struct change *c)
{
	cleanup_strv struct strv lost = {0};
	cleanup_free char *names = NULL;
	const char *seen = NULL;

	for (size_t i = 0; i < all->list.n; i++) {
		const struct missing *m = &all->list.v[i];

		if (!strv_contains(&m->ids, c->id))
			continue;
		strv_add(&lost, m->addr);
		if (!seen || strcmp(m->last_seen, seen) < 0)
			seen = m->last_seen;
	}
	if (!seen)
		return;
	names = strv_some(&lost, NAMED_MAX);
	change_reason(c,
		      "%s: %zu of %d functions; the boot of %s still had %s" TO_MEND
		      "reseat the card, or power-cycle the node; a card that stays away needs an "
		      "RMA",
		      set->sel->name, set->fn.n, set->least, seen, names);
}

void history_find_missing(struct run *run)
{
	cleanup(past_free) struct past p = {0};

	for (size_t i = 0; !run->missing.sought && i < run->sets.set.n; i++) {
		const struct device_set *set = &run->sets.set.v[i];
		cleanup_free char *id = xasprintf("devices/%s/expect", set->sel->name);
		struct change *c = plan_find(&run->plan, id);

		if (!c || set->unread || set->fn.n >= (size_t)set->least)
			continue;
		if (!p.run)
			past_open(run, &p);
		find_lost(&p, set, &run->missing);
		name_lost(&run->missing, set, c);
	}
	run->missing.sought = true;
}
