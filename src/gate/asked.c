/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gate/asked.h"

#include "base/mem.h"
#include "base/str.h"
#include "gate/gate.h"

enum { NAMED = 3 }; /* benchmarks that a message names; the others are counted */

static bool asks(const struct probe *p)
{
	return p->check->no_load && !probe_is_declined(p);
}

static bool loads(const struct probe *p, const struct probe *asking)
{
	return !p->check->no_load && !probe_is_declined(p) &&
	       strv_contains(&p->functions, probe_member(asking));
}

bool asked_find(struct probes *all)
{
	bool found = false;

	for (size_t i = 0; i < all->list.n; i++) {
		struct probe *p = all->list.v[i];

		for (size_t k = 0; k < all->list.n && !p->loads_asked; k++)
			p->loads_asked = asks(all->list.v[k]) && loads(p, all->list.v[k]);
		found = found || p->loads_asked;
	}
	return found;
}

bool asked_answers(const struct probe *p)
{
	return p->m.state != CHANGE_FAILED;
}

static bool takes_load(const struct probe *asking)
{
	return asking->m.on_fail != ON_FAIL_BLOCK ||
	       (asked_answers(asking) && !json_is_true(json_object_get(asking->m.detail, "unfit")));
}

static void decline_loads(struct probes *all, const struct probe *asking)
{
	enum fault fault =
		fault_parse(json_string_value(json_object_get(asking->m.detail, "fault")));

	for (size_t i = 0; i < all->list.n; i++) {
		struct probe *p = all->list.v[i];

		if (!p->loads_asked || !loads(p, asking))
			continue;
		p->m.fault = fault;
		p->kept_off_by = asking;
		probe_declines(
			p, CHANGE_CANNOT_MEASURE,
			"not run: %s gets no load until the faults that %s reports are mended",
			probe_member(asking), asking->m.id);
	}
}

static void keep(const struct probes *all, struct probe *asking)
{
	cleanup_strv struct strv names = {0};

	for (size_t i = 0; i < all->list.n; i++) {
		const struct probe *p = all->list.v[i];

		if (loads(p, asking) && !strv_contains(&names, p->m.check))
			strv_add(&names, p->m.check);
	}
	asking->loads = names.n ? strv_some(&names, NAMED) : NULL;
	asking->stood = json_incref(json_object_get(asking->m.detail, "faults"));
}

void asked_take(struct probes *all)
{
	for (size_t i = 0; i < all->list.n; i++)
		if (all->list.v[i]->check->no_load && !takes_load(all->list.v[i]))
			decline_loads(all, all->list.v[i]);
	for (size_t i = 0; i < all->list.n; i++) {
		struct probe *p = all->list.v[i];

		if (!p->check->no_load)
			continue;
		keep(all, p);
		if (p->m.state == CHANGE_SAME) /* no faults before the load to report */
			measurement_looks_free(&p->m);
	}
}

void asked_end(struct probes *all)
{
	for (size_t i = 0; i < all->list.n; i++) {
		struct probe *p = all->list.v[i];
		const struct measurement *by = p->kept_off_by ? &p->kept_off_by->m : NULL;

		p->m.follows = by && !measurement_holds(by) && by->on_fail == ON_FAIL_BLOCK;
	}
}
