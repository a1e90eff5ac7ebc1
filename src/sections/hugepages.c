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
#include "kinds/checks.h"
#include "profile/language.h"
#include "profile/rules.h"
#include "sections/sections.h"

enum { MEGABYTE = 1 << 20, GIGABYTE = 1 << 30 };

static const struct spec page_count = {
	.what = "a count of pages",
	.unit = "pages",
	.check = value_int,
	.min = 0,
	.max = 10000000,
};
static const struct spec page_nodes = {
	.kind = SPEC_MAP_OF,
	.any = "NODE",
	.what = "a map of NUMA nodes to page counts, such as {0: 32, 1: 16}",
	.key = &spec_numa_node,
	.item = &page_count,
};
static const struct spec page_when = {
	.what = "a time to allocate pages",
	.check = value_word,
	.words = WORDS("boot", "runtime"),
};
/* at: boot if not said; per_node counts nodes that have CPUs */
static const struct spec keys = {
	.kind = SPEC_MAP,
	.what = "a map such as {size: 1G, per_node: 32}",
	.fields = FIELDS(
		KEY("size", &spec_page_size, "Page size of the pool.", .flags = FIELD_REQUIRED),
		KEY("per_node", &page_count, "Number of pages on each NUMA node that has CPUs."),
		KEY("nodes", &page_nodes,
		    "Number of pages on each NUMA node by its number, instead of per_node."),
		KEY("at", &page_when,
		    "When to allocate the pages: at boot by kernel arguments (default), or at "
		    "runtime in the initramfs."),
		KEY("default", &spec_bool,
		    "Whether programs that name no size get pages of this size; default false.")),
};
static const struct spec page_pools = {
	.kind = SPEC_LIST,
	.what = "a list of page pools, such as - {size: 1G, per_node: 32}",
	.item = &keys,
};

/* --- changes ------------------------------------------------------------------------------ */

/* So many pages on each node. */
struct counts {
	uint64_t pages[CPUS_MAX]; /* by node: whatever fits the set */
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

/* Which of the words of `at`. */
enum { AT_BOOT, AT_RUNTIME };

static bool at_boot(const struct ynode *item)
{
	const struct ynode *at = ynode_get(item, "at");

	return !at || at->value.number == AT_BOOT;
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
		struct counts *want cleanup_free = xnew(struct counts);
		cleanup_str struct str text = {0};
		int r = read_counts(ctx, item, want, err);

		if (r < 0)
			return r;
		if (ynode_bool(item, "default", false))
			kargs_add(wanted, def, origin);
		if (!at_boot(item))
			continue;
		for (int n = cpus_next(&want->nodes, -1); n >= 0; n = cpus_next(&want->nodes, n))
			str_addf(&text, "%s%d:%llu", text.len ? "," : "hugepages=", n,
				 (unsigned long long)want->pages[n]);
		kargs_add(wanted, sizearg, origin);
		kargs_add(wanted, str_get(&text), origin);
	}
	return 0;
}

static void emit_node(struct plan *plan, const struct ynode *item, int node, uint64_t pages)
{
	const char *size = ynode_text(item, "size", "");
	uint64_t bytes = ynode_number_of(item, "size", 0);
	cleanup_free char *dir = xasprintf("hugepages-%llukB", (unsigned long long)(bytes >> 10));
	struct change *c;

	if (at_boot(item)) {
		c = plan_add(plan, "hugepages", &kind_check, STAGE_GATE, PHASE_CHECK, item->at,
			     "hugepages/%s/node%d", size, node);
		change_on(c, NULL, &pages_item);
		change_part(c, dir, NULL, NULL)->index = (unsigned int)node;
		change_target(c, "pages:%llu:%d", (unsigned long long)(bytes >> 10), node);
		change_waits_for(c, "kernel_args/next_boot");
	} else {
		c = plan_add(plan, "hugepages", &kind_attr, STAGE_INITRD, PHASE_MEMORY, item->at,
			     "hugepages/%s/node%d", size, node);
		change_target(c, "/sys/devices/system/node/node%d/hugepages/%s/nr_hugepages", node,
			      dir);
		change_lane(c, "node%d", node);
	}
	c->want = (struct value){.type = VALUE_NUMBER, .number = (int64_t)pages};
	change_desired(c, "%llu", (unsigned long long)pages);
}

static int emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan,
		struct err *err)
{
	for (size_t i = 0; i < section->items.n; i++) {
		const struct ynode *item = section->items.v[i];
		struct counts *want cleanup_free = xnew(struct counts);
		int r = read_counts(ctx, item, want, err);

		if (r < 0)
			return r;
		for (int n = cpus_next(&want->nodes, -1); n >= 0; n = cpus_next(&want->nodes, n))
			emit_node(plan, item, n, want->pages[n]);
	}
	return 0;
}

