/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The preconditions for connecting queue pairs through a port of an RDMA device: the port is
 * active, and on Ethernet has a GID of RoCE v2.
 */
#pragma once

#include <infiniband/verbs.h>

#include "base/err.h"

/* One port of one device, as an option names it. */
struct rdma_end {
	const char *device; /* "mlx5_0", its name in /sys/class/infiniband */
	unsigned int port;  /* from 1 */
	int gid_index;	    /* -1: the best; unused with InfiniBand */
};

/*
 * Opens the device. -ENODEV: the message lists the existing devices or, for a device that only the
 * kernel knows, the missing part (its provider library, ib_uverbs).
 */
int rdma_device_open(const char *name, struct ibv_context **ret, struct err *err);

/*
 * -EAGAIN with both states and the remedy while the port is not active: no carrier, or no subnet
 * manager yet. -ERANGE: the device has no such port.
 */
int rdma_port_query(struct ibv_context *context, const struct rdma_end *end,
		    struct ibv_port_attr *ret, struct err *err);

/* "ipv4", "global", "link-local": by the GID's bytes. */
const char *rdma_gid_kind(const union ibv_gid *gid);

/*
 * Picks the entry for end from the n entries of a device's table: RoCE v2 only, IPv4-mapped before
 * global before link-local (perftest's order), then the lowest index. -ENODATA: no entry fits, and
 * the message lists the entries. -EINVAL: end's gid_index has no GID of RoCE v2.
 */
int rdma_gid_pick(const struct ibv_gid_entry *table, size_t n, const struct rdma_end *end,
		  struct ibv_gid_entry *ret, struct err *err);
