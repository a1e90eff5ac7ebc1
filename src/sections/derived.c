/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sections/derived.h"

#include "base/mem.h"
#include "sections/sections.h"

/* A number that is said exactly; 0 if it is not, or only bounded (">=2"). */
static unsigned int exact(const struct ynode *expect, const char *key)
{
	uint64_t n = 0;

	return ynode_exact(ynode_get(expect, key), &n) && n <= CPUS_MAX ? (unsigned int)n : 0;
}

void node_from_expect(const struct profile *p, struct node *ret)
{
	static const enum cpu_vendor vendors[] = {CPU_INTEL, CPU_AMD, CPU_ARM};
	const struct ynode *expect = profile_section(p, "expect");
	const char *vendor = ynode_text(expect, "cpu_vendor", "");
	unsigned int cpus = exact(expect, "cpus"), nodes = exact(expect, "numa_nodes");

	memset(ret, 0, sizeof(*ret));
	ret->arch = xstrdup("");
	ret->kernel = xstrdup("");
	ret->cmdline = xstrdup("");
	for (size_t i = 0; i < array_len(vendors); i++)
		if (streq(vendor, cpu_vendor_name(vendors[i])))
			ret->cpu_vendor = vendors[i];
	for (unsigned int i = 0; i < cpus; i++)
		cpus_add(&ret->cpus, i);
	/* no socket is without a node of its own: as many nodes as sockets, then all have CPUs */
	for (unsigned int i = 0; i < nodes && nodes == exact(expect, "cpu_sockets"); i++)
		cpus_add(&ret->nodes_with_cpu, i);
	/* nobody says that a node which the profile names is not there */
	for (unsigned int i = 0; i < CPUS_MAX; i++)
		cpus_add(&ret->nodes, i);
}

/* --- what a node would be needed for ------------------------------------------------------- */

/* Each returns what asks for something that the node does not say, or NULL. */

static const struct ynode *lacks_vendor(const struct node *node, const struct ynode *section)
{
	return node->cpu_vendor == CPU_UNKNOWN ? ynode_get(section, "iommu") : NULL;
}

static const struct ynode *lacks_cpus(const struct node *node, const struct ynode *section)
{
	return cpus_count(&node->cpus) ? NULL : ynode_get(section, "isolate_cpus");
}

/* Pages that are taken at run time need no argument. */
static const struct ynode *lacks_nodes(const struct node *node, const struct ynode *section)
{
	for (size_t i = 0; i < section->items.n && !cpus_count(&node->nodes_with_cpu); i++) {
		const struct ynode *pool = section->items.v[i];

		if (ynode_get(pool, "per_node") && streq(ynode_text(pool, "at", "boot"), "boot"))
			return pool;
	}
	return NULL;
}

static const struct {
	const char *section;
	const char *key; /* left out of the section when it is asked; NULL: the whole section */
	const struct ynode *(*lacks)(const struct node *node, const struct ynode *section);
	const char *sentence;
} needs[] = {
	{"kernel_args", "iommu", lacks_vendor,
	 "iommu: its arguments depend on the CPU vendor; write expect: {cpu_vendor: ...} or look "
	 "at a node"},
	{"kernel_args", "", lacks_cpus,
	 "isolate_cpus: irqaffinity= needs all CPUs; write expect: {cpus: N} or look at a node"},
	{"hugepages", NULL, lacks_nodes,
	 "per_node: which NUMA nodes have CPUs is not known; write expect: {cpu_sockets: N, "
	 "numa_nodes: N}, nodes: {0: N, ...}, or look at a node"},
};

static void add_unknown(struct derived_section *d, struct place at, const char *text)
{
	struct unknown u = {.at = at, .text = xstrdup(text)};

	vec_push(&d->unknown, u);
}

/* The section without what can't be derived; NULL if nothing of it can. */
static struct ynode *known_part(const struct node *node, const struct ynode *section,
				struct derived_section *d)
{
	struct ynode *part = ynode_copy(section);

	for (size_t i = 0; part && i < array_len(needs); i++) {
		const struct ynode *asks =
			streq(needs[i].section, d->section) ? needs[i].lacks(node, section) : NULL;

		if (!asks)
			continue;
		add_unknown(d, asks->at, needs[i].sentence);
		if (needs[i].key) {
			ynode_remove(part, needs[i].key);
			continue;
		}
		ynode_free(part);
		part = NULL;
	}
	return part;
}

static void derive_section(const struct section_ctx *ctx, const struct section *section,
			   const struct ynode *node, struct derived *ret)
{
	struct derived_section d = {.section = section->name};
	cleanup_ynode struct ynode *part = known_part(ctx->node, node, &d);
	struct err err = {0};

	if (part && section->kargs(ctx, part, &d.kargs, &err) < 0)
		add_unknown(&d, node->at, err.text);
	if (d.kargs.n || d.unknown.n)
		vec_push(&ret->list, d);
}

void derive_kargs(const struct root *root, const struct node *node, const struct profile *p,
		  struct derived *ret)
{
	struct device_sets none = {0};
	struct section_ctx ctx = {root, node, p, &none};
	struct node expected;

	node_from_expect(p, &expected);
	if (!node)
		ctx.node = &expected;
	memset(ret, 0, sizeof(*ret));
	for (const struct section *const *s = sections; *s; s++) {
		const struct ynode *n = profile_section(p, (*s)->name);

		if (n && (*s)->kargs)
			derive_section(&ctx, *s, n, ret);
	}
	node_free(&expected);
}

void derived_free(struct derived *d)
{
	for (size_t i = 0; i < d->list.n; i++) {
		kargs_free(&d->list.v[i].kargs);
		for (size_t j = 0; j < d->list.v[i].unknown.n; j++)
			free(d->list.v[i].unknown.v[j].text);
		vec_free(&d->list.v[i].unknown);
	}
	vec_free(&d->list);
}
