/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contradictions: pools of huge pages. */
#include "base/mem.h"
#include "base/str.h"
#include "sections/hugepages.h"

enum { MEGABYTE = 1 << 20, GIGABYTE = 1 << 30 };

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

		if (is_gigantic(pool) && pool_at_boot(pool))
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

const struct rule hugepages_rules[] = {
	RULE("pools-are-sound", pools_are_sound),
	RULE("cma-leaves-boot-pages", cma_leaves_boot_pages),
	RULE("sizes-are-of-the-machine", sizes_are_of_the_machine),
	RULE("nodes-are-there", nodes_are_there),
	RULE("pages-are-there", pages_are_there),
	RULE("pages-fit-each-node", pages_fit_each_node),
	NO_MORE_RULES,
};
