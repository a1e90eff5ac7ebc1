/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a port of an RDMA device must be before queue pairs can be connected through it: active,
 * and on Ethernet with a GID of RoCE v2.
 */
#pragma once

#include <infiniband/verbs.h>

#include "base/err.h"

/* One port of one device, as an option names it. */
struct rdma_end {
	const char *device; /* "mlx5_0": as below /sys/class/infiniband */
	unsigned int port;  /* from 1 */
	int gid_index;	    /* -1: the best; of InfiniBand not used */
};

/*
 * Opens the device. -ENODEV names what devices there are, and what a device that the kernel
 * has lacks to be used from here (its provider library, ib_uverbs).
 */
int rdma_device_open(const char *name, struct ibv_context **ret, struct err *err);

/*
 * -EAGAIN with both states and the remedy while the port is not active: no carrier, or no subnet
 * manager yet. -ERANGE for a port that the device has not.
 */
int rdma_port_query(struct ibv_context *context, const struct rdma_end *end,
		    struct ibv_port_attr *ret, struct err *err);

/* "ipv4", "global", "link-local": by the GID's bytes. */
const char *rdma_gid_kind(const union ibv_gid *gid);

/*
 * Of the n entries of a device's table the one for end: RoCE v2 only, IPv4-mapped before global
 * before link-local (perftest's order), the lowest index of equals. -ENODATA with what there is
 * instead; -EINVAL for an index of the end's own that is none of RoCE v2.
 */
int rdma_gid_pick(const struct ibv_gid_entry *table, size_t n, const struct rdma_end *end,
		  struct ibv_gid_entry *ret, struct err *err);
