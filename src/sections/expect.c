/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * expect: what the machine must have. Topology, so the section judges it itself. A part that
 * is missing is a fault of this node, never another profile.
 */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "profile/language.h"
#include "sections/judged.h"

/* ">=N" or "N". */
static bool fits(const struct ynode *want, uint64_t have)
{
	uint64_t v;

	if (!ynode_number(want, &v))
		return false;
	return want->value.at_least ? have >= v : have == v;
}

static void expect_number(struct plan *plan, const struct ynode *section, const char *key,
			  uint64_t have, const char *remedy)
{
	const struct ynode *want = ynode_get(section, key);
	cleanup_free char *id = xasprintf("expect/%s", key);

	if (want)
		judged(plan, "expect", want->at, id, want->text,
		       xasprintf("%llu", (unsigned long long)have), fits(want, have), remedy);
}

static void expect_memory(struct plan *plan, const struct ynode *section, uint64_t have)
{
	const struct ynode *want = ynode_get(section, "memory");

	if (want)
		judged(plan, "expect", want->at, "expect/memory", want->text,
		       xasprintf("%lluM", (unsigned long long)(have >> 20)), fits(want, have),
		       "a DIMM is missing or disabled: see the BIOS and `dmidecode -t memory`");
}

static void expect_vendor(struct plan *plan, const struct ynode *section, enum cpu_vendor have)
{
	const struct ynode *want = ynode_get(section, "cpu_vendor");

	if (want)
		judged(plan, "expect", want->at, "expect/cpu_vendor", want->text,
		       xstrdup(cpu_vendor_name(have)), streq(want->text, cpu_vendor_name(have)),
		       "this is another CPU: another SKU?");
}

/* A set that may be empty is listed when it is, so that nobody takes its checks for passed. */
static void expect_members(const struct section_ctx *ctx, const struct device_set *set,
			   struct place at, struct plan *plan)
{
	const struct profile *p = ctx->profile;
	cleanup_free char *id = xasprintf("devices/%s/expect", set->sel->name);
	cleanup_free char *desired = device_set_expectation(set), *fault = NULL;
	bool holds = device_set_holds(set);
	struct change *c;

	if (!desired)
		return;
	if (!holds)
		fault = device_set_fault(ctx->node, p->devices.v, p->devices.n, set);
	c = judged(plan, "expect", at, id, desired, xasprintf("%zu", set->fn.n), holds, fault);
	if (holds && !set->fn.n && (set->sel->or_more || set->sel->expect < 0)) {
		c->state = CHANGE_UNSUPPORTED;
		if (set->absent_with)
			change_reason(c, "no member: %s, which it is in, has none",
				      set->absent_with);
		else
			change_reason(c, "no member");
	}
}

static void expect_functions(const struct section_ctx *ctx, struct plan *plan)
{
	const struct ynode *devices = profile_section(ctx->profile, "devices");

	for (size_t i = 0; i < ctx->sets->set.n; i++) {
		const struct device_set *set = &ctx->sets->set.v[i];
		const struct ynode *at = ynode_get(devices, set->sel->name);

		if (at)
			expect_members(ctx, set, at->at, plan);
	}
}

static int emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan,
		struct err *err)
{
	const struct node *node = ctx->node;
	size_t from = plan->list.n;

	(void)err;
	expect_number(plan, section, "cpu_sockets", node->sockets, "a CPU is missing or disabled");
	expect_number(plan, section, "cpus", cpus_count(&node->cpus),
		      "a core is disabled, or SMT is set otherwise in the BIOS");
	expect_number(plan, section, "numa_nodes", cpus_count(&node->nodes),
		      "see the BIOS options for NUMA (NPS, SNC, interleaving)");
	expect_memory(plan, section, node->memory);
	expect_vendor(plan, section, node->cpu_vendor);
	expect_functions(ctx, plan);
	for (size_t i = from; i < plan->list.n; i++)
		plan->list.v[i]->premise = true;
	return 0;
}

const struct section section_expect = {
	.name = "expect",
	.spec = &spec_expect,
	.help = "What the machine must have.",
	.class = KEY_JUDGES,
	.always = true,
	.emit = emit,
};
