/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate: checks that need no load become changes of kind check here; benchmarks are run by
 * gate/. Ids are gate/NAME/ADDRESS[/vfN], of units gate/NAME/UNIT.
 */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "node/nearness.h"
#include "profile/language.h"
#include "sections/overlay.h"

struct checked {
	const struct ynode *check; /* the check's map */
	const char *name;
	struct plan *plan;
};

static struct change *add(const struct checked *t, const char *id_tail, const char *suffix,
			  const char *checker, const char *desired)
{
	const char *on_fail = ynode_text(t->check, "on_fail", "block");
	struct change *c = plan_add(t->plan, "gate", &kind_check, STAGE_GATE, PHASE_CHECK,
				    t->check->at, "gate/%s/%s%s", t->name, id_tail, suffix);

	change_target(c, "%s:%s", checker, id_tail);
	change_desired(c, "%s", desired);
	for (enum on_fail f = ON_FAIL_BLOCK; f <= ON_FAIL_WARN; f++)
		if (streq(on_fail, on_fail_name(f)))
			c->on_fail = f;
	return c;
}

/* Links train for seconds; a check's timeout is how long it may take until they are there. */
static void settles(const struct checked *t, struct change *c)
{
	c->settles = true;
	c->deadline_ms = (unsigned int)(ynode_number_of(t->check, "timeout", 0) / 1000);
}

static void check_port(const struct checked *t, const char *where, const char *link,
		       const char *wanted, const char *speed)
{
	const char *least = ynode_text(t->check, "speed", NULL);

	settles(t, add(t, where, "", link, wanted));
	if (least)
		settles(t, add(t, where, "/speed", speed, least));
}

static void check_carrier(const struct checked *t, const char *where)
{
	check_port(t, where, "carrier", "up", "speed");
}

static void check_rdma(const struct checked *t, const char *where)
{
	check_port(t, where, "rdma-link", "ACTIVE", "rdma-speed");
}

static void check_pcie(const struct checked *t, const char *where)
{
	const char *width = ynode_text(t->check, "width", NULL);
	const char *speed = ynode_text(t->check, "speed", NULL);

	if (!width && !speed)
		width = speed = "max"; /* of both ends */
	if (width)
		add(t, where, "/width", "pcie-width", width)->compare = COMPARE_AT_LEAST;
	if (speed)
		add(t, where, "/speed", "pcie-speed", speed);
}

static void check_errors(const struct checked *t, const char *where)
{
	const char *corrected = ynode_text(t->check, "corrected", NULL);
	cleanup_free char *most = corrected ? xasprintf("%s or fewer", corrected) : NULL;

	add(t, where, "", "pcie-errors", "0");
	if (most)
		add(t, where, "/corrected", "pcie-corrected", most);
}

static void check_groups(const struct checked *t, const char *where)
{
	const char *type = ynode_text(t->check, "type", NULL);
	bool isolated = ynode_bool(t->check, "isolated", false);

	if (isolated || !type)
		add(t, where, "", "iommu-group", isolated ? "isolated" : "any");
	if (type)
		add(t, where, "/type", "iommu-type", type);
}

/* A driver may still be at work on its GPUs when the gate begins, and on their device nodes. */
static void check_gpu_driver(const struct checked *t, const char *where)
{
	settles(t, add(t, where, "", "gpu-driver", ynode_text(t->check, "flavor", "any")));
}

static void check_gpu_xid(const struct checked *t, const char *where)
{
	add(t, where, "", "gpu-xid", "none");
}

static void each(const struct section_ctx *ctx, const struct checked *t,
		 void (*emit_one)(const struct checked *t, const char *where))
{
	bool vfs;
	const char *name = set_name_in(ynode_text(t->check, "on", ""), &vfs);
	const struct device_set *set = device_sets_find(ctx->sets, name);

	for (size_t i = 0; set && i < set->fn.n; i++) {
		const struct pci_fn *fn = set->fn.v[i];

		for (unsigned int v = 0; vfs && v < overlay_vfs(ctx, fn); v++) {
			cleanup_free char *where = xasprintf("%s/%u", fn->addr, v);

			emit_one(t, where);
		}
		if (!vfs)
			emit_one(t, fn->addr);
	}
}

