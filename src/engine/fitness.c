/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/fitness.h"

#include <string.h>

#include "base/mem.h"
#include "base/pci_address.h"
#include "base/str.h"
#include "boot/health.h"
#include "boot/trial.h"
#include "checks/looks.h"
#include "kinds/checks.h"
#include "kinds/kind.h"
#include "node/uplinks.h"
#include "sys/clock.h"
#include "sys/state.h"
#include "sys/uevent.h"
#include "sys/waiting.h"

#define WAYS_FILE "uplinks"
#define WAYS_TITLE "railhead uplinks 1\n"

enum { WAYS_MAX = 64, WAIT_US = 30 * 1000000 };

/* --- which boot this is ---------------------------------------------------------------------- */

static bool has_args(const struct run *run)
{
	const struct change *c = plan_find(&run->plan, "kernel_args/next_boot");

	return c && change_holds(c);
}

/* --- looks ----------------------------------------------------------------------------------- */

static bool has_failed(const struct change *c)
{
	if (c->of_args || c->on_fail == ON_FAIL_WARN || c->kind == &kind_benchmark)
		return false;
	/*
	 * A change that waits for another fails through that other change, and a check that settles
	 * may still come true.
	 */
	return c->state == CHANGE_FAILED || (c->state == CHANGE_DIFFERS && !c->settles);
}

/* --- ways out -------------------------------------------------------------------------------- */

static void read_ways(const struct root *root, struct strv *ret)
{
	cleanup_free char *text = NULL;
	char *rest, *line;

	if (state_kept(root, WAYS_FILE, &text, NULL) < 0 || !str_starts(text, WAYS_TITLE))
		return;
	rest = text + strlen(WAYS_TITLE);
	while ((line = strsep(&rest, "\n")))
		if (*line && pci_address_len(line) == strlen(line) && ret->n < WAYS_MAX &&
		    !strv_contains(ret, line))
			strv_add(ret, line);
}

/* The same look as that of a carrier check. */
static struct change *add_way(struct plan *plan, const char *addr)
{
	struct change *c = plan_add(plan, "gate", &kind_check, STAGE_GATE, PHASE_CHECK,
				    (struct place){0}, "uplink/%s", addr);

	change_on(c, addr, &carrier_item);
	c->on.vf = -1;
	change_target(c, "carrier:%s", addr);
	change_desired(c, "up");
	return c;
}

static bool look_at_way(const struct run *run, struct change *c)
{
	struct kind_ctx ctx = {.root = run->root, .node = &run->node, .running = STAGE_GATE};

	kinds_forget(c);
	return kind_look(&ctx, c, NULL) == 0 && change_holds(c);
}

struct ways_wait {
	const struct run *run;
	struct plan plan;
	uint64_t started;
};

static bool all_up(void *arg)
{
	struct ways_wait *w = arg;
	const struct change *first = NULL;
	size_t down = 0;

	for (size_t i = 0; i < w->plan.list.n; i++) {
		struct change *c = w->plan.list.v[i];

		if (look_at_way(w->run, c))
			continue;
		first = first ? first : c;
		down++;
	}
	if (first)
		waiting_for(first->id, down - 1, w->started, w->started + WAIT_US, 0);
	return !first;
}

static void look_at_ways(const struct run *run, struct strv *failed)
{
	struct ways_wait w = {.run = run, .started = clock_usec()};
	cleanup_strv struct strv ways = {0};

	read_ways(run->root, &ways);
	for (size_t i = 0; i < ways.n; i++)
		add_way(&w.plan, ways.v[i]);
	if (!all_up(&w) && run->root->live)
		uevent_wait(all_up, &w, w.started + WAIT_US);
	for (size_t i = 0; i < w.plan.list.n; i++)
		if (!change_holds(w.plan.list.v[i]))
			health_add(failed, w.plan.list.v[i]->id);
	plan_free(&w.plan);
}

static bool is_protected(const struct run *run, const struct pci_fn *fn)
{
	for (size_t i = 0; i < run->sets.set.n; i++)
		for (size_t k = 0; run->sets.set.v[i].sel->protect && k < run->sets.set.v[i].fn.n;
		     k++)
			if (run->sets.set.v[i].fn.v[k] == fn)
				return true;
	return false;
}

static bool leads_out(const struct pci_fn *fn, const struct strv *uplinks)
{
	for (size_t i = 0; i < fn->net.n; i++)
		if (strv_contains(uplinks, fn->net.v[i]))
			return true;
	return false;
}

static bool is_up(const struct run *run, const char *addr)
{
	struct plan plan = {0};
	bool up = look_at_way(run, add_way(&plan, addr));

	plan_free(&plan);
	return up;
}

/* A way that is down may come up later; a way whose function is gone will not come. */
static void ways_of(const struct run *run, const struct strv *kept, struct strv *ret)
{
	const struct pci_functions *functions = node_functions(&run->node);
	cleanup_strv struct strv uplinks = {0};

	node_uplinks(run->root, &uplinks);
	for (size_t i = 0; i < functions->n && ret->n < WAYS_MAX; i++) {
		const struct pci_fn *fn = &functions->v[i];

		if (strv_contains(kept, fn->addr) ||
		    (fn->net.n && (leads_out(fn, &uplinks) || is_protected(run, fn)) &&
		     is_up(run, fn->addr)))
			strv_add(ret, fn->addr);
	}
}

static bool same(const struct strv *a, const struct strv *b)
{
	for (size_t i = 0; i < a->n; i++)
		if (!strv_contains(b, a->v[i]))
			return false;
	return a->n == b->n;
}

void fitness_learn(const struct run *run)
{
	cleanup_strv struct strv kept = {0}, ways = {0};
	cleanup_str struct str text = {0};

	if (trial_on_line(run->node.cmdline) || !has_args(run))
		return;
	read_ways(run->root, &kept);
	ways_of(run, &kept, &ways);
	if (same(&kept, &ways))
		return;
	str_add(&text, WAYS_TITLE);
	for (size_t i = 0; i < ways.n; i++)
		str_addf(&text, "%s\n", ways.v[i]);
	state_keep(run->root, WAYS_FILE, text.s,
		   NULL); /* without the file a trial is judged without ways out */
}

/* --- both ------------------------------------------------------------------------------------ */

void fitness_look(struct run *run, struct strv *failed)
{
	if (!trial_on_line(run->node.cmdline) && has_args(run)) {
		fitness_learn(run);
		return;
	}
	for (size_t i = 0; i < run->plan.list.n; i++)
		if (has_failed(run->plan.list.v[i]))
			health_add(failed, run->plan.list.v[i]->id);
	look_at_ways(run, failed);
}
