/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits before planning a stage for devices that are still probing. */
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "engine/run.h"
#include "kinds/function.h"
#include "kinds/kind.h"
#include "plan/change.h"
#include "profile/rules.h"
#include "profile/section.h"
#include "profile/view.h"
#include "sections/judged.h"
#include "sys/clock.h"
#include "sys/read.h"
#include "sys/uevent.h"
#include "sys/waiting.h"

enum { WAIT_US = 30 * 1000000 }; /* default for a set */

struct devices_wait {
	const struct root *root;
	const struct profile *profile;
	uint64_t started;
	bool every; /* also sets whose time of waiting is over */
	struct str missing;
};

/* --- what is missing ------------------------------------------------------------------ */

/*
 * A network function without a netdev (or RDMA device) is still in its driver's probe. Asked of the
 * kernel's files, because a survey is out of date at the next uevent.
 */
static void missing_of_function(const struct root *root, const struct pci_fn *fn,
				struct str *missing)
{
	cleanup_free char *driver = NULL;
	struct netdevs all = {0};

	if (read_link_name(root, &driver, NULL, "/sys/bus/pci/devices/%s/driver", fn->addr) < 0)
		str_clause(missing, "%s has no driver (is its module in modules.load?)", fn->addr);
	else if (fn->class >> 16 != 0x02 || function_named(root, fn->addr))
		return;
	else if (function_netdevs(root, fn->addr, &all, NULL) == 0)
		str_clause(missing, "udev has not named %s of %s", all.v[0].name, fn->addr);
	else if (!function_has(root, fn->addr, "infiniband"))
		str_clause(missing, "%s of %s has no netdev and no RDMA device", fn->addr, driver);
	vec_free(&all);
}

static void missing_of_set(const struct root *root, const struct device_set *set,
			   struct str *missing)
{
	if (set->fn.n < (size_t)set->least)
		str_clause(missing, "%s has %zu of %d functions (see lspci)", set->sel->name,
			   set->fn.n, set->least);
	for (size_t i = 0; i < set->fn.n; i++)
		missing_of_function(root, set->fn.v[i], missing);
}

/* --- how long for ----------------------------------------------------------------------- */

/* The `wait` of the set, or of the narrowest wider set that has one. */
static uint64_t wait_of(const struct profile *profile, const char *name)
{
	const struct selector *s = selector_find(profile->devices.v, profile->devices.n, name);
	cleanup_view struct ynode *view = s ? set_view(profile, s) : NULL;
	uint64_t usec;

	return ynode_number(tree_get(view, "sriov.wait"), &usec) ? usec : WAIT_US;
}

/* Only sets that a section uses: an unused GPU driver is not worth waiting for. */
static bool acts_on(const struct profile *profile, const char *set)
{
	for (const struct section *const *s = sections; *s; s++)
		if ((*s)->awaits_netdevs && ynode_get(profile_section(profile, (*s)->name), set))
			return true;
	return false;
}

static uint64_t longest_wait(const struct profile *profile)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < profile->devices.n; i++) {
		const char *name = profile->devices.v[i].name;
		uint64_t wait = acts_on(profile, name) ? wait_of(profile, name) : 0;

		longest = wait > longest ? wait : longest;
	}
	return longest;
}

static void missing_of_sets(struct devices_wait *w, const struct device_sets *sets)
{
	str_free(&w->missing);
	for (size_t i = 0; i < sets->set.n; i++) {
		const struct device_set *set = &sets->set.v[i];

		if (acts_on(w->profile, set->sel->name) &&
		    (w->every || clock_usec() - w->started < wait_of(w->profile, set->sel->name)))
			missing_of_set(w->root, set, &w->missing);
	}
}

static bool devices_there(void *arg)
{
	struct devices_wait *w = arg;
	struct device_sets sets = {0};
	struct node node;

	str_free(&w->missing);
	if (node_survey(w->root, &node, NULL) < 0)
		return true; /* the stage's own survey reports the error */
	device_sets_prepare(w->root, &node, w->profile->devices.v, w->profile->devices.n);
	if (device_sets_resolve(&node, w->profile->devices.v, w->profile->devices.n, &sets, NULL) ==
	    0)
		missing_of_sets(w, &sets);
	device_sets_free(&sets);
	node_free(&node);
	waiting_for(str_get(&w->missing), 0, w->started, w->started + longest_wait(w->profile), 0);
	return !w->missing.len;
}

static void say(const struct sink *sink, const char *when, const struct str *missing)
{
	cleanup_free char *text = xasprintf("%s: %s", when, str_get(missing));

	if (sink && sink->progress)
		sink->progress(sink->data, STAGE_DEVICES, text);
}

uint64_t run_device_wait(const struct profile *profile)
{
	uint64_t longest = longest_wait(profile);

	return longest ? longest : WAIT_US;
}

