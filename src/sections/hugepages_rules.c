/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules about pools of huge pages. */
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "profile/synonyms.h"
#include "sections/hugepages.h"

enum { MEGABYTE = 1 << 20, GIGABYTE = 1 << 30 };

/* Source: mm/hugetlb.c. */

static void pool_counts_one_way(struct ruling *r, const struct ynode *pool, const char *key)
{
	bool per_node = ynode_get(pool, "per_node"), nodes = ynode_get(pool, "nodes");

	if (pool->kind != YAML_MAP || per_node != nodes || synonym_is_in(pool, "per_node"))
		return;
	rule_error(r, pool, key, "%s",
		   per_node ? "per_node: and nodes: exclude each other; keep one"
			    : "the number of pages is missing; write per_node: 32 or nodes: {0: "
			      "32, 1: 16}");
}

static void pool_is_first_of(struct ruling *r, const struct ynode *pools, size_t i, const char *key)
{
	const struct ynode *pool = pools->items.v[i];

	for (size_t j = 0; j < i; j++) {
		const struct ynode *first = pools->items.v[j];

		if (ynode_get(pool, "size") &&
		    text_is(first, "size", ynode_text(pool, "size", "?")))
			rule_error(r, pool, key,
				   "size %s is already listed at %s, and the kernel ignores the "
				   "second; write one item",
				   ynode_text(pool, "size", ""), seen(r, first));
		if (ynode_bool(pool, "default", false) && ynode_bool(first, "default", false))
			rule_error(r, pool, key,
				   "the default size is set already at %s; keep one default: true",
				   seen(r, first));
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

/* Pages too large for the page allocator: 1G and 16G. */
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
				   "with hugetlb_cma= (at %s) the kernel allocates no %s pages "
				   "at boot; write at: runtime or drop hugetlb_cma=",
				   seen(r, cma), ynode_text(pool, "size", ""));
	}
}

/* --- sizes of a kernel -------------------------------------------------------------------- */

enum { SIZES_MAX = 5 };

/*
 * The sizes that one kernel supports, by architecture and base page
 * (Documentation/arch/arm64/hugetlbpage.rst, arch/x86/mm/hugetlbpage.c,
 * arch/powerpc/mm/hugetlbpage.c: radix, then hash).
 */
static const struct page_kernel {
	const char *arch, *base;
	const char *sizes[SIZES_MAX];
} kernels[] = {
	{"x86_64", "4K", {"2M", "1G"}},		 {"aarch64", "4K", {"64K", "2M", "32M", "1G"}},
	{"aarch64", "16K", {"2M", "32M", "1G"}}, {"aarch64", "64K", {"2M", "512M", "16G"}},
	{"ppc64le", "64K", {"2M", "1G"}},	 {"ppc64le", "4K", {"64K", "16G"}},
};

/* Set of kernels of that table, one bit for each. */
typedef unsigned int kernel_set;

/* The architecture that the profile gives, else the node's; "" if unknown. */
static const char *wanted_arch(const struct ruling *r)
{
	const char *said = ynode_text(section(r, "match"), "arch", "");

	if (*said)
		return said;
	switch (wanted_vendor(r)) {
	case CPU_INTEL:
	case CPU_AMD:
		return "x86_64";
	case CPU_ARM:
		return "aarch64";
	default:
		return r->node ? node_arch(r->node) : "";
	}
}

static kernel_set kernels_of(const char *arch)
{
	kernel_set set = 0;

	for (size_t i = 0; i < array_len(kernels); i++)
		if (!*arch || streq(kernels[i].arch, arch))
			set |= 1U << i;
	return set;
}

static bool kernel_has(const struct page_kernel *k, uint64_t size)
{
	uint64_t one;

	for (size_t i = 0; i < SIZES_MAX && k->sizes[i]; i++)
		if (parse_size(k->sizes[i], &one) == 0 && one == size)
			return true;
	return false;
}

/* The kernels of a set that support the size. */
static kernel_set kernels_with(kernel_set set, uint64_t size)
{
	for (size_t i = 0; i < array_len(kernels); i++)
		if (!kernel_has(&kernels[i], size))
			set &= ~(1U << i);
	return set;
}

static const char *between(size_t i, size_t n)
{
	return i == 0 ? "" : i + 1 == n ? " and " : ", ";
}

/* "64K, 2M, 32M and 1G with a base page of 4K; ..." */
static void add_kernels(struct str *text, kernel_set set)
{
	const char *sep = "";

	for (size_t i = 0; i < array_len(kernels); i++) {
		size_t n = 0;

		if (!(set & 1U << i))
			continue;
		while (n < SIZES_MAX && kernels[i].sizes[n])
			n++;
		str_add(text, sep);
		for (size_t j = 0; j < n; j++)
			str_addf(text, "%s%s", between(j, n), kernels[i].sizes[j]);
		str_addf(text, " with a base page of %s", kernels[i].base);
		sep = "; ";
	}
}

