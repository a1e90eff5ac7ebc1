/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the CPUs of each core in a NUMA node. */
#include <errno.h>

#include "base/mem.h"
#include "node/node.h"

void node_online(const struct node *node, struct cpus *ret)
{
	*ret = node->cpus;
	cpus_remove_all(ret, &node->cpus_offline);
}

void node_places_of(const struct node *node, int numa, struct cpus *ret)
{
	const struct cpu_places *places = node_places(node);

	*ret = (struct cpus){0};
	for (size_t i = 0; i < places->list.n; i++)
		if (places->list.v[i].numa == numa)
			cpus_add(ret, places->list.v[i].cpu);
}

static int places_are_known(const struct node *node, struct err *err)
{
	const struct cpu_places *places = node_places(node);

	if (!places->list.n)
		return err_set(err, -ENODATA, "the kernel does not report which CPUs are online");
	for (size_t i = 0; i < places->list.n; i++) {
		const struct cpu_place *place = &places->list.v[i];

		if (place->numa < 0)
			return err_set(err, -ENODATA,
				       "CPU %u is in no NUMA node's cpulist "
				       "(/sys/devices/system/node)",
				       place->cpu);
		if (place->core < 0)
			return err_set(
				err, -ENODATA,
				"CPU %u has no list of SMT siblings (topology/core_cpus_list, "
				"before Linux 5.3 thread_siblings_list)",
				place->cpu);
	}
	return 0;
}

/* A core belongs to the NUMA node of its first CPU. */
static bool begins_core(const struct cpu_place *place, int numa)
{
	return place->core == (int)place->cpu && place->numa == numa;
}

static void add_core(const struct cpu_places *places, int core, struct cpus *ret)
{
	for (size_t i = 0; i < places->list.n; i++)
		if (places->list.v[i].core == core)
			cpus_add(ret, places->list.v[i].cpu);
}

static int add_first(const struct node *node, int numa, unsigned int per_node, struct cpus *ret,
		     struct err *err)
{
	const struct cpu_places *places = node_places(node);
	cleanup_free char *text = NULL;
	unsigned int cores = 0;
	struct cpus of_node;

	for (size_t i = 0; i < places->list.n; i++)
		if (begins_core(&places->list.v[i], numa) && ++cores <= per_node)
			add_core(places, places->list.v[i].core, ret);
	if (!cores || cores > per_node) /* no cores: a node with only memory */
		return 0;
	node_places_of(node, numa, &of_node);
	text = cpus_format(&of_node);
	return err_set(err, -ERANGE,
		       "NUMA node %d has %u core%s (CPUs %s), and keeping %u of them leaves none "
		       "to isolate",
		       numa, cores, cores == 1 ? "" : "s", text, per_node);
}

int node_first_cores(const struct node *node, unsigned int per_node, struct cpus *ret,
		     struct err *err)
{
	int r = places_are_known(node, err);

	*ret = (struct cpus){0};
	for (int n = cpus_next(&node->nodes, -1); r == 0 && n >= 0; n = cpus_next(&node->nodes, n))
		r = add_first(node, n, per_node, ret, err);
	return r;
}
