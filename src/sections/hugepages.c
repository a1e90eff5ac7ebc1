/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hugepages: pages of a size on each NUMA node. `at: boot` uses the kernel's per-node syntax
 * (hugepages=0:32,1:32, Linux 5.16) and checks the pages of each node, because the kernel silently
 * allocates what one node lacks on another. `at: runtime` writes the per-node files in the
 * initramfs, before memory is fragmented. See Documentation/admin-guide/mm/hugetlbpage.rst.
 */
#include "sections/hugepages.h"

#include <errno.h>

#include "base/mem.h"
#include "base/str.h"
#include "kinds/checks.h"
#include "plan/change.h"
#include "profile/language.h"
#include "profile/section.h"
#include "sections/want_arg.h"

static const struct spec page_count = INT("a count of pages", 0, 10000000, .unit = "pages");
static const struct spec page_nodes =
	MAP_OF("NODE", "a map of NUMA nodes to page counts, such as {0: 32, 1: 16}", spec_numa_node,
	       page_count);
static const struct spec page_when = ONE_OF(
	"a time to allocate pages",
	MEANS("boot", "by kernel arguments of Linux 5.16 and newer, while memory is whole; a "
		      "change takes one reboot"),
	MEANS("runtime", "by the initramfs, without a reboot; the memory may have room for fewer"));
/* at: defaults to boot; per_node applies to nodes with CPUs */
static const struct spec keys =
	MAP("a map such as {size: 1G, per_node: 32}",
	    KEY("size", &spec_page_size, "Page size of the pool.", .flags = FIELD_REQUIRED),
	    KEY("per_node", &page_count, "Number of pages on each NUMA node that has CPUs."),
	    KEY("nodes", &page_nodes,
		"Number of pages on each NUMA node by its number, instead of per_node."),
	    KEY("at", &page_when,
		"When to allocate the pages: at boot by kernel arguments (default), or at runtime "
		"in the initramfs."),
	    KEY("default", &spec_bool,
		"Whether programs that name no size get pages of this size; default false."));
static const struct spec page_pools =
	LIST_OF("a list of page pools, such as - {size: 1G, per_node: 32}", keys, ITEM_NONE);

/* --- changes ------------------------------------------------------------------------------ */

/* Number of pages on each node. */
struct counts {
	uint64_t pages[CPUS_MAX]; /* by node */
	struct cpus nodes;
};

static void add_nodes(const struct ynode *map, struct counts *want)
{
	for (size_t i = 0; i < map->keys.n; i++) {
		uint64_t node, n;

		if (ynode_number(map->keys.v[i], &node) && node < array_len(want->pages) &&
		    ynode_number(map->items.v[i], &n)) {
			want->pages[node] = n;
			cpus_add(&want->nodes, (unsigned int)node);
		}
	}
}

static int read_counts(const struct section_ctx *ctx, const struct ynode *item, struct counts *want,
		       struct err *err)
{
	const struct cpus *there = &ctx->node->nodes;
	const struct ynode *map = ynode_get(item, "nodes");
	uint64_t per_node = ynode_number_of(item, "per_node", 0);

	if (map) {
		add_nodes(map, want);
	} else {
		want->nodes = ctx->node->nodes_with_cpu;
		for (int n = cpus_next(&want->nodes, -1); n >= 0; n = cpus_next(&want->nodes, n))
			want->pages[n] = per_node;
	}
	for (int n = cpus_next(&want->nodes, -1); n >= 0; n = cpus_next(&want->nodes, n))
		if (!cpus_has(there, (unsigned int)n))
			return err_set(err, -ENODEV,
				       "%s: this machine has no NUMA node %d; its nodes are %d-%d",
				       ynode_text(item, "size", "?"), n, cpus_first(there),
				       cpus_last(there));
	return 0;
}

/* "2M". The caller frees. */
static char *size_text(uint64_t bytes)
{
	static const char units[] = "KMGT";
	size_t unit = 0;

	for (bytes >>= 10; units[unit + 1] && bytes % 1024 == 0; unit++)
		bytes >>= 10;
	return xasprintf("%llu%c", (unsigned long long)bytes, units[unit]);
}

