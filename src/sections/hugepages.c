/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hugepages: so many pages of a size on each NUMA node. `at: boot` asks the kernel by its
 * own per-node syntax (hugepages=0:32,1:32) and checks what each node really got, since a
 * shortage on one node lands silently on another; `at: runtime` writes the per-node files
 * in the initramfs, while memory is whole. See Documentation/admin-guide/mm/hugetlbpage.rst.
 */
#include <errno.h>

#include "base/mem.h"
#include "base/str.h"
#include "profile/language.h"
#include "sections/sections.h"

struct wish {
	uint64_t pages[CPUS_MAX]; /* by node: whatever fits the set */
	struct cpus nodes;
};

static void wish_nodes(const struct ynode *nodes, struct wish *w)
{
	for (size_t i = 0; i < nodes->keys.n; i++) {
		uint64_t node, count;

		if (ynode_number(nodes->keys.v[i], &node) && node < array_len(w->pages) &&
		    ynode_number(nodes->items.v[i], &count)) {
			w->pages[node] = count;
			cpus_add(&w->nodes, (unsigned int)node);
		}
	}
}

static int read_wish(const struct section_ctx *ctx, const struct ynode *item, struct wish *w,
		     struct err *err)
{
	const struct cpus *there = &ctx->node->nodes;
	const struct ynode *nodes = ynode_get(item, "nodes");
	uint64_t per_node = ynode_number_of(item, "per_node", 0);

	if (nodes) {
		wish_nodes(nodes, w);
	} else {
		w->nodes = ctx->node->nodes_with_cpu;
		for (int n = cpus_next(&w->nodes, -1); n >= 0; n = cpus_next(&w->nodes, n))
			w->pages[n] = per_node;
	}
	for (int n = cpus_next(&w->nodes, -1); n >= 0; n = cpus_next(&w->nodes, n))
		if (!cpus_has(there, (unsigned int)n))
			return err_set(err, -ENODEV,
				       "%s: this machine has no NUMA node %d; its nodes are %d-%d",
				       ynode_text(item, "size", "?"), n, cpus_first(there),
				       cpus_last(there));
	return 0;
}

static bool at_boot(const struct ynode *item)
{
	return streq(ynode_text(item, "at", "boot"), "boot");
}

/* default_hugepagesz first; hugepages= binds to the hugepagesz= right before it. */
static int boot_kargs(const struct section_ctx *ctx, const struct ynode *section,
		      struct kargs *wanted, struct err *err)
{
	for (size_t i = 0; i < section->items.n; i++) {
		const struct ynode *item = section->items.v[i];
		const char *size = ynode_text(item, "size", "");
		cleanup_free char *origin =
			xasprintf("%s:%u", item->at.file ? item->at.file : "", item->at.line);
		cleanup_free char *def = xasprintf("default_hugepagesz=%s", size);
		cleanup_free char *sizearg = xasprintf("hugepagesz=%s", size);
		struct wish *w cleanup_free = xnew(struct wish);
		cleanup_str struct str counts = {0};
		int r = read_wish(ctx, item, w, err);

		if (r < 0)
			return r;
		if (ynode_bool(item, "default", false))
			kargs_add(wanted, def, origin);
		if (!at_boot(item))
			continue;
		for (int n = cpus_next(&w->nodes, -1); n >= 0; n = cpus_next(&w->nodes, n))
			str_addf(&counts, "%s%d:%llu", counts.len ? "," : "hugepages=", n,
				 (unsigned long long)w->pages[n]);
		kargs_add(wanted, sizearg, origin);
		kargs_add(wanted, str_get(&counts), origin);
	}
	return 0;
}

static void emit_node(struct plan *plan, const struct ynode *item, int node, uint64_t pages)
{
	const char *size = ynode_text(item, "size", "");
	uint64_t bytes = ynode_number_of(item, "size", 0);
	struct change *c;

	if (at_boot(item)) {
		c = plan_add(plan, "hugepages", &kind_check, STAGE_GATE, PHASE_CHECK, item->at,
			     "hugepages/%s/node%d", size, node);
		change_target(c, "pages:%llu:%d", (unsigned long long)(bytes >> 10), node);
		change_waits_for(c, "kernel_args/next_boot");
	} else {
		c = plan_add(plan, "hugepages", &kind_attr, STAGE_INITRD, PHASE_MEMORY, item->at,
			     "hugepages/%s/node%d", size, node);
		change_target(c,
			      "/sys/devices/system/node/node%d/hugepages/hugepages-%llukB/"
			      "nr_hugepages",
			      node, (unsigned long long)(bytes >> 10));
		change_lane(c, "node%d", node);
	}
	change_desired(c, "%llu", (unsigned long long)pages);
}

static int emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan,
		struct err *err)
{
	for (size_t i = 0; i < section->items.n; i++) {
		const struct ynode *item = section->items.v[i];
		struct wish *w cleanup_free = xnew(struct wish);
		int r = read_wish(ctx, item, w, err);

		if (r < 0)
			return r;
		for (int n = cpus_next(&w->nodes, -1); n >= 0; n = cpus_next(&w->nodes, n))
			emit_node(plan, item, n, w->pages[n]);
	}
	return 0;
}

const struct section section_hugepages = {
	.name = "hugepages",
	.spec = &spec_hugepages,
	.help = "Pools of huge pages.",
	.class = KEY_SETS,
	.emit = emit,
	.kargs = boot_kargs,
};
