/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory of the NUMA nodes: of each node from its own CPUs, or from those of each other node. */
#include "checks/probe.h"

#include "base/mem.h"
#include "profile/section.h"
#include "profile/yaml.h"

/*
 * Touching a node's memory runs at some GB/s, or at a fraction of that if other programs use its
 * CPUs.
 */
enum { BUDGET_MS = 600, SETUP_MS = 10000 };

/* One probe, of the memory of a node from the CPUs of a node. */
static struct probe *add(const struct checked *t, int memory, int from, struct probes *ret)
{
	const char *run = t->check->run;
	struct probe *p;

	if (memory == from) {
		p = probe_add(ret, t, "node%d", memory);
		probe_subject(p, "%s of node %d", run, memory);
	} else {
		p = probe_add(ret, t, "node%d-from-node%d", memory, from);
		probe_subject(p, "%s of node %d from node %d", run, memory, from);
	}
	probe_option(p, "--node", "%d", memory);
	if (memory != from)
		probe_option(p, "--from", "%d", from);
	probe_option(p, "--page", "%s", probe_pages(t->ctx->profile));
	probe_needs_node(p, t->ctx->node, memory);
	probe_needs_node(p, t->ctx->node, from);
	p->budget_ms = BUDGET_MS;
	p->setup_ms = SETUP_MS;
	return p;
}

static void judge_bandwidth(struct probe *p, const struct checked *t)
{
	probe_judges(p, t, "min", "value", NULL);
	p->remedy = "check the DIMM population, the memory speed and the power profile in the BIOS";
}

static void judge_latency(struct probe *p, const struct checked *t)
{
	probe_judges(p, t, "max", "value", NULL);
	p->remedy = "check the memory speed, the NUMA and the power settings in the BIOS";
}

/* Across nodes, the node with the memory may lack CPUs. */
static void want_each(const struct checked *t,
		      void (*judge)(struct probe *, const struct checked *), struct probes *ret)
{
	bool pairs = streq(ynode_text(t->map, "per", ""), "node_pair");
	const struct cpus *with_cpus = &t->ctx->node->nodes_with_cpu;
	const struct cpus *memories = pairs ? &t->ctx->node->nodes : with_cpus;

	for (int m = cpus_next(memories, -1); m >= 0; m = cpus_next(memories, m))
		for (int n = cpus_next(with_cpus, -1); n >= 0; n = cpus_next(with_cpus, n))
			if ((m == n) != pairs)
				judge(add(t, m, n, ret), t);
}

static void want_bandwidth(const struct checked *t, struct probes *ret)
{
	want_each(t, judge_bandwidth, ret);
}

static void want_latency(const struct checked *t, struct probes *ret)
{
	want_each(t, judge_latency, ret);
}

/*
 * The sockets of a machine have equal memory channels: a socket with lost channels is slower than
 * the others.
 */
CHECK(memory_bandwidth, .required = {"per", "min"}, .optional = {"floor"}, .shares = "set",
      .measure = want_bandwidth, .slow = FAULT_MEMORY_BANDWIDTH);
CHECK(memory_latency, .required = {"per", "max"}, .measure = want_latency,
      .slow = FAULT_MEMORY_LATENCY);
