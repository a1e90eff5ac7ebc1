/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * expect: parts that the machine must have. They are topology, so the section judges them itself. A
 * missing part is a fault of the node; it never selects another profile.
 */
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "node/node.h"
#include "plan/change.h"
#include "profile/language.h"
#include "profile/profile.h"
#include "profile/section.h"
#include "profile/yaml.h"
#include "sections/judged.h"

static const struct spec sockets = COUNT("a count of sockets", "sockets", 1, 64);
static const struct spec nodes = COUNT("a count of NUMA nodes", "NUMA nodes", 1, 1024);
static const struct spec bytes = SCALAR("an amount of memory such as \">=2000G\" or 512G",
					value_memory, "^(>=)?" NUMBER_OF "[KMGT]$");
static const struct spec cpus = COUNT("a count of CPUs (threads)", "CPUs", 1, 8192);

/* How to read and show the node's value of a key. */
struct fact {
	uint64_t (*have)(const struct node *node);
	char *(*show)(uint64_t have); /* NULL: show the number */
	enum fault fault;
	const char *remedy;
};

static uint64_t sockets_of(const struct node *node)
{
	return node_sockets(node);
}

static uint64_t memory_of(const struct node *node)
{
	return node_memory(node)->bytes;
}

static char *show_memory(uint64_t bytes_there)
{
	return xasprintf("%lluM", (unsigned long long)(bytes_there >> 20));
}

static uint64_t nodes_of(const struct node *node)
{
	return cpus_count(&node->nodes);
}

static uint64_t cpus_of(const struct node *node)
{
	return node_count_online(node);
}

/* The words of spec_cpu_vendor are in the order of enum cpu_vendor, without CPU_UNKNOWN. */
static uint64_t vendor_of(const struct node *node)
{
	return (uint64_t)node_cpu_vendor(node) - CPU_INTEL;
}

static char *show_vendor(uint64_t vendor)
{
	return xstrdup(cpu_vendor_name((enum cpu_vendor)(vendor + CPU_INTEL)));
}

#define FACT(key, of, help, have, show, fault, remedy) \
	KEY(key, of, help, .item = &(const struct fact){(have), (show), (fault), (remedy)})

static const struct spec keys =
	MAP("a map such as {cpu_sockets: 2, numa_nodes: 2}",
	    FACT("cpu_sockets", &sockets, "Number of CPU sockets.", sockets_of, NULL,
		 FAULT_CPU_SOCKETS, "a CPU is missing or disabled"),
	    FACT("cpus", &cpus, "Number of CPUs (threads) that are online.", cpus_of, NULL,
		 FAULT_CPU_COUNT,
		 "a core is disabled, the BIOS has changed SMT, or CPUs are offline (nosmt, "
		 "maxcpus= of the command line; see /sys/devices/system/cpu/offline)"),
	    FACT("numa_nodes", &nodes, "Number of NUMA nodes.", nodes_of, NULL, FAULT_MEMORY_NODES,
		 "see the BIOS options for NUMA (NPS, SNC, interleaving)"),
	    FACT("memory", &bytes, "Amount of memory.", memory_of, show_memory, FAULT_MEMORY_AMOUNT,
		 "a DIMM is missing or disabled: see the BIOS and `dmidecode -t memory`"),
	    FACT("cpu_vendor", &spec_cpu_vendor, "CPU vendor.", vendor_of, show_vendor,
		 FAULT_CPU_VENDOR,
		 "the CPU is of another vendor: check that the profile is for this SKU"));

/* --- changes ------------------------------------------------------------------------------ */

static void expect_fact(const struct node *node, const struct field *row, const struct ynode *want,
			struct plan *plan)
{
	const struct fact *fact = row->item;
	uint64_t have = fact->have(node), n = (uint64_t)want->value.number;
	cleanup_free char *id = xasprintf("expect/%s", row->name);

	judged(plan, "expect", want->at, id, want->text,
	       fact->show ? fact->show(have) : xasprintf("%llu", (unsigned long long)have),
	       want->value.at_least ? have >= n : have == n, fact->remedy)
		->fault = fact->fault;
}

/* Lists an empty set that may be empty, so that its checks are not mistaken for passed. */
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
	if (set->unread)
		c->fault = FAULT_GATE_CANNOT_LOOK;
	else if (set->fn.n > (size_t)set->least)
		c->fault = FAULT_PCI_TOO_MANY;
	if (holds && !set->fn.n && (set->sel->or_more || set->sel->expect < 0)) {
		c->now.state = CHANGE_UNSUPPORTED;
		if (set->absent_with)
			change_reason(c, "no member: the wider set %s has none", set->absent_with);
		else
			change_reason(c, "no member");
	}
}

static bool may_be_expected(const struct section_ctx *ctx, const struct pci_fn *fn)
{
	const struct profile *p = ctx->profile;

	for (size_t i = 0; i < ctx->sets->set.n; i++) {
		const struct device_set *set = &ctx->sets->set.v[i];
		cleanup_free char *expectation = device_set_expectation(set);

		if (expectation && selector_may_hold(p->devices.v, p->devices.n, set->sel, fn))
			return true;
	}
	return false;
}

/* A function that no set can have does not keep work out. Without sets no function was read. */
static void warn_of_unread(const struct section_ctx *ctx, struct plan *plan)
{
	static const struct place nowhere;
	const struct pci_functions *functions;

	if (!ctx->sets->set.n)
		return;
	functions = node_functions(ctx->node);
	for (size_t i = 0; i < functions->n; i++) {
		const struct pci_fn *fn = &functions->v[i];
		cleanup_free char *id = NULL;
		struct change *c;

		if (!fn->unread || may_be_expected(ctx, fn))
			continue;
		id = xasprintf("devices/%s/read", fn->addr);
		c = judged(plan, "expect", nowhere, id, "readable", xstrdup("not readable"), false,
			   fn->unread);
		c->fault = FAULT_GATE_CANNOT_LOOK;
		c->on_fail = ON_FAIL_WARN;
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
	warn_of_unread(ctx, plan);
}

static void emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan)
{
	size_t from = plan->list.n;

	for (const struct field *row = keys.fields; row->name; row++) {
		const struct ynode *want = ynode_get(section, row->name);

		if (want)
			expect_fact(ctx->node, row, want, plan);
	}
	expect_functions(ctx, plan);
	for (size_t i = from; i < plan->list.n; i++)
		plan->list.v[i]->premise = true;
}

const struct section section_expect = {
	.name = "expect",
	.spec = &keys,
	.help = "Parts that the machine must have.",
	.class = KEY_JUDGES,
	.differs = FAULT_PCI_MISSING,
	.failed = FAULT_PCI_MISSING,
	.always = true,
	.emit = emit,
};
