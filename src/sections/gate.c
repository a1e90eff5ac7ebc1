/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate: checks that need no load become changes of kind check here; benchmarks are run by
 * gate/. Ids are gate/NAME/ADDRESS[/vfN], of units gate/NAME/UNIT.
 */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "kinds/checks.h"
#include "node/nearness.h"
#include "profile/language.h"
#include "sections/overlay.h"

struct checked {
	const struct ynode *check; /* the check's map */
	const char *name;
	struct plan *plan;
};

/* What a check is about: a function, or where vf is not -1 one of its VFs; or a unit. */
struct subject {
	const char *name;
	int vf;
};

/* sort: what its target begins with; suffix: of its id */
static struct change *add(const struct checked *t, struct subject of, const char *suffix,
			  const struct target_item *item, const char *sort, const char *desired)
{
	cleanup_free char *where =
		of.vf < 0 ? xstrdup(of.name) : xasprintf("%s/%d", of.name, of.vf);
	struct change *c = plan_add(t->plan, "gate", &kind_check, STAGE_GATE, PHASE_CHECK,
				    t->check->at, "gate/%s/%s%s", t->name, where, suffix);

	change_on(c, of.name, item);
	c->on.vf = of.vf;
	change_target(c, "%s:%s", sort, where);
	change_desired(c, "%s", desired);
	on_fail_parse(ynode_text(t->check, "on_fail", "block"), &c->on_fail);
	return c;
}

/* value: of the check; NULL: the word that says so by itself (max, unlimited) */
static struct change *add_wanting(const struct checked *t, struct subject of, const char *suffix,
				  const struct target_item *item, const char *sort,
				  const struct ynode *value, const char *otherwise)
{
	struct change *c = add(t, of, suffix, item, sort, value ? value->text : otherwise);

	c->want = value ? value->value : (struct value){.type = VALUE_WORD};
	return c;
}

/* Links train for seconds; a check's timeout is how long it may take until they are there. */
static void settles(const struct checked *t, struct change *c)
{
	c->settles = true;
	c->deadline_ms = (unsigned int)(ynode_number_of(t->check, "timeout", 0) / 1000);
}

static void emit_carrier(const struct checked *t, struct subject of)
{
	const struct ynode *least = ynode_get(t->check, "speed");

	settles(t, add(t, of, "", &check_carrier, "carrier", "up"));
	if (least)
		settles(t, add_wanting(t, of, "/speed", &check_speed, "speed", least, NULL));
}

static void emit_rdma(const struct checked *t, struct subject of)
{
	const struct ynode *least = ynode_get(t->check, "speed");

	settles(t, add(t, of, "", &check_rdma_link, "rdma-link", "ACTIVE"));
	if (least)
		settles(t,
			add_wanting(t, of, "/speed", &check_rdma_speed, "rdma-speed", least, NULL));
}

static void emit_pcie(const struct checked *t, struct subject of)
{
	const struct ynode *width = ynode_get(t->check, "width");
	const struct ynode *speed = ynode_get(t->check, "speed");
	bool both = !width && !speed; /* as much as both ends can do */
	struct change *c;

	if (width || both) {
		c = add_wanting(t, of, "/width", &check_pcie_width, "pcie-width", width, "max");
		c->compare = COMPARE_AT_LEAST;
		if (width) /* a word of the powers of two */
			c->want = (struct value){.type = VALUE_NUMBER,
						 .number = INT64_C(1) << width->value.number};
	}
	if (speed || both)
		add_wanting(t, of, "/speed", &check_pcie_speed, "pcie-speed", speed, "max");
}

static void emit_errors(const struct checked *t, struct subject of)
{
	const struct ynode *most = ynode_get(t->check, "corrected");
	cleanup_free char *text = most ? xasprintf("%s or fewer", most->text) : NULL;

	add(t, of, "", &check_pcie_errors, "pcie-errors", "0");
	if (most)
		add(t, of, "/corrected", &check_pcie_corrected, "pcie-corrected", text)->want =
			most->value;
}