/* "16G, 2M and 512M" */
static char *list_sizes(const struct node_memory *memory)
{
	struct str out = {0};
	size_t n = memory->page_sizes.n;

	for (size_t i = 0; i < n; i++) {
		cleanup_free char *size = size_text(memory->page_sizes.v[i]);

		str_addf(&out, "%s%s", !i ? "" : i + 1 < n ? ", " : " and ", size);
	}
	return str_take(&out);
}

/*
 * An arm64 kernel registers all sizes that its base page allows, in hugetlbpage_init() of
 * arch/arm64/mm/hugetlbpage.c, so no argument adds one. x86 registers 1G where an argument asks.
 */
static int want_size(const struct section_ctx *ctx, const struct ynode *item, struct err *err)
{
	const struct node_memory *memory = node_memory(ctx->node);
	uint64_t size = ynode_number_of(item, "size", 0);
	cleanup_free char *have = NULL;

	for (size_t i = 0; i < memory->page_sizes.n; i++)
		if (memory->page_sizes.v[i] == size)
			return 0;
	if (!memory->page_sizes.n || !streq(node_arch(ctx->node), "aarch64"))
		return 0;
	have = list_sizes(memory);
	return err_set(err, -ENODEV,
		       "the running kernel cannot have pages of %s; its sizes are %s; "
		       "write one of these, or boot a kernel with another base page",
		       ynode_text(item, "size", "?"), have);
}

/* default_hugepagesz comes first; hugepages= applies to the hugepagesz= directly before it. */
static int boot_kargs(const struct section_ctx *ctx, const struct ynode *section,
		      struct kargs *wanted, struct err *err)
{
	for (size_t i = 0; i < section->items.n; i++) {
		const struct ynode *item = section->items.v[i];
		const char *size = ynode_text(item, "size", "");
		cleanup_free char *def = xasprintf("default_hugepagesz=%s", size);
		cleanup_free char *sizearg = xasprintf("hugepagesz=%s", size);
		struct counts *want cleanup_free = xnew(struct counts);
		cleanup_str struct str text = {0};
		int r = read_counts(ctx, item, want, err);

		if (r == 0 && (pool_at_boot(item) || ynode_bool(item, "default", false)))
			r = want_size(ctx, item, err);
		if (r < 0)
			return r;
		if (ynode_bool(item, "default", false))
			kargs_want(wanted, item, def);
		if (!pool_at_boot(item))
			continue;
		for (int n = cpus_next(&want->nodes, -1); n >= 0; n = cpus_next(&want->nodes, n))
			str_addf(&text, "%s%d:%llu", text.len ? "," : "hugepages=", n,
				 (unsigned long long)want->pages[n]);
		kargs_want(wanted, item, sizearg);
		kargs_want(wanted, item, str_get(&text));
	}
	return 0;
}

static void emit_node(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan,
		      const struct ynode *item, int node, uint64_t pages)
{
	const char *size = ynode_text(item, "size", "");
	uint64_t bytes = ynode_number_of(item, "size", 0);
	cleanup_free char *dir = xasprintf("hugepages-%llukB", (unsigned long long)(bytes >> 10));
	cleanup_free char *lack = NULL;
	struct change *c;

	if (pool_at_boot(item)) {
		c = plan_add(plan, "hugepages", &kind_check, STAGE_GATE, PHASE_CHECK, item->at,
			     "hugepages/%s/node%d", size, node);
		change_on(c, NULL, &pages_item);
		change_part(c, dir, NULL, NULL)->index = (unsigned int)node;
		change_target(c, "pages:%llu:%d", (unsigned long long)(bytes >> 10), node);
		change_waits_for(c, "kernel_args/next_boot");
		c->of_args = true;
	} else {
		c = plan_add(plan, "hugepages", &kind_attr, STAGE_INITRD, PHASE_MEMORY, item->at,
			     "hugepages/%s/node%d", size, node);
		change_target(c, "/sys/devices/system/node/node%d/hugepages/%s/nr_hugepages", node,
			      dir);
		change_lane(c, "node%d", node);
		lack = hugepages_lack(ctx->node, section, node, false);
		change_withhold(c, lack);
	}
	c->want = (struct value){.type = VALUE_NUMBER, .number = (int64_t)pages};
	change_desired(c, "%llu", (unsigned long long)pages);
}