static void report_sizes(struct ruling *r, const struct ynode *pools, size_t i, bool arm)
{
	const struct ynode *size = ynode_get(pools->items.v[i], "size");
	cleanup_free char *key = xasprintf("hugepages[%zu].size", i);
	cleanup_str struct str others = {0}, have = {0};

	for (size_t j = 0; j < i; j++) /* "1G" or "2M and 64K" */
		str_addf(&others, "%s%.20s", between(j, i),
			 ynode_text(pools->items.v[j], "size", "?"));
	add_kernels(&have, kernels_of("aarch64"));
	rule_error(r, size, key,
		   "no %skernel has pages of %.20s and of %s: arm64 has %s; keep the sizes of one "
		   "base page",
		   arm ? "arm64 " : "", size->text, str_get(&others), str_get(&have));
}

/*
 * Reports sizes that no kernel of the architecture, or no kernel at all if it is unknown, supports
 * together. x86 has its own rule.
 */
static void sizes_are_of_one_kernel(struct ruling *r)
{
	const struct ynode *pools = section(r, "hugepages");
	const char *arch = pools ? wanted_arch(r) : "";
	kernel_set set = pools && !streq(arch, "x86_64") ? kernels_of(arch) : 0;
	uint64_t bytes;

	for (size_t i = 0; set && i < count(pools, YAML_LIST); i++) {
		if (!ynode_number(ynode_get(pools->items.v[i], "size"), &bytes))
			continue;
		set = kernels_with(set, bytes);
		if (!set)
			report_sizes(r, pools, i, streq(arch, "aarch64"));
	}
}

static void sizes_are_of_the_machine(struct ruling *r)
{
	const struct ynode *pools = section(r, "hugepages");
	bool x86 = pools && streq(wanted_arch(r), "x86_64");

	for (size_t i = 0; x86 && i < count(pools, YAML_LIST); i++) {
		const struct ynode *size = ynode_get(pools->items.v[i], "size");
		cleanup_free char *key = xasprintf("hugepages[%zu].size", i);
		uint64_t bytes;

		if (ynode_number(size, &bytes) && bytes != 2 * MEGABYTE && bytes != GIGABYTE)
			rule_error(r, size, key, "x86 has no pages of %.20s; write 2M or 1G",
				   size->text);
	}
}

/*
 * The page sizes that the running kernel offers reveal its base page. Only warns, because the
 * profile may be for another kernel, and the stage reports a pool that the running kernel lacks.
 */
static void sizes_are_of_the_running_kernel(struct ruling *r)
{
	const struct ynode *pools = section(r, "hugepages");
	const struct node_memory *memory = pools && r->node ? node_memory(r->node) : NULL;
	bool known = memory && memory->page_sizes.n && !streq(node_arch(r->node), "x86_64");
	kernel_set set = known ? kernels_of(node_arch(r->node)) : 0;
	uint64_t bytes;

	for (size_t i = 0; set && i < memory->page_sizes.n; i++)
		set = kernels_with(set, memory->page_sizes.v[i]);
	for (size_t i = 0; set && i < count(pools, YAML_LIST); i++) {
		const struct ynode *size = ynode_get(pools->items.v[i], "size");
		cleanup_free char *key = xasprintf("hugepages[%zu].size", i);
		cleanup_str struct str have = {0};

		if (!ynode_number(size, &bytes) || kernels_with(set, bytes))
			continue;
		add_kernels(&have, set);
		rule_warn(r, size, key,
			  "the running kernel has no pages of %.20s (it has %s); boot another "
			  "kernel, or write a size that it has",
			  size->text, str_get(&have));
	}
}

/* --- the memory that is guaranteed -------------------------------------------------------- */

/* Appends "600 x 1G x 2 nodes" to text; returns the bytes, or UINT64_MAX on overflow. */
static uint64_t pool_at_least(const struct ynode *pool, uint64_t numa_nodes, struct str *text)
{
	const struct ynode *nodes = ynode_get(pool, "nodes");
	uint64_t size = ynode_number_of(pool, "size", 0);
	uint64_t pages = ynode_number_of(pool, "per_node", 0), n;

	str_addf(text, "%s", text->len ? " + " : "");
	if (nodes) {
		for (size_t i = 0; i < count(nodes, YAML_MAP); i++)
			pages += ynode_number(nodes->items.v[i], &n) ? n : 0;
		numa_nodes = 1;
	}
	str_addf(text, "%llu x %.20s", (unsigned long long)pages, ynode_text(pool, "size", "?"));
	if (numa_nodes > 1)
		str_addf(text, " x %llu nodes", (unsigned long long)numa_nodes);
	if (__builtin_mul_overflow(size, pages * numa_nodes, &size))
		return UINT64_MAX;
	return size;
}

/*
 * The smallest machine that expect.memory accepts must hold all pages and a kernel. If the
 * machine's memory is known, pages_are_there() checks that instead.
 */
