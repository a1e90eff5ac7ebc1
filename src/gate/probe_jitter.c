/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jitter of CPUs: a list, or those that the profile or this boot isolates. */
#include "gate/probe.h"

#include "base/mem.h"
#include "sys/read.h"

enum { BUDGET_MS = 500 };

/* The profile's come first: that they are not isolated is what jitter shows. NULL: none. */
static char *isolated_cpus(const struct section_ctx *ctx)
{
	const struct ynode *args = profile_section(ctx->profile, "kernel_args");
	const char *planned = args ? ynode_text(args, "isolate_cpus", NULL) : NULL;
	char *text = NULL;

	if (planned)
		return xstrdup(planned);
	if (read_text(ctx->root, &text, NULL, "/sys/devices/system/cpu/isolated") == 0 && *text)
		return text;
	free(text);
	return NULL;
}

/* What measures the memory of those nodes at the same time would disturb them. */
static void needs_nodes_of(struct probe *p, const struct section_ctx *ctx, const struct cpus *cpus)
{
	const struct cpus *nodes = &ctx->node->nodes_with_cpu;

	for (int n = cpus_next(nodes, -1); n >= 0; n = cpus_next(nodes, n)) {
		struct cpus of_node;

		probe_cpus_of_node(ctx->root, n, &of_node);
		for (int c = cpus_next(&of_node, -1); c >= 0; c = cpus_next(&of_node, c))
			if (cpus_has(cpus, (unsigned int)c))
				probe_needs_node(p, ctx->node, n); /* once only, it knows */
	}
}

static void want_jitter(const struct section_ctx *ctx, const char *name, const struct ynode *check,
			struct probes *ret)
{
	struct probe *p = probe_add(ret, name, check, "cpus");
	const char *word = ynode_text(check, "cpus", "");
	cleanup_free char *list = streq(word, "isolated") ? isolated_cpus(ctx) : xstrdup(word);
	struct cpus cpus = {0};

	probe_judges(p, check, "p9999", "value", QUANTITY_TIME, NULL);
	if (!list || cpus_parse(list, &cpus) < 0) {
		probe_declines(p, OUTCOME_CANNOT_MEASURE,
			       "no CPU is isolated: kernel_args.isolate_cpus isolates some, or "
			       "write a list of CPUs");
		return;
	}
	probe_subject(p, "jitter of CPUs %s", list);
	probe_option(p, "--cpus", "%s", list);
	needs_nodes_of(p, ctx, &cpus);
	p->budget_ms = BUDGET_MS;
	p->remedy = "check what runs there (isolate_cpus, irq), and the BIOS's power management";
}

const struct probe_family probe_jitter = {.run = "jitter", .want = want_jitter};