/* --- rules -------------------------------------------------------------------------------- */

/* Facts: mm/hugetlb.c, arch/x86/mm/hugetlbpage.c. */

static void pool_counts_one_way(struct ruling *r, const struct ynode *pool, const char *key)
{
	bool per_node = ynode_get(pool, "per_node"), nodes = ynode_get(pool, "nodes");

	if (pool->kind != YAML_MAP || per_node != nodes)
		return;
	rule_error(r, pool, key, "%s",
		   per_node ? "both per_node: and nodes: are there; keep one"
			    : "how many is missing; write per_node: 32 or nodes: {0: 32, 1: 16}");
}

static void pool_is_first_of(struct ruling *r, const struct ynode *pools, size_t i, const char *key)
{
	const struct ynode *pool = pools->items.v[i];

	for (size_t j = 0; j < i; j++) {
		const struct ynode *first = pools->items.v[j];

		if (ynode_get(pool, "size") &&
		    text_is(first, "size", ynode_text(pool, "size", "?")))
			rule_error(r, pool, key,
				   "size %s is already listed at %u:%u, and the kernel ignores the "
				   "second; write one item",
				   ynode_text(pool, "size", ""), first->at.line, first->at.col);
		if (ynode_bool(pool, "default", false) && ynode_bool(first, "default", false))
			rule_error(
				r, pool, key,
				"the default size is set already at %u:%u; keep one default: true",
				first->at.line, first->at.col);
	}
}

static void pools_are_sound(struct ruling *r)
{
	const struct ynode *pools = section(r, "hugepages");

	for (size_t i = 0; i < count(pools, YAML_LIST); i++) {
		cleanup_free char *key = xasprintf("hugepages[%zu]", i);

		pool_counts_one_way(r, pools->items.v[i], key);
		pool_is_first_of(r, pools, i, key);
	}
}

/* Pages that are larger than what the page allocator can give: 1G and 16G. */
static bool is_gigantic(const struct ynode *pool)
{
	return ynode_number_of(pool, "size", 0) >= GIGABYTE;
}

static void cma_leaves_boot_pages(struct ruling *r)
{
	const struct ynode *pools = section(r, "hugepages");
	const struct ynode *cma = find_arg(r, "hugetlb_cma");

	for (size_t i = 0; cma && i < count(pools, YAML_LIST); i++) {
		const struct ynode *pool = pools->items.v[i];

		if (is_gigantic(pool) && at_boot(pool))
			rule_error(r, pool, "hugepages",
				   "with hugetlb_cma= (at %u:%u) the kernel allocates no %s pages "
				   "at boot; write at: runtime or drop hugetlb_cma=",
				   cma->at.line, cma->at.col, ynode_text(pool, "size", ""));
	}
}

/* --- sizes of an architecture ------------------------------------------------------------- */

static bool is_x86(const struct ruling *r)
{
	enum cpu_vendor v = wanted_vendor(r);

	return text_is(section(r, "match"), "arch", "x86_64") ||
	       (r->node && streq(r->node->arch ? r->node->arch : "", "x86_64")) || v == CPU_INTEL ||
	       v == CPU_AMD;
}

/* arm64 has 64K, 32M, 512M and 16G, which of them its base page says; POWER has 16G. */
static void sizes_are_of_the_machine(struct ruling *r)
{
	const struct ynode *pools = section(r, "hugepages");

	for (size_t i = 0; is_x86(r) && i < count(pools, YAML_LIST); i++) {
		const struct ynode *size = ynode_get(pools->items.v[i], "size");
		cleanup_free char *key = xasprintf("hugepages[%zu].size", i);
		uint64_t bytes;

		if (ynode_number(size, &bytes) && bytes != 2 * MEGABYTE && bytes != GIGABYTE)
			rule_error(r, size, key, "x86 has no pages of %.20s; write 2M or 1G",
				   size->text);
	}
}

/* --- the machine, when it is known -------------------------------------------------------- */

static void want_numa_node(struct ruling *r, const struct ynode *n, const char *key)
{
	const struct ynode *expect = ynode_get(section(r, "expect"), "numa_nodes");
	uint64_t id = 0, there = 0;

	if (!ynode_number(n, &id))
		return;
	if (ynode_exact(expect, &there) && id >= there)
		rule_error(r, n, key,
			   "NUMA node %llu does not exist: expect.numa_nodes (at %u:%u) is %llu",
			   (unsigned long long)id, expect->at.line, expect->at.col,
			   (unsigned long long)there);
	if (r->node && cpus_count(&r->node->nodes) &&
	    (id >= CPUS_MAX || !cpus_has(&r->node->nodes, (unsigned int)id)))
		rule_error(r, n, key, "this machine has no NUMA node %llu", (unsigned long long)id);
}

