/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory of the NUMA nodes. */
#include "gate/probe.h"

static void want_bandwidth(const struct step_ctx *ctx, const char *name, const struct ynode *check,
			   struct probes *ret)
{
	const struct cpus *nodes = &ctx->node->nodes_with_cpu;

	for (int n = cpus_next(nodes, -1); n >= 0; n = cpus_next(nodes, n)) {
		struct probe *p = probe_add(ret, name, check, "node%d", n);

		probe_subject(p, "memory_bandwidth of node %d", n);
		probe_option(p, "--node", "%d", n);
		probe_option(p, "--page", "%s", probe_pages(ctx->profile));
		probe_needs_node(p, ctx->node, n);
		probe_judges(p, check, "min", "value", QUANTITY_RATE, NULL);
		p->remedy = "check the DIMM population, the memory speed and the power profile in "
			    "the BIOS";
	}
}

const struct probe_family probe_memory_bandwidth = {"memory_bandwidth", want_bandwidth};
