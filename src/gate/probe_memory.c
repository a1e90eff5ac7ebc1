/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory of the NUMA nodes: of each from its own CPUs, or of each from those of each other. */
#include "gate/probe.h"

#include "base/mem.h"

/* A node is touched at some GB/s; where others want its CPUs too, at a fraction of that. */
enum { BUDGET_MS = 600, SETUP_MS = 10000 };

/* One probe, of the memory of a node from the CPUs of a node. */
static struct probe *add(const struct section_ctx *ctx, const char *name, const struct ynode *check,
			 int memory, int from, struct probes *ret)
{
	const char *run = ynode_text(check, "run", "");
	struct probe *p;

	if (memory == from) {
		p = probe_add(ret, name, check, "node%d", memory);
		probe_subject(p, "%s of node %d", run, memory);
	} else {
		p = probe_add(ret, name, check, "node%d-from-node%d", memory, from);
		probe_subject(p, "%s of node %d from node %d", run, memory, from);
	}
	probe_option(p, "--node", "%d", memory);
	if (memory != from)
		probe_option(p, "--from", "%d", from);
	probe_option(p, "--page", "%s", probe_pages(ctx->profile));
	probe_needs_node(p, ctx->node, memory);
	probe_needs_node(p, ctx->node, from);
	p->budget_ms = BUDGET_MS;
	p->setup_ms = SETUP_MS;
	return p;
}

static void judge_bandwidth(struct probe *p, const struct ynode *check)
{
	probe_judges(p, check, "min", "value", QUANTITY_RATE, NULL);
	p->remedy = "check the DIMM population, the memory speed and the power profile in the BIOS";
}

static void judge_latency(struct probe *p, const struct ynode *check)
{
	probe_judges(p, check, "max", "value", QUANTITY_TIME, NULL);
	p->remedy = "check the memory speed, the NUMA and the power settings in the BIOS";
}

/* Across nodes the memory's one may have no CPUs. */
static void want_each(const struct section_ctx *ctx, const char *name, const struct ynode *check,
		      void (*judge)(struct probe *, const struct ynode *), struct probes *ret)
{
	bool pairs = streq(ynode_text(check, "per", ""), "node_pair");
	const struct cpus *with_cpus = &ctx->node->nodes_with_cpu;
	const struct cpus *memories = pairs ? &ctx->node->nodes : with_cpus;

	for (int m = cpus_next(memories, -1); m >= 0; m = cpus_next(memories, m))
		for (int n = cpus_next(with_cpus, -1); n >= 0; n = cpus_next(with_cpus, n))
			if ((m == n) != pairs)
				judge(add(ctx, name, check, m, n, ret), check);
}

static void want_bandwidth(const struct section_ctx *ctx, const char *name,
			   const struct ynode *check, struct probes *ret)
{
	want_each(ctx, name, check, judge_bandwidth, ret);
}

static void want_latency(const struct section_ctx *ctx, const char *name, const struct ynode *check,
			 struct probes *ret)
{
	want_each(ctx, name, check, judge_latency, ret);
}

const struct probe_family probe_memory_bandwidth = {
	.run = "memory_bandwidth", .slow = FAULT_MEMORY_BANDWIDTH, .want = want_bandwidth};
const struct probe_family probe_memory_latency = {
	.run = "memory_latency", .slow = FAULT_MEMORY_LATENCY, .want = want_latency};
