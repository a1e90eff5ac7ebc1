/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the nearest GPU of each NIC, by the bridges above both and by their NUMA nodes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "node/node.h"

enum nearness {
	NEAR_SWITCH,	/* a PCIe switch is above both and carries the data alone */
	NEAR_ROOT_PORT, /* one root port is above both */
	NEAR_NUMA,	/* the same NUMA node */
	NEAR_NOT,	/* none of these, as far as the firmware reports */
	NEAR_COUNT,
};

/* "pcie_switch", "root_port", "numa_node", as profiles write them; "far" for NEAR_NOT. */
const char *nearness_name(enum nearness n);

/* Decides by the class, and also by the vendor where a BMC's display has the same class. */
bool pci_fn_is_gpu(const struct pci_fn *fn);

struct pair {
	const struct pci_fn *nic;
	const struct pci_fn *mover; /* moves the NIC's data; NULL: unknown (p2p_mover_of()) */
	const struct pci_fn *gpu;   /* the NIC's own GPU; NULL: there are fewer GPUs than NICs */
	const struct pci_fn *nearest;
	enum nearness how;	   /* nearness of gpu */
	enum nearness nearest_how; /* nearness of nearest, which may be another NIC's own GPU */
};

struct pairs {
	struct pair *v; /* in the order of the NICs */
	size_t n;
	size_t cap;
};

/*
 * Gives each NIC a GPU of its own: the nearest pair first, and the first in order of equally near
 * pairs. Nearness counts from the function that moves the NIC's data, or from the NIC itself where
 * that function is unknown. The result points to the functions; the caller frees the array with
 * vec_free().
 */
void pairs_find(const struct root *root, const struct node *node, const struct pci_fn *const *nics,
		size_t n_nics, const struct pci_fn *const *gpus, size_t n_gpus, struct pairs *ret);

/*
 * The same for all NICs and GPUs of a node: network functions that are not VFs, and functions for
 * which pci_fn_is_gpu() holds.
 */
void pairs_of_node(const struct root *root, const struct node *node, struct pairs *ret);
