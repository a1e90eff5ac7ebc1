/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/marks.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "gate/gate.h"
#include "kinds/kind.h"
#include "report/text.h"

const char *mark_grade_name(enum mark_grade g)
{
	static const char *const names[] = {
		[MARK_BLOCKS] = "blocks",
		[MARK_WARNS] = "warning",
		[MARK_PENDING] = "pending",
	};

	return names[g];
}

enum mark_place mark_place(const struct mark *m, const struct node *node)
{
	if (node_find(node, m->on.addr))
		return PLACE_FUNCTION;
	if (!*m->on.addr && m->on.numa >= 0 && cpus_has(&node->nodes, (unsigned int)m->on.numa))
		return PLACE_NUMA;
	return PLACE_MACHINE;
}

bool mark_is_about(const struct mark *m, const struct node *node, const struct pci_fn *fn)
{
	const struct pci_fn *on = *m->on.addr ? node_find(node, m->on.addr) : NULL;

	return on && (on == fn || streq(on->physfn, fn->addr));
}

bool mark_is_about_vf(const struct mark *m, const struct pci_fn *vf, int index)
{
	return streq(m->on.addr, vf->addr) || (m->on.vf == index && streq(m->on.addr, vf->physfn));
}

static bool has_id(const struct marks *m, const char *id)
{
	for (size_t i = 0; i < m->list.n; i++)
		if (streq(m->list.v[i].id, id))
			return true;
	return false;
}

static bool has_fault(const struct marks *m, enum fault fault, const char *addr)
{
	for (size_t i = 0; i < m->list.n; i++)
		if (m->list.v[i].fault == fault && streq(m->list.v[i].on.addr, addr))
			return true;
	return false;
}

/* Copies the texts. remedy: or NULL. */
static void add(struct marks *m, enum mark_grade grade, enum fault fault, const char *id,
		const char *what, const char *remedy)
{
	vec_push(&m->list,
		 ((struct mark){grade, xstrdup(id), xstrdup(what), remedy ? xstrdup(remedy) : NULL,
				fault, id_subject_of(id)}));
}

static void add_finding(struct marks *m, enum mark_grade grade, const struct finding *f)
{
	cleanup_free char *what = finding_what(f), *remedy = finding_next_step(f);

	add(m, grade, f->fault, or_empty(f->id), what, remedy);
}

static enum mark_grade grade_of(enum on_fail on_fail)
{
	return on_fail == ON_FAIL_BLOCK ? MARK_BLOCKS : MARK_WARNS;
}

static void take_findings(const struct record *r, struct marks *ret)
{
	for (size_t i = 0; i < r->verdict.findings.list.n; i++) {
		const struct finding *f = &r->verdict.findings.list.v[i];
		bool waits = r->verdict.kind == VERDICT_WAITING && f->lasting;

		add_finding(ret, waits ? MARK_PENDING : grade_of(f->on_fail), f);
	}
}

/* The change of that id, from the last stage that had it. */
static bool is_latest(const struct record *r, const struct record_change *c)
{
	for (int s = STAGE_COUNT - 1; s >= 0; s--)
		for (size_t i = 0; i < r->stage[s].changes.n; i++)
			if (streq(r->stage[s].changes.v[i].now.id, c->now.id))
				return &r->stage[s].changes.v[i] == c;
	return false;
}

/* Adds changes that the verdict does not judge, or that were made before the verdict. */
static void take_change(const struct record *r, const struct record_change *c, struct marks *ret)
{
	const struct kind *kind = c->kind ? kind_find(c->kind) : NULL;
	bool failed = c->now.state == CHANGE_FAILED, differs = c->now.state == CHANGE_DIFFERS;
	cleanup_free char *place = text_place(c->origin ? c->origin : "the profile");
	struct finding f = {.id = c->now.id,
			    .state = c->now.state,
			    .fault = c->now.fault,
			    .why = c->now.why,
			    .tried = c->now.tried,
			    .wanted = c->now.why ? NULL : c->now.wanted,
			    .found = c->now.found};

	if ((!failed && !differs && c->now.state != CHANGE_WAITS) || has_id(ret, c->now.id) ||
	    !is_latest(r, c))
		return;
	if (differs && kind && kind->set && !c->now.tried.words)
		f.apply = place;
	add_finding(ret, failed ? grade_of(c->now.on_fail) : MARK_PENDING, &f);
}

static void take_changes(const struct record *r, struct marks *ret)
{
	for (enum stage s = 0; s < STAGE_COUNT; s++)
		for (size_t i = 0; i < r->stage[s].changes.n; i++)
			take_change(r, &r->stage[s].changes.v[i], ret);
}

static void take_measurements(const struct record *r, struct marks *ret)
{
	for (size_t i = 0; i < r->measurements.list.n; i++) {
		const struct measurement *m = &r->measurements.list.v[i];
		struct finding f = measurement_finding(m);

		if (!measurement_holds(m) && !has_id(ret, m->id))
			add_finding(ret, measurement_may_come(m->state) ? MARK_PENDING : MARK_WARNS,
				    &f);
	}
}

/* --- links --------------------------------------------------------------------------------- */

