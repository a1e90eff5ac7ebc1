/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a stage waits for before it plans: devices that are still probing. */
#include <string.h>

#include "base/mem.h"
#include "engine/run.h"
#include "kinds/kind.h"
#include "sys/clock.h"
#include "sys/read.h"
#include "sys/uevent.h"

static bool netdevs_named(const struct root *root, const struct pci_fn *fn)
{
	for (size_t i = 0; i < fn->net.n; i++) {
		uint64_t index;

		if (read_u64(root, &index, NULL, "/sys/class/net/%s/ifindex", fn->net.v[i]) < 0 ||
		    !root_exists(root, "/run/udev/data/n%llu", (unsigned long long)index))
			return false;
	}
	return true;
}

/* A network function without a netdev (or RDMA device) is still in its driver's probe. */
static bool probed(const struct root *root, const struct pci_fn *fn)
{
	bool network = fn->class >> 16 == 0x02;

	return fn->driver && (!network || fn->net.n || fn->ibdevs.n) && netdevs_named(root, fn);
}

static bool set_complete(const struct root *root, const struct device_set *set)
{
	if (set->fn.n < (size_t)set->sel->expect)
		return false;
	for (size_t i = 0; i < set->fn.n; i++)
		if (!probed(root, set->fn.v[i]))
			return false;
	return true;
}

/* Only sets that a section acts on: an unused GPU driver is no reason to wait. */
static bool sets_complete(const struct root *root, const struct profile *profile,
			  const struct device_sets *sets)
{
	const struct ynode *sriov = profile_section(profile, "sriov");

	for (size_t i = 0; i < sets->set.n; i++) {
		const struct device_set *set = &sets->set.v[i];

		if (set->sel->expect >= 0 && ynode_get(sriov, set->sel->name) &&
		    !set_complete(root, set))
			return false;
	}
	return true;
}

struct devices_wait {
	const struct root *root;
	const struct profile *profile;
};

static bool devices_there(void *arg)
{
	const struct devices_wait *w = arg;
	struct device_sets sets = {0};
	struct node node;
	bool complete = true; /* an error is said by the stage's own survey */

	if (node_survey(w->root, &node, NULL) < 0)
		return true;
	device_sets_prepare(w->root, &node, w->profile->devices.v, w->profile->devices.n);
	if (device_sets_resolve(&node, w->profile->devices.v, w->profile->devices.n, &sets, NULL) ==
	    0)
		complete = sets_complete(w->root, w->profile, &sets);
	device_sets_free(&sets);
	node_free(&node);
	return complete;
}

bool run_wait_devices(struct run *run, uint64_t deadline, const struct sink *sink)
{
	struct devices_wait w = {run->root, run->profile};

	if (!run->root->live || sets_complete(run->root, run->profile, &run->sets))
		return false;
	if (sink && sink->progress)
		sink->progress(sink->data, STAGE_DEVICES,
			       "waiting for devices of the profile's sets");
	uevent_wait(devices_there, &w, deadline);
	return true;
}

struct checks_wait {
	struct run *run;
};

static bool checks_hold(void *arg)
{
	const struct checks_wait *w = arg;
	struct kind_ctx ctx = {w->run->root, &w->run->node, STAGE_GATE, false, w->run->acs};
	bool all = true;

	for (size_t i = 0; i < w->run->plan.list.n; i++) {
		struct change *c = w->run->plan.list.v[i];

		if (!c->settles || change_holds(c))
			continue;
		all = kind_get(c->kind)->look(&ctx, c, NULL) == 0 && change_holds(c) && all;
	}
	return all;
}

void run_wait_checks(struct run *run, uint64_t deadline)
{
	struct checks_wait w = {run};

	if (run->root->live)
		uevent_wait(checks_hold, &w, deadline);
}