static void emit_groups(const struct checked *t, struct subject of)
{
	const struct ynode *type = ynode_get(t->check, "type");
	bool isolated = ynode_bool(t->check, "isolated", false);

	if (isolated || !type)
		add(t, of, "", &check_iommu_group, "iommu-group", isolated ? "isolated" : "any")
			->want = (struct value){.type = VALUE_BOOL, .number = isolated};
	if (type)
		add_wanting(t, of, "/type", &check_iommu_type, "iommu-type", type, NULL);
}

/* A driver may still be at work on its GPUs when the gate begins, and on their device nodes. */
static void emit_gpu_driver(const struct checked *t, struct subject of)
{
	const struct ynode *flavor = ynode_get(t->check, "flavor");
	struct change *c = add_wanting(t, of, "", &check_gpu_driver, "gpu-driver", flavor, "any");

	if (!flavor)
		c->want.number = GPU_ANY;
	settles(t, c);
}

static void emit_gpu_xid(const struct checked *t, struct subject of)
{
	add(t, of, "", &check_gpu_xid, "gpu-xid", "none");
}

static void each(const struct section_ctx *ctx, const struct checked *t,
		 void (*emit_one)(const struct checked *t, struct subject of))
{
	bool vfs;
	const char *name = set_name_in(ynode_text(t->check, "on", ""), &vfs);
	const struct device_set *set = device_sets_find(ctx->sets, name);

	for (size_t i = 0; set && i < set->fn.n; i++) {
		const struct pci_fn *fn = set->fn.v[i];

		for (unsigned int v = 0; vfs && v < overlay_vfs(ctx, fn); v++)
			emit_one(t, (struct subject){fn->addr, (int)v});
		if (!vfs)
			emit_one(t, (struct subject){fn->addr, -1});
	}
}

/* units: of the machine, not of a function. */
static void emit_memlock(const struct section_ctx *ctx, const struct checked *t)
{
	const struct ynode *units = ynode_get(t->check, "units");

	(void)ctx;
	for (size_t i = 0; units && i < units->items.n; i++)
		add_wanting(t, (struct subject){units->items.v[i]->text, -1}, "", &check_memlock,
			    "memlock", ynode_get(t->check, "limit"), "unlimited");
}

/* gpudirect: each NIC of the one set with its GPU of the other, or the nearest to it. */
static void emit_direct(const struct section_ctx *ctx, const struct checked *t)
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
		struct change *c = add(t, (struct subject){p->nic->addr, -1}, "", &check_gpudirect,
				       "gpudirect", "dma-buf or nvidia_peermem");

		change_part(c, gpu->addr, NULL, NULL);
		change_target(c, "gpudirect:%s,%s", p->nic->addr, gpu->addr);
		settles(t, c);
	}
	vec_free(&pairs);
}

/* Runs that are looks, of each function or of a check as a whole. The others: gate/. */
static const struct look {
	const char *run;
	void (*one)(const struct checked *t, struct subject of);
	void (*whole)(const struct section_ctx *ctx, const struct checked *t);
} looks[] = {
	{"carrier", emit_carrier, NULL},     {"pcie_link", emit_pcie, NULL},
	{"pcie_errors", emit_errors, NULL},  {"rdma_link", emit_rdma, NULL},
	{"iommu_groups", emit_groups, NULL}, {"gpu_driver", emit_gpu_driver, NULL},
	{"gpu_xid", emit_gpu_xid, NULL},     {"gpudirect", NULL, emit_direct},
	{"memlock", NULL, emit_memlock},
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
	struct change *c = add(t, (struct subject){"none", -1}, "", &check_given, "given",
			       "something to look at");

	change_observe(c, "nothing");
	change_reason(c, NOTHING_TO_CHECK);
	c->fault = FAULT_PROFILE_CHECKS_NOTHING;
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
	.differs = FAULT_GATE_CANNOT_MEASURE,
	.failed = FAULT_GATE_CANNOT_MEASURE,
	.emit = emit,
};
