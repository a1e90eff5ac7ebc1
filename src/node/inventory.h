/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inventory holds the facts that only the verb `survey` shows, in addition to the survey that
 * every stage takes. Some of these reads take rtnl or ask a card's firmware (speed, port state), so
 * nothing at boot may call inventory_take().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "node/nearness.h"
#include "node/node.h"
#include "node/p2p.h"
#include "sys/root.h"

struct fact {
	const char *key; /* static; the name in JSON */
	char *text;	 /* as the kernel prints it, without the newline */
	bool number;	 /* a whole number, which JSON shows as a number */
};

struct thing;

struct thing_list {
	struct thing *v;
	size_t n, cap;
};

/* A named part of the machine and its known facts; unknown facts are left out. */
struct thing {
	char *name;
	struct fact *facts;
	size_t n_facts;
	struct thing_list
		parts; /* an RDMA device's ports; huge pages of a NUMA node by their size */
};

struct inventory {
	struct thing machine;	/* cpu_model, cpus_online, bios_version, bios_date, iommu */
	struct thing_list numa; /* "0": cpus, socket, memory, free, distances; "2048" KiB pages */
	struct thing_list pci;	/* by address, in the node's order: bridge, link, IOMMU, SR-IOV */
	struct thing_list net;	/* netdevs, including virtual ones */
	struct thing_list rdma; /* RDMA devices; their parts are ports, named "1" */
	struct thing_list gpus; /* by address */
	struct thing_list nvme; /* NVMe controllers: model, firmware, state, device */
	struct thing_list modules; /* modules that state a version */
	struct thing_list groups;  /* IOMMU groups: type, devices */
	struct pairs pairs;	   /* NICs and GPUs; the functions belong to the node */
	struct p2p_fact *ways;	   /* one for each pair; all zero for a pair without a GPU */
};

/*
 * Leaves out facts that cannot be read. The result owns everything except the functions of the
 * pairs, which belong to the node.
 */
void inventory_take(const struct root *root, const struct node *node, struct inventory *ret);
void inventory_free(struct inventory *inv);

/* The text of a fact, or NULL. */
const char *thing_get(const struct thing *t, const char *key);
const struct thing *thing_find(const struct thing_list *list, const char *name);