uint64_t run_wait_devices(struct run *run, const struct sink *sink)
{
	struct devices_wait w = {
		.root = run->root, .profile = run->profile, .started = clock_usec()};

	missing_of_sets(&w, &run->sets);
	if (!w.missing.len)
		return 0;
	say(sink, "waiting for devices", &w.missing);
	uevent_wait(devices_there, &w, w.started + longest_wait(run->profile));
	w.every = true;
	if (!devices_there(&w)) {
		cleanup_free char *when = xasprintf("not there after %.1f s",
						    (double)(clock_usec() - w.started) / 1e6);

		say(sink, when, &w.missing);
	}
	str_free(&w.missing);
	return clock_usec() - w.started;
}

/* --- probes ------------------------------------------------------------------------------- */

/*
 * The last events of a function come when it has all: the move of a renamed netdev, the bind of its
 * driver. Behind the verdict each would start a recovery. Events of other devices are not worth
 * more time than this.
 */
enum { LAST_EVENTS_US = 3 * 1000000 };

struct probes_wait {
	const struct root *root;
	const struct device_sets *sets;
	uint64_t started, deadline;
	uint64_t complete; /* since when nothing is missing; 0: something is */
};

/* udev has the file while there are events that it has not processed; its workers load modules. */
static bool udev_is_busy(const struct root *root)
{
	return root_exists(root, "/run/udev/queue");
}

static bool probes_are_over(void *arg)
{
	struct probes_wait *w = arg;
	cleanup_str struct str missing = {0};

	if (!udev_is_busy(w->root))
		return true;
	for (size_t s = 0; s < w->sets->set.n && !missing.len; s++) {
		const struct device_set *set = &w->sets->set.v[s];

		for (size_t i = 0; i < set->fn.n && !set->sel->protect && !missing.len; i++)
			missing_of_function(w->root, set->fn.v[i], &missing);
	}
	if (missing.len)
		w->complete = 0;
	else if (!w->complete)
		w->complete = clock_usec();
	waiting_for(missing.len ? missing.s : "udev processes events", 0, w->started, w->deadline,
		    0);
	return w->complete && clock_usec() >= w->complete + LAST_EVENTS_US;
}

uint64_t run_wait_probes(const struct run *run, uint64_t usec)
{
	uint64_t started = clock_usec();
	struct probes_wait w = {run->root, &run->sets, started, started + usec, 0};

	if (probes_are_over(&w))
		return 0;
	uevent_wait(probes_are_over, &w, w.deadline);
	return clock_usec() - w.started;
}

/* --- checks ------------------------------------------------------------------------------- */

struct checks_wait {
	struct run *run;
	uint64_t started, usec;
};

static uint64_t time_of(const struct checks_wait *w, const struct change *c)
{
	return w->started + (c->deadline_ms ? c->deadline_ms * 1000ULL : w->usec);
}

/* All checks hold, except those whose time is over. */
static bool checks_hold(void *arg)
{
	const struct checks_wait *w = arg;
	struct kind_ctx ctx = {.root = w->run->root,
			       .node = &w->run->node,
			       .running = STAGE_GATE,
			       .acs = w->run->acs,
			       .log = w->run->log};
	const struct change *first = NULL; /* the first check that does not hold */
	size_t others = 0;

	for (size_t i = 0; i < w->run->plan.list.n; i++) {
		struct change *c = w->run->plan.list.v[i];

		if (!c->settles || c->now.final || change_holds(c) || clock_usec() > time_of(w, c))
			continue;
		if (kind_look(&ctx, c, NULL) != 0 || !change_holds(c)) {
			others += first != NULL;
			first = first ? first : c;
		}
		if (c->now.state == CHANGE_SAME) /* the earlier reason is out of date */
			finding_say(&c->now, NULL, 0);
	}
	if (first)
		waiting_for(first->id, others, w->started, time_of(w, first), 0);
	return !first;
}

void run_wait_checks(struct run *run, uint64_t usec)
{
	struct checks_wait w = {run, clock_usec(), usec};
	uint64_t last = w.started;

	for (size_t i = 0; i < run->plan.list.n; i++) {
		const struct change *c = run->plan.list.v[i];

		if (c->settles && !c->now.final && time_of(&w, c) > last)
			last = time_of(&w, c);
	}
	if (run->root->live)
		uevent_wait(checks_hold, &w, last);
}

/* A look takes a file that it can't read for an absent one, so the looks prove nothing. */
static void say_incomplete(struct run *run)
{
	static const char id[] = "survey/complete";
	static const struct place nowhere;
	const struct root_failure *f = run->root->failure;
	cleanup_free char *why = NULL;

	if (!f || !f->error || plan_find(&run->plan, id))
		return;
	why = xasprintf("railhead can't read %s: %s", f->path, strerror(f->error));
	judged(&run->plan, "expect", nowhere, id, "yes", xstrdup("no"), false, why)->fault =
		FAULT_GATE_CANNOT_LOOK;
}

void run_look_gate(struct run *run, uint64_t usec, struct stage_result *ret)
{
	*ret = (struct stage_result){.stage = STAGE_GATE, .started = clock_usec()};
	run_look(run, STAGES_ALL, STAGE_GATE);
	if (usec)
		run_wait_checks(run, usec);
	say_incomplete(run);
	ret->duration = clock_usec() - ret->started;
	for (size_t i = 0; i < run->plan.list.n; i++)
		ret->count[run->plan.list.v[i]->now.state]++;
}