static void nodes_are_there(struct ruling *r)
{
	const struct ynode *pools = section(r, "hugepages");

	for (size_t i = 0; i < count(pools, YAML_LIST); i++) {
		const struct ynode *nodes = ynode_get(pools->items.v[i], "nodes");
		cleanup_free char *key = xasprintf("hugepages[%zu].nodes", i);

		for (size_t j = 0; j < count(nodes, YAML_MAP); j++)
			want_numa_node(r, nodes->keys.v[j], key);
	}
}

static uint64_t pool_bytes(const struct ruling *r, const struct ynode *pool)
{
	const struct ynode *nodes = ynode_get(pool, "nodes");
	uint64_t size = ynode_number_of(pool, "size", 0), n = 0;
	uint64_t pages =
		ynode_number_of(pool, "per_node", 0) * cpus_count(&r->node->nodes_with_cpu);

	for (size_t i = 0; i < count(nodes, YAML_MAP); i++)
		if (ynode_number(nodes->items.v[i], &n))
			pages += n;
	return __builtin_mul_overflow(size, pages, &size) ? 0 : size;
}

static void pages_are_there(struct ruling *r)
{
	const struct ynode *pools = section(r, "hugepages");
	uint64_t bytes = 0;

	if (!r->node || !cpus_count(&r->node->nodes) || r->node->memory_of.n)
		return; /* pages_fit_each_node() says it better */
	for (size_t i = 0; i < count(pools, YAML_LIST); i++)
		bytes += pool_bytes(r, pools->items.v[i]);
	if (r->node->memory && bytes > r->node->memory)
		rule_error(r, pools, "hugepages",
			   "%lluM of pages, but this machine has %lluM of memory",
			   (unsigned long long)(bytes >> 20),
			   (unsigned long long)(r->node->memory >> 20));
}

/* What the pool takes of one NUMA node; 0 where that is no number. */
static uint64_t pool_bytes_of(const struct ruling *r, const struct ynode *pool, unsigned int node)
{
	const struct ynode *nodes = ynode_get(pool, "nodes");
	cleanup_free char *name = xasprintf("%u", node);
	uint64_t size = ynode_number_of(pool, "size", 0), pages = 0;

	if (nodes)
		pages = ynode_number_of(nodes, name, 0);
	else if (cpus_has(&r->node->nodes_with_cpu, node))
		pages = ynode_number_of(pool, "per_node", 0);
	return __builtin_mul_overflow(size, pages, &size) ? 0 : size;
}

/* What one node lacks, the kernel takes from another, and the application finds too late. */
static void pages_fit_each_node(struct ruling *r)
{
	const struct ynode *pools = section(r, "hugepages");

	for (size_t i = 0; r->node && i < r->node->memory_of.n; i++) {
		const struct node_memory *m = &r->node->memory_of.v[i];
		uint64_t bytes = 0;

		for (size_t j = 0; j < count(pools, YAML_LIST); j++)
			bytes += pool_bytes_of(r, pools->items.v[j], m->node);
		if (bytes > m->bytes)
			rule_error(r, pools, "hugepages",
				   "%lluM of pages on NUMA node %u, which has %lluM of memory on "
				   "this machine; write nodes: with fewer for it",
				   (unsigned long long)(bytes >> 20), m->node,
				   (unsigned long long)(m->bytes >> 20));
	}
}

static const struct rule rules[] = {
	RULE("pools-are-sound", pools_are_sound),
	RULE("cma-leaves-boot-pages", cma_leaves_boot_pages),
	RULE("sizes-are-of-the-machine", sizes_are_of_the_machine),
	RULE("nodes-are-there", nodes_are_there),
	RULE("pages-are-there", pages_are_there),
	RULE("pages-fit-each-node", pages_fit_each_node),
	NO_MORE_RULES,
};

/* Pages that are taken at run time need no argument. */
static const struct ynode *lacks_nodes(const struct node *node, const struct ynode *section)
{
	for (size_t i = 0; i < section->items.n && !cpus_count(&node->nodes_with_cpu); i++) {
		const struct ynode *pool = section->items.v[i];

		if (ynode_get(pool, "per_node") && at_boot(pool))
			return pool;
	}
	return NULL;
}

static const struct kargs_need needs[] = {
	{NULL, lacks_nodes,
	 "per_node: which NUMA nodes have CPUs is not known; write expect: {cpu_sockets: N, "
	 "numa_nodes: N}, nodes: {0: N, ...}, or look at a node"},
	NO_MORE_NEEDS,
};

const struct section section_hugepages = {
	.name = "hugepages",
	.spec = &page_pools,
	.help = "Pools of huge pages.",
	.class = KEY_SETS,
	.differs = FAULT_MEMORY_PAGES_DIFFER,
	.failed = FAULT_MEMORY_PAGES_FAILED,
	.rules = rules,
	.emit = emit,
	.kargs = boot_kargs,
	.needs = needs,
};