static void pages_fit_the_expected(struct ruling *r)
{
	const struct ynode *pools = section(r, "hugepages"), *expect = section(r, "expect");
	const struct ynode *memory = ynode_get(expect, "memory");
	cleanup_str struct str sum = {0};
	uint64_t least = 0, nodes = 1, bytes = 0;

	if (!ynode_number(memory, &least) || (r->node && node_memory(r->node)->bytes))
		return;
	ynode_number(ynode_get(expect, "numa_nodes"), &nodes);
	for (size_t i = 0; i < count(pools, YAML_LIST); i++)
		if (__builtin_add_overflow(bytes, pool_at_least(pools->items.v[i], nodes, &sum),
					   &bytes))
			bytes = UINT64_MAX;
	if (bytes >= least && bytes)
		rule_error(r, pools, "hugepages",
			   "the pages need %lluM (%s), but expect.memory (at %s) accepts a machine "
			   "with %lluM; ask for fewer pages or more memory%s",
			   (unsigned long long)(bytes >> 20), str_get(&sum), seen(r, memory),
			   (unsigned long long)(least >> 20),
			   nodes > 1 ? ", or write nodes: if not all nodes have CPUs" : "");
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
			   "NUMA node %llu does not exist: expect.numa_nodes (at %s) is %llu",
			   (unsigned long long)id, seen(r, expect), (unsigned long long)there);
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

/* The bytes that a pool needs on one NUMA node, or on all; 0 on overflow. */
static uint64_t pool_bytes(const struct node *node, const struct ynode *pool, int of)
{
	const struct ynode *nodes = ynode_get(pool, "nodes");
	uint64_t size = ynode_number_of(pool, "size", 0), pages = 0, id = 0, n = 0;

	for (size_t i = 0; i < count(nodes, YAML_MAP); i++)
		if ((of == ALL_NODES ||
		     (ynode_number(nodes->keys.v[i], &id) && id == (uint64_t)of)) &&
		    ynode_number(nodes->items.v[i], &n))
			pages += n;
	if (!nodes && of == ALL_NODES)
		pages = ynode_number_of(pool, "per_node", 0) * cpus_count(&node->nodes_with_cpu);
	else if (!nodes && cpus_has(&node->nodes_with_cpu, (unsigned int)of))
		pages = ynode_number_of(pool, "per_node", 0);
	return __builtin_mul_overflow(size, pages, &size) ? 0 : size;
}

static char *lack_of(const struct node *node, const struct ynode *pools, int of, bool boot,
		     uint64_t memory)
{
	cleanup_free char *where =
		of == ALL_NODES ? xstrdup("") : xasprintf(" on NUMA node %d", of);
	uint64_t bytes = 0;

	for (size_t i = 0; i < count(pools, YAML_LIST); i++)
		if (!boot || pool_at_boot(pools->items.v[i]))
			bytes += pool_bytes(node, pools->items.v[i], of);
	if (bytes <= memory)
		return NULL;
	return xasprintf("the pages need %lluM%s, but this machine has %lluM of memory%s; check "
			 "for a missing DIMM, or ask for fewer pages (nodes:)",
			 (unsigned long long)(bytes >> 20), where,
			 (unsigned long long)(memory >> 20), *where ? " there" : "");
}

/*
 * Checks each node, because the kernel silently allocates what one node lacks on another, and the
 * application notices too late.
 */
char *hugepages_lack(const struct node *node, const struct ynode *pools, int of, bool boot)
{
	const struct node_memory *memory;
	char *lack = NULL;

	if (!count(pools, YAML_LIST))
		return NULL;
	memory = node_memory(node);
	if (!memory->of.n && cpus_count(&node->nodes))
		return memory->bytes ? lack_of(node, pools, ALL_NODES, boot, memory->bytes) : NULL;
	for (size_t i = 0; !lack && i < memory->of.n; i++) {
		const struct numa_memory *m = &memory->of.v[i];

		if (of == ALL_NODES || m->node == (unsigned int)of)
			lack = lack_of(node, pools, (int)m->node, boot, m->bytes);
	}
	return lack;
}

/*
 * Only warns, because the machine is at fault: the rest of the profile applies, and the missing
 * pages block the node.
 */
static void pages_are_there(struct ruling *r)
{
	const struct ynode *pools = section(r, "hugepages");
	cleanup_free char *lack = r->node ? hugepages_lack(r->node, pools, ALL_NODES, false) : NULL;

	if (lack)
		rule_warn(r, pools, "hugepages", "%s", lack);
}

const struct rule hugepages_rules[] = {
	RULE("pools-are-sound", pools_are_sound),
	RULE("cma-leaves-boot-pages", cma_leaves_boot_pages),
	RULE("sizes-are-of-one-kernel", sizes_are_of_one_kernel),
	RULE("sizes-are-of-the-machine", sizes_are_of_the_machine),
	RULE("sizes-are-of-the-running-kernel", sizes_are_of_the_running_kernel),
	RULE("pages-fit-the-expected", pages_fit_the_expected),
	RULE("nodes-are-there", nodes_are_there),
	RULE("pages-are-there", pages_are_there),
	NO_MORE_RULES,
};