static uint32_t number_of(const struct thing *t, const char *key, bool is_speed)
{
	const char *text = thing_get(t, key);
	uint32_t tenths = 0;

	if (!text)
		return 0;
	if (is_speed)
		return parse_gts(text, &tenths) < 0 ? 0 : tenths;
	return (uint32_t)strtoul(text, NULL, 10);
}

/* The smaller capability of the two ends; an unknown one counts as equal to the other's. */
static uint32_t best_of(const struct thing *end, const struct thing *other, const char *key,
			bool is_speed)
{
	uint32_t a = number_of(end, key, is_speed), b = number_of(other, key, is_speed);

	return !b || (a && a < b) ? a : b;
}

/* The number of bridges above. */
static size_t depth_of(const struct inventory *inv, const struct thing *more)
{
	const char *bridge;
	size_t depth = 0;

	while (more && depth < inv->pci.n && (bridge = thing_get(more, "bridge"))) {
		more = thing_find(&inv->pci, bridge);
		depth++;
	}
	return depth;
}

/*
 * True if the function shows the link above it. Root ports and the downstream ports of switches,
 * with an even number of bridges above them, show the link below: that of the part plugged in
 * there.
 */
static bool has_link_above(const struct inventory *inv, const struct pci_fn *fn,
			   const struct thing *more)
{
	return !pci_fn_is_bridge(fn) || depth_of(inv, more) % 2;
}

struct link_state link_state_of(const struct inventory *inv, const struct pci_fn *fn,
				const struct thing *more)
{
	const char *bridge = thing_get(more, "bridge");
	const struct thing *port = bridge ? thing_find(&inv->pci, bridge) : NULL;
	struct link_state ret = {
		.width = number_of(more, "link_width", false),
		.best_width = best_of(more, port, "max_link_width", false),
		.speed = number_of(more, "link_speed", true),
		.best_speed = best_of(more, port, "max_link_speed", true),
	};

	if (!has_link_above(inv, fn, more))
		return (struct link_state){0};
	ret.narrow = ret.width && ret.width < ret.best_width;
	ret.slow = ret.speed && ret.speed < ret.best_speed && !pci_fn_may_idle(fn);
	return ret;
}

static enum fault fault_of_link(const struct pci_fn *fn, bool narrow)
{
	switch (fn->class >> 16) {
	case 0x02:
		return narrow ? FAULT_NIC_LINK_WIDTH : FAULT_NIC_LINK_SPEED;
	case 0x03:
		return narrow ? FAULT_GPU_LINK_WIDTH : FAULT_GPU_LINK_SPEED;
	default:
		return narrow ? FAULT_PCI_LINK_WIDTH : FAULT_PCI_LINK_SPEED;
	}
}

/* Skips a fault that a check of the gate reports with more detail. */
static void add_link(struct marks *m, const struct pci_fn *fn, bool narrow, const char *what)
{
	enum fault fault = fault_of_link(fn, narrow);
	cleanup_free char *id = xasprintf("pci/%s/link", fn->addr);

	if (!has_fault(m, fault, fn->addr))
		add(m, MARK_WARNS, fault, id, what, fault_row(fault)->remedy);
}

/* An empty slot and a link that is down have no state to judge. */
static void take_link(const struct inventory *inv, const struct pci_fn *fn,
		      const struct thing *more, struct marks *ret)
{
	struct link_state link = link_state_of(inv, fn, more);
	cleanup_free char *width = NULL, *speed = NULL;

	if (link.narrow) {
		width = xasprintf("the link trained to x%u, both ends support x%u", link.width,
				  link.best_width);
		add_link(ret, fn, true, width);
	}
	if (link.slow) {
		speed = xasprintf("the link trained to %.1f GT/s, both ends support %.1f GT/s",
				  link.speed / 10.0, link.best_speed / 10.0);
		add_link(ret, fn, false, speed);
	}
}

/* --- all ----------------------------------------------------------------------------------- */

static void sort_by_grade(struct marks *m)
{
	struct marks sorted = {0};

	for (enum mark_grade g = 0; g < MARK_GRADE_COUNT; g++)
		for (size_t i = 0; i < m->list.n; i++)
			if (m->list.v[i].grade == g)
				vec_push(&sorted.list, m->list.v[i]);
	vec_free(&m->list);
	*m = sorted;
}

void marks_find(const struct node *node, const struct inventory *inv, const struct record *record,
		struct marks *ret)
{
	const struct pci_functions *functions = node_functions(node);
	*ret = (struct marks){0};
	if (record) {
		take_findings(record, ret);
		take_changes(record, ret);
		take_measurements(record, ret);
	}
	for (size_t i = 0; i < functions->n; i++)
		if (!*functions->v[i].physfn)
			take_link(inv, &functions->v[i], &inv->pci.v[i], ret);
	sort_by_grade(ret);
}

void marks_free(struct marks *m)
{
	for (size_t i = 0; i < m->list.n; i++) {
		free(m->list.v[i].id);
		free(m->list.v[i].what);
		free(m->list.v[i].remedy);
	}
	vec_free(&m->list);
}