/* The kubelet's name for the resource: "hugepages-2Mi". The caller frees. */
static char *resource_of(uint64_t bytes)
{
	cleanup_free char *size = size_text(bytes);

	return xasprintf("hugepages-%si", size);
}

static void add_recorded(struct change *c, const struct ynode *item, const struct counts *want)
{
	uint64_t bytes = ynode_number_of(item, "size", 0);
	cleanup_free char *resource = resource_of(bytes);

	for (int n = cpus_next(&want->nodes, -1); n >= 0; n = cpus_next(&want->nodes, n)) {
		struct part *part = change_part(c, resource, NULL, NULL);

		part->index = (unsigned int)n;
		part->want = (struct value){.type = VALUE_NUMBER,
					    .number = (int64_t)(bytes * want->pages[n])};
	}
}

/* Only if a kubelet has run on the node, because it records the number of pages. */
static struct change *add_kubelet(const struct section_ctx *ctx, const struct ynode *section,
				  struct plan *plan)
{
	struct change *c;

	if (!section->items.n || !root_exists(ctx->root, KUBELET_STATE))
		return NULL;
	c = plan_add(plan, "hugepages", &kind_check, STAGE_GATE, PHASE_CHECK, section->at,
		     "hugepages/kubelet_state");
	change_on(c, NULL, &kubelet_state_item);
	change_target(c, "kubelet-state");
	change_desired(c, "as the profile");
	c->on_fail = ON_FAIL_WARN;
	c->of_args = true;
	c->foreign = true;
	return c;
}

static void emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan)
{
	struct change *kubelet = add_kubelet(ctx, section, plan);

	for (size_t i = 0; i < section->items.n; i++) {
		const struct ynode *item = section->items.v[i];
		struct counts *want cleanup_free = xnew(struct counts);

		if (read_counts(ctx, item, want, NULL) < 0) /* ctx->kargs would not be there */
			continue;
		for (int n = cpus_next(&want->nodes, -1); n >= 0; n = cpus_next(&want->nodes, n))
			emit_node(ctx, section, plan, item, n, want->pages[n]);
		if (kubelet)
			add_recorded(kubelet, item, want);
	}
}

/* Pages allocated at runtime need no argument. */
static const struct ynode *lacks_nodes(const struct node *node, const struct ynode *section)
{
	for (size_t i = 0; i < section->items.n && !cpus_count(&node->nodes_with_cpu); i++) {
		const struct ynode *pool = section->items.v[i];

		if (ynode_get(pool, "per_node") && pool_at_boot(pool))
			return pool;
	}
	return NULL;
}

static const struct kargs_need needs[] = {
	{NULL, lacks_nodes,
	 "per_node: the NUMA nodes that have CPUs are unknown; run the command on a node, or write "
	 "expect: {cpu_sockets: N, numa_nodes: N} where each socket is one NUMA node, else nodes: "
	 "{0: N, "
	 "1: N, ...} in place of per_node, into the profile or its drop-in NAME.d/site.yaml"},
	NO_MORE_NEEDS,
};

const struct section section_hugepages = {
	.name = "hugepages",
	.spec = &page_pools,
	.help = "Pools of huge pages.",
	.class = KEY_SETS,
	.differs = FAULT_MEMORY_PAGES_DIFFER,
	.failed = FAULT_MEMORY_PAGES_FAILED,
	.rules = hugepages_rules,
	.emit = emit,
	.kargs = boot_kargs,
	.needs = needs,
};
