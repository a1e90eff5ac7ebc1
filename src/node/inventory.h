/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inventory: what only the verb `survey` shows, beyond the survey that every stage
 * takes. Some of these reads take rtnl or ask a card's firmware (speed, port state), so
 * nothing at boot may call this.
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
	bool number;	 /* a whole number: JSON shows it as one */
};

struct thing;

struct thing_list {
	struct thing *v;
	size_t n, cap;
};

/* Something with a name and what is known of it; what is unknown is left out. */
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
	struct thing_list net;	/* netdevs, virtual ones too */
	struct thing_list rdma; /* RDMA devices; their parts are ports, named "1" */
	struct thing_list gpus; /* by address */
	struct thing_list nvme; /* NVMe controllers: model, firmware, state, device */
	struct thing_list modules; /* those that state a version */
	struct thing_list groups;  /* IOMMU groups: type, devices */
	struct pairs pairs;	   /* NICs and GPUs; points to the node's functions */
	struct p2p_fact *ways;	   /* of each pair; all zero where it has no GPU */
};

/*
 * What can't be read is left out. The result owns everything it has, but for
 * what pairs point to.
 */
void inventory_take(const struct root *root, const struct node *node, struct inventory *ret);
void inventory_free(struct inventory *inv);

/* The text of a fact, or NULL. */
const char *thing_get(const struct thing *t, const char *key);
const struct thing *thing_find(const struct thing_list *list, const char *name);