/* units: of the machine, not of a function. */
static void check_units(const struct section_ctx *ctx, const struct checked *t)
{
	const struct ynode *units = ynode_get(t->check, "units");
	const char *limit = ynode_text(t->check, "limit", "unlimited");

	(void)ctx;
	for (size_t i = 0; units && i < units->items.n; i++)
		add(t, units->items.v[i]->text, "", "memlock", limit);
}

/* gpudirect: each NIC of the one set with its GPU of the other, or the nearest to it. */
static void check_direct(const struct section_ctx *ctx, const struct checked *t)
{
	const struct device_set *gpus = device_sets_find(ctx->sets, ynode_text(t->check, "on", ""));
	const struct device_set *nics =
		device_sets_find(ctx->sets, ynode_text(t->check, "with", ""));
	struct pairs pairs = {0};

	if (!gpus || !nics || gpus->fn.n == 0) /* expect: is about a set that has none */
		return;
	pairs_find(ctx->root, nics->fn.v, nics->fn.n, gpus->fn.v, gpus->fn.n, &pairs);
	for (size_t i = 0; i < pairs.n; i++) {
		const struct pair *p = &pairs.v[i];
		const struct pci_fn *gpu = p->gpu ? p->gpu : p->nearest;
		struct change *c =
			add(t, p->nic->addr, "", "gpudirect", "dma-buf or nvidia_peermem");

		change_target(c, "gpudirect:%s,%s", p->nic->addr, gpu->addr);
		settles(t, c);
	}
	vec_free(&pairs);
}

/* Runs that are looks, of each function or of a check as a whole. The others: gate/. */
static const struct look {
	const char *run;
	void (*one)(const struct checked *t, const char *where);
	void (*whole)(const struct section_ctx *ctx, const struct checked *t);
} looks[] = {
	{"carrier", check_carrier, NULL},     {"pcie_link", check_pcie, NULL},
	{"pcie_errors", check_errors, NULL},  {"rdma_link", check_rdma, NULL},
	{"iommu_groups", check_groups, NULL}, {"gpu_driver", check_gpu_driver, NULL},
	{"gpu_xid", check_gpu_xid, NULL},     {"gpudirect", NULL, check_direct},
	{"memlock", NULL, check_units},
};

static const struct look *look_of(const char *run)
{
	for (size_t i = 0; i < array_len(looks); i++)
		if (streq(looks[i].run, run))
			return &looks[i];
	return NULL;
}

bool gate_looks(const char *run)
{
	return look_of(run) != NULL;
}

bool gate_may_lack(const struct section_ctx *ctx, const struct ynode *check)
{
	return device_sets_lack(ctx->sets, ynode_text(check, "on", "")) ||
	       device_sets_lack(ctx->sets, ynode_text(check, "with", ""));
}

/* A check that is about nothing would be passed by any node. */
static void complain_of_nothing(const struct checked *t)
{
	struct change *c = add(t, "none", "", "given", "something to look at");

	change_observe(c, "nothing");
	change_reason(c, NOTHING_TO_CHECK);
	c->state = CHANGE_DIFFERS;
}

static int emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan,
		struct err *err)
{
	const struct ynode *checks = ynode_get(section, "checks");

	(void)err;
	for (size_t i = 0; checks && i < checks->keys.n; i++) {
		struct checked t = {checks->items.v[i], checks->keys.v[i]->text, plan};
		const struct look *look = look_of(ynode_text(t.check, "run", ""));
		size_t before = plan->list.n;

		if (!look)
			continue;
		if (look->one)
			each(ctx, &t, look->one);
		else
			look->whole(ctx, &t);
		if (plan->list.n == before && !gate_may_lack(ctx, t.check))
			complain_of_nothing(&t);
	}
	return 0;
}

const struct section section_gate = {
	.name = "gate",
	.spec = &spec_gate,
	.help = "Checks that decide whether the node is ready.",
	.class = KEY_JUDGES,
	.emit = emit,
};
