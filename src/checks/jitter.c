/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jitter of CPUs: a list, or the CPUs that the profile or this boot isolates. */
#include "checks/probe.h"

#include "base/mem.h"
#include "kinds/isolation.h"
#include "profile/profile.h"
#include "profile/section.h"
#include "profile/yaml.h"
#include "sys/read.h"

enum { BUDGET_MS = 500 };

/*
 * A list, or the isolated CPUs: those of the profile come first, because jitter shows if they are
 * not isolated yet. False: no CPU.
 */
static bool cpus_of(const struct section_ctx *ctx, const struct ynode *cpus, struct cpus *ret)
{
	const struct ynode *args = profile_section(ctx->profile, "kernel_args");
	cleanup_free char *text = NULL;

	if (cpus && cpus->value.type == VALUE_WORD)
		cpus = ynode_get(args, "isolate_cpus");
	if (cpus)
		return isolated_on(ctx->node, cpus, ret, NULL) == 0;
	return read_attr(ctx->root, &text, NULL, "/sys/devices/system/cpu/isolated") == 0 &&
	       cpus_parse(text, ret) == 0 && cpus_count(ret);
}

/* Benchmarks of the memory of these nodes would disturb the CPUs at the same time. */
static void needs_nodes_of(struct probe *p, const struct section_ctx *ctx, const struct cpus *cpus)
{
	const struct cpus *nodes = &ctx->node->nodes_with_cpu;

	for (int n = cpus_next(nodes, -1); n >= 0; n = cpus_next(nodes, n)) {
		struct cpus of_node;

		node_cpus_of(ctx->root, n, &of_node);
		for (int c = cpus_next(&of_node, -1); c >= 0; c = cpus_next(&of_node, c))
			if (cpus_has(cpus, (unsigned int)c))
				probe_needs_node(p, ctx->node, n); /* adds each node once */
	}
}

static void want_jitter(const struct checked *t, struct probes *ret)
{
	struct probe *p = probe_add(ret, t, "cpus");
	cleanup_free char *list = NULL;
	struct cpus cpus;

	probe_judges(p, t, "p9999", "value", NULL);
	if (!cpus_of(t->ctx, ynode_get(t->map, "cpus"), &cpus)) {
		probe_declines(p, CHANGE_CANNOT_MEASURE,
			       "no CPU is isolated: kernel_args.isolate_cpus isolates some, or "
			       "write a list of CPUs");
		return;
	}
	list = cpus_format(&cpus);
	probe_subject(p, "jitter of CPUs %s", list);
	probe_option(p, "--cpus", "%s", list);
	needs_nodes_of(p, t->ctx, &cpus);
	p->budget_ms = BUDGET_MS;
	p->remedy =
		"check which tasks run there (isolate_cpus, irq), and the BIOS's power management";
}

CHECK(jitter, .required = {"cpus", "p9999"}, .measure = want_jitter, .slow = FAULT_CPU_JITTER);
