/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/fitness.h"

#include <string.h>

#include "base/mem.h"
#include "checks/looks.h"
#include "engine/hold_back.h"
#include "kinds/kind.h"
#include "node/uplinks.h"
#include "plan/change.h"
#include "sys/clock.h"
#include "sys/uevent.h"
#include "sys/waiting.h"

enum { WAIT_US = 30 * 1000000 };

/* --- looks and measurements ------------------------------------------------------------------ */

static bool has_failed(const struct change *c)
{
	if (c->of_args || c->on_fail == ON_FAIL_WARN || c->kind == &kind_benchmark ||
	    is_held_back(c))
		return false;
	/*
	 * A change that waits for another fails through that other change, and a check that settles
	 * may still come true.
	 */
	return c->now.state == CHANGE_FAILED ||
	       (c->now.state == CHANGE_DIFFERS && !change_may_come(c));
}

static void add_measurement(const struct measurement *m, struct outcome *o)
{
	if (m->state == CHANGE_SAME)
		attempts_add(&o->held, m->id);
	else if (m->state == CHANGE_SLOW || m->state == CHANGE_FAILED)
		attempts_add(&o->missed, m->id);
}

/* --- carriers -------------------------------------------------------------------------------- */

/* The same look as that of a carrier check. */
static bool is_up(const struct run *run, const char *addr)
{
	struct kind_ctx ctx = {.root = run->root, .node = &run->node, .running = STAGE_GATE};
	struct plan plan = {0};
	struct change *c = plan_add(&plan, "gate", &kind_check, STAGE_GATE, PHASE_CHECK,
				    (struct place){0}, "carrier/%s", addr);
	bool up;

	change_on(c, addr, &carrier_item);
	change_target(c, "carrier:%s", addr);
	change_desired(c, "up");
	kinds_forget(c);
	up = kind_look(&ctx, c, NULL) == 0 && change_holds(c);
	plan_free(&plan);
	return up;
}

static bool leads_out(const struct pci_fn *fn, const struct strv *uplinks)
{
	for (size_t i = 0; i < fn->net.n; i++)
		if (strv_contains(uplinks, fn->net.v[i]))
			return true;
	return false;
}

static void add_if_up(const struct run *run, const struct pci_fn *fn, struct strv *up)
{
	if (fn->net.n && !strv_contains(up, fn->addr) && is_up(run, fn->addr))
		attempts_add(up, fn->addr);
}

static void find_carriers(const struct run *run, struct strv *up)
{
	const struct pci_functions *functions = node_functions(&run->node);
	cleanup_strv struct strv uplinks = {0};

	for (size_t i = 0; i < run->sets.set.n; i++)
		for (size_t k = 0; k < run->sets.set.v[i].fn.n; k++)
			add_if_up(run, run->sets.set.v[i].fn.v[k], up);
	node_uplinks(run->root, &uplinks);
	for (size_t i = 0; i < functions->n; i++)
		if (leads_out(&functions->v[i], &uplinks))
			add_if_up(run, &functions->v[i], up);
}

struct carriers_wait {
	const struct run *run;
	const struct strv *before;
	struct strv *up;
	uint64_t started;
};

/* Also those that no set names any more. */
static bool all_up(void *arg)
{
	struct carriers_wait *w = arg;
	const char *first = NULL;
	size_t down = 0;

	for (size_t i = 0; i < w->before->n; i++) {
		const char *addr = w->before->v[i];

		if (strv_contains(w->up, addr))
			continue;
		if (is_up(w->run, addr)) {
			attempts_add(w->up, addr);
			continue;
		}
		first = first ? first : addr;
		down++;
	}
	if (first)
		waiting_for(first, down - 1, w->started, w->started + WAIT_US, 0);
	return !first;
}

static void wait_for_carriers(const struct run *run, struct strv *up)
{
	cleanup_attempts struct attempts past = {0};
	struct carriers_wait w = {.run = run, .up = up, .started = clock_usec()};

	if (attempts_read(run->root, &past, NULL) < 0 || !past.armed)
		return; /* the trial of this boot is judged already */
	w.before = &past.before.up;
	if (!all_up(&w) && run->root->live)
		uevent_wait(all_up, &w, w.started + WAIT_US);
}

/* --- both ------------------------------------------------------------------------------------ */

void fitness_look(struct run *run, const struct measurements *measured, struct outcome *ret)
{
	for (size_t i = 0; i < run->plan.list.n; i++)
		if (has_failed(run->plan.list.v[i]))
			attempts_add(&ret->failed, run->plan.list.v[i]->id);
	for (size_t i = 0; i < measured->list.n; i++)
		add_measurement(&measured->list.v[i], ret);
	find_carriers(run, &ret->up);
	if (trial_on_line(run->node.cmdline))
		wait_for_carriers(run, &ret->up);
}

void fitness_learn(struct run *run)
{
	cleanup_attempts struct attempts past = {0};
	size_t known;

	if (attempts_read(run->root, &past, NULL) < 0 || !past.before.profile ||
	    (past.armed && trial_on_line(run->node.cmdline)))
		return;
	known = past.before.up.n;
	find_carriers(run, &past.before.up);
	strv_sort(&past.before.up);
	if (past.before.up.n > known) /* without it a later trial is judged by fewer carriers */
		attempts_write(run->root, &past, NULL);
}
