/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "steps/derived.h"

#include "base/mem.h"
#include "steps/step.h"

void node_from_expect(const struct profile *p, struct node *ret)
{
	static const enum cpu_vendor vendors[] = {CPU_INTEL, CPU_AMD, CPU_ARM};
	const struct ynode *expect = profile_section(p, "expect");
	const char *vendor = ynode_text(expect, "cpu_vendor", "");
	uint64_t cpus = 0;

	memset(ret, 0, sizeof(*ret));
	ret->arch = xstrdup("");
	ret->kernel = xstrdup("");
	ret->cmdline = xstrdup("");
	for (size_t i = 0; i < array_len(vendors); i++)
		if (streq(vendor, cpu_vendor_name(vendors[i])))
			ret->cpu_vendor = vendors[i];
	/* ">=96" says nothing of which CPUs remain for interrupts */
	if (parse_u64(ynode_text(expect, "cpus", ""), &cpus) == 0 && cpus <= CPUS_MAX)
		for (unsigned int i = 0; i < cpus; i++)
			cpus_add(&ret->cpus, i);
	/* nobody says that a node which the profile names is not there */
	for (unsigned int i = 0; i < CPUS_MAX; i++)
		cpus_add(&ret->nodes, i);
}

/* --- what a node would be needed for ------------------------------------------------------- */

static bool lacks_vendor(const struct node *node, const struct ynode *section)
{
	return ynode_get(section, "iommu") && node->cpu_vendor == CPU_UNKNOWN;
}

static bool lacks_cpus(const struct node *node, const struct ynode *section)
{
	return ynode_get(section, "isolate_cpus") && !cpus_count(&node->cpus);
}

static bool lacks_nodes(const struct node *node, const struct ynode *section)
{
	for (size_t i = 0; i < section->items.n; i++)
		if (ynode_get(section->items.v[i], "per_node") &&
		    !cpus_count(&node->nodes_with_cpu))
			return true;
	return false;
}

static const struct {
	const char *section;
	const char *key; /* left out of the section when it is asked; NULL: the whole section */
	bool (*lacks)(const struct node *node, const struct ynode *section);
	const char *sentence;
} needs[] = {
	{"kernel_args", "iommu", lacks_vendor,
	 "iommu: its arguments depend on the CPU vendor; write expect: {cpu_vendor: ...} or look "
	 "at a node"},
	{"kernel_args", "", lacks_cpus,
	 "isolate_cpus: irqaffinity= needs all CPUs; write expect: {cpus: N} or look at a node"},
	{"hugepages", NULL, lacks_nodes,
	 "per_node: which NUMA nodes have CPUs is known on a node only"},
};

/* The section without what can't be derived; NULL if nothing of it can. */
static struct ynode *known_part(const struct node *node, const char *name,
				const struct ynode *section, struct strv *unknown)
{
	struct ynode *part = ynode_copy(section);

	for (size_t i = 0; part && i < array_len(needs); i++) {
		if (!streq(needs[i].section, name) || !needs[i].lacks(node, section))
			continue;
		strv_add(unknown, needs[i].sentence);
		if (needs[i].key) {
			ynode_remove(part, needs[i].key);
			continue;
		}
		ynode_free(part);
		part = NULL;
	}
	return part;
}

static void derive_section(const struct step_ctx *ctx, const struct step *step,
			   const struct ynode *section, struct derived *ret)
{
	struct derived_section d = {.section = step->section};
	cleanup_ynode struct ynode *part =
		known_part(ctx->node, step->section, section, &d.unknown);
	struct err err = {0};

	if (part && step->kargs(ctx, part, &d.kargs, &err) < 0)
		strv_add(&d.unknown, err.text);
	if (d.kargs.n || d.unknown.n)
		vec_push(&ret->list, d);
}

void derive_kargs(const struct root *root, const struct node *node, const struct profile *p,
		  struct derived *ret)
{
	struct device_sets none = {0};
	struct step_ctx ctx = {root, node, p, &none};
	struct node expected;

	node_from_expect(p, &expected);
	if (!node)
		ctx.node = &expected;
	memset(ret, 0, sizeof(*ret));
	for (const struct step *const *s = steps; *s; s++) {
		const struct ynode *section = profile_section(p, (*s)->section);

		if (section && (*s)->kargs)
			derive_section(&ctx, *s, section, ret);
	}
	node_free(&expected);
}

void derived_free(struct derived *d)
{
	for (size_t i = 0; i < d->list.n; i++) {
		kargs_free(&d->list.v[i].kargs);
		strv_free(&d->list.v[i].unknown);
	}
	vec_free(&d->list);
}
