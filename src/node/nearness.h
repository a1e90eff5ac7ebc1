/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which GPU is near which NIC: what is above both of them, and their NUMA nodes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "node/node.h"

enum nearness {
	NEAR_SWITCH,	/* a PCIe switch is above both: data goes through it alone */
	NEAR_ROOT_PORT, /* one root port is above both */
	NEAR_NUMA,	/* the same NUMA node */
	NEAR_NOT,	/* none of these, as far as the firmware says */
	NEAR_COUNT,
};

/* "pcie_switch", "root_port", "numa_node", as profiles write it; "far". */
const char *nearness_name(enum nearness n);

/* By its class, and its vendor where a BMC's display has the same class. */
bool pci_fn_is_gpu(const struct pci_fn *fn);

struct pair {
	const struct pci_fn *nic;
	const struct pci_fn *mover; /* of its data; NULL: unknown (p2p_mover_of()) */
	const struct pci_fn *gpu;   /* its own; NULL: there are fewer GPUs than NICs */
	const struct pci_fn *nearest;
	enum nearness how;	   /* to its own */
	enum nearness nearest_how; /* to the nearest, which may be another's */
};

struct pairs {
	struct pair *v; /* by the NICs' order */
	size_t n;
	size_t cap;
};

/*
 * Each NIC with a GPU of its own: the nearest pair first, of those that are equally near the one
 * that comes first. Near is what the function that moves the NIC's data is near to; the NIC itself
 * where that is unknown. The result points to the functions; vec_free() it.
 */
void pairs_find(const struct root *root, const struct node *node, const struct pci_fn *const *nics,
		size_t n_nics, const struct pci_fn *const *gpus, size_t n_gpus, struct pairs *ret);

/*
 * The same of all that look like it: network functions that are no VFs, and GPUs
 * (pci_fn_is_gpu()).
 */
void pairs_of_node(const struct root *root, const struct node *node, struct pairs *ret);
