/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sections/derived.h"

#include "base/mem.h"
#include "profile/section.h"
#include "profile/yaml.h"

/* An exact number of expect:; 0 if it is missing or only bounded (">=2"). */
static unsigned int exact(const struct ynode *expect, const char *key)
{
	uint64_t n = 0;

	return ynode_exact(ynode_get(expect, key), &n) && n <= CPUS_MAX ? (unsigned int)n : 0;
}

void node_from_expect(const struct profile *p, struct node *ret)
{
	static const enum cpu_vendor vendors[] = {CPU_INTEL, CPU_AMD, CPU_ARM};
	const struct ynode *expect = profile_section(p, "expect");
	const char *vendor = ynode_text(profile_section(p, "match"), "cpu_vendor",
					ynode_text(expect, "cpu_vendor", ""));
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
	/* every socket has a node; with as many nodes as sockets, all nodes have CPUs */
	for (unsigned int i = 0; i < nodes && nodes == exact(expect, "cpu_sockets"); i++)
		cpus_add(&ret->nodes_with_cpu, i);
	/* assume that every node that the profile names exists */
	for (unsigned int i = 0; i < CPUS_MAX; i++)
		cpus_add(&ret->nodes, i);
}

/* --- settings that need a node ------------------------------------------------------------- */

static void add_unknown(struct derived_section *d, struct place at, const char *text)
{
	struct unknown u = {.at = at, .text = xstrdup(text)};

	vec_push(&d->unknown, u);
}

/* A copy of the section without the keys that cannot be derived; NULL if none can. */
static struct ynode *known_part(const struct node *node, const struct section *section,
				const struct ynode *said, struct derived_section *d)
{
	struct ynode *part = ynode_copy(said);

	for (const struct kargs_need *need = section->needs; part && need && need->lacks; need++) {
		const struct ynode *asks = need->lacks(node, said);

		if (!asks)
			continue;
		add_unknown(d, asks->at, need->sentence);
		if (need->key) {
			ynode_remove(part, need->key);
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
	cleanup_ynode struct ynode *part = known_part(ctx->node, section, node, &d);
	struct err err = {0};

	if (part && section->kargs(ctx, part, &d.kargs, &err) < 0)
		add_unknown(&d, node->at, err.text);
	if (d.kargs.n || d.unknown.n)
		vec_push(&ret->list, d);
}

void derive_kargs(const struct root *root, const struct node *node, const struct profile *p,
		  struct derived *ret)
{
	struct device_sets sets = {0};
	struct section_ctx ctx = {.root = root, .node = node, .profile = p, .sets = &sets};
	struct node expected;

	node_from_expect(p, &expected);
	if (!node)
		ctx.node = &expected;
	else /* fails for a cycle of sets, which check rejects: then no set is known */
		device_sets_resolve(node, p->devices.v, p->devices.n, &sets, NULL);
	memset(ret, 0, sizeof(*ret));
	for (const struct section *const *s = sections; *s; s++) {
		const struct ynode *n = profile_section(p, (*s)->name);

		if (n && (*s)->kargs)
			derive_section(&ctx, *s, n, ret);
	}
	device_sets_free(&sets);
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
