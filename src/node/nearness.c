/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "node/nearness.h"

#include "base/mem.h"
#include "node/p2p.h"
#include "sys/pci_express.h"

enum {
	CLASS_NETWORK = 0x02,	  /* base class */
	CLASS_VGA = 0x0300,	  /* BMCs, and some GPUs */
	CLASS_3D = 0x0302,	  /* GPUs without an output */
	CLASS_ACCELERATOR = 0x12, /* base class */
};

static const char *const names[NEAR_COUNT] = {"pcie_switch", "root_port", "numa_node", "far"};

const char *nearness_name(enum nearness n)
{
	return names[n];
}

/* A function, and the bridges above the function that moves its data, from the root port down. */
struct place_of {
	const struct pci_fn *fn;
	const struct pci_fn *mover; /* NULL: unknown */
	int numa;
	struct strv ports;
};

static struct place_of *places_of(const struct root *root, const struct p2p_movers *movers,
				  const struct pci_fn *const *fns, size_t n)
{
	struct place_of *places = xcalloc(n ? n : 1, sizeof(*places));

	for (size_t i = 0; i < n; i++) {
		const struct pci_fn *mover = p2p_mover_of(root, movers, fns[i]);
		const struct pci_fn *at = mover ? mover : fns[i];

		places[i] = (struct place_of){.fn = fns[i], .mover = mover, .numa = at->numa};
		pci_ports_above(root, at->addr, &places[i].ports, NULL);
	}
	return places;
}

static void places_free(struct place_of *places, size_t n)
{
	for (size_t i = 0; i < n; i++)
		strv_free(&places[i].ports);
	free(places);
}

struct distance {
	enum nearness how;
	size_t common; /* number of bridges above both: more is nearer */
};

static struct distance measure(const struct place_of *a, const struct place_of *b)
{
	struct distance d = {.how = NEAR_NOT};

	while (d.common < a->ports.n && d.common < b->ports.n &&
	       streq(a->ports.v[d.common], b->ports.v[d.common]))
		d.common++;
	/* the root port and the upstream port of a switch */
	if (d.common >= 2)
		d.how = NEAR_SWITCH;
	else if (d.common == 1)
		d.how = NEAR_ROOT_PORT;
	else if (a->numa >= 0 && a->numa == b->numa)
		d.how = NEAR_NUMA;
	return d;
}

static bool nearer(const struct distance *a, const struct distance *b)
{
	return a->how != b->how ? a->how < b->how : a->common > b->common;
}

struct search {
	struct place_of *nics, *gpus;
	size_t n_nics, n_gpus;
	bool *taken; /* GPUs that have a NIC */
	struct pairs *out;
};

/* Pairs the nearest NIC and GPU of those left; false if none is left. */
static bool pair_nearest(struct search *s)
{
	struct distance best = {.how = NEAR_COUNT};
	size_t nic = 0, gpu = 0;

	for (size_t i = 0; i < s->n_nics; i++)
		for (size_t j = 0; !s->out->v[i].gpu && j < s->n_gpus; j++) {
			struct distance d = measure(&s->nics[i], &s->gpus[j]);

			if (s->taken[j] || !nearer(&d, &best))
				continue;
			best = d;
			nic = i;
			gpu = j;
		}
	if (best.how == NEAR_COUNT)
		return false;
	s->taken[gpu] = true;
	s->out->v[nic].gpu = s->gpus[gpu].fn;
	s->out->v[nic].how = best.how;
	return true;
}

static void find_nearest(const struct search *s, size_t nic, struct pair *ret)
{
	struct distance best = {.how = NEAR_COUNT};

	ret->nearest_how = NEAR_NOT;
	for (size_t j = 0; j < s->n_gpus; j++) {
		struct distance d = measure(&s->nics[nic], &s->gpus[j]);

		if (!nearer(&d, &best))
			continue;
		best = d;
		ret->nearest = s->gpus[j].fn;
		ret->nearest_how = d.how;
	}
}

void pairs_find(const struct root *root, const struct node *node, const struct pci_fn *const *nics,
		size_t n_nics, const struct pci_fn *const *gpus, size_t n_gpus, struct pairs *ret)
{
	struct p2p_movers movers = {0};
	struct search s = {.n_nics = n_nics,
			   .n_gpus = n_gpus,
			   .taken = xcalloc(n_gpus ? n_gpus : 1, sizeof(bool)),
			   .out = ret};

	p2p_movers_find(root, node, &movers);
	s.nics = places_of(root, &movers, nics, n_nics);
	s.gpus = places_of(root, &movers, gpus, n_gpus);
	p2p_movers_free(&movers);
	for (size_t i = 0; i < n_nics; i++) {
		struct pair p = {.nic = nics[i], .mover = s.nics[i].mover, .how = NEAR_NOT};

		find_nearest(&s, i, &p);
		vec_push(ret, p);
	}
	while (pair_nearest(&s))
		;
	places_free(s.nics, n_nics);
	places_free(s.gpus, n_gpus);
	free(s.taken);
}

/*
 * --- all NICs and GPUs of a node ---------------------------------------------------------------
 */

bool pci_fn_is_gpu(const struct pci_fn *fn)
{
	bool of_gpus = fn->vendor == VENDOR_NVIDIA || fn->vendor == VENDOR_AMD;

	return fn->class >> 8 == CLASS_3D ||
	       (of_gpus && (fn->class >> 8 == CLASS_VGA || fn->class >> 16 == CLASS_ACCELERATOR));
}

void pairs_of_node(const struct root *root, const struct node *node, struct pairs *ret)
{
	const struct pci_functions *functions = node_functions(node);
	VEC(const struct pci_fn *) nics = {0}, gpus = {0};

	for (size_t i = 0; i < functions->n; i++) {
		const struct pci_fn *fn = &functions->v[i];

		if (*fn->physfn)
			continue;
		if (pci_fn_is_gpu(fn))
			vec_push(&gpus, fn);
		else if (fn->class >> 16 == CLASS_NETWORK || fn->ibdevs.n)
			vec_push(&nics, fn);
	}
	if (gpus.n)
		pairs_find(root, node, nics.v, nics.n, gpus.v, gpus.n, ret);
	vec_free(&nics);
	vec_free(&gpus);
}
