/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two queue pairs (RC) of this process, connected with each other: both on one port of a device
 * (its NIC moves every byte over PCIe twice, no cable is used), or on two. Bytes are written from
 * the near end's memory into the far end's.
 *
 *   rdma_link_open()     devices, ports, GIDs, queues: reports parts that are not ready
 *   rdma_link_memory()   or rdma_link_dmabuf(), for each end; again for other memory
 *   rdma_link_connect()  once both ends are open; before or after memory
 *
 * The caller's thread polls without sleeping; there are no events. Every wait ends after wait_ms
 * of polling. A failed work request ends the link: all later ones fail too.
 */
#pragma once

#include <stdint.h>

#include "bench/rdma_port.h"

enum rdma_side { RDMA_NEAR, RDMA_FAR, RDMA_SIDES };

enum {
	RDMA_WAIT_MS = 5000,   /* longer than all retries of a queue pair take */
	RDMA_LISTS = 8,	       /* of writes under way at once */
	RDMA_LISTS_MOST = 32,  /* ... of a fast device */
	RDMA_LIST_MOST = 32,   /* writes of a list; the last is signalled */
	RDMA_RECEIVES = 64,    /* posted ahead of a ping-pong's messages */
	RDMA_MESSAGE_MOST = 64 /* bytes of a message of the ping-pong */
};

struct rdma_link_options {
	struct rdma_end end[RDMA_SIDES];
	unsigned int traffic_class; /* of RoCE: DSCP << 2 */
	unsigned int sl;	    /* service level: of InfiniBand, and 802.1p of RoCE */
	unsigned int cpus;    /* that the caller may run on: from 2, a thread plays the far end */
	unsigned int wait_ms; /* for one completion; 0: RDMA_WAIT_MS */
};

struct rdma_link_side {
	struct rdma_end end;
	struct ibv_context *context;
	struct ibv_port_attr port;
	struct ibv_gid_entry gid; /* RoCE only */
	struct ibv_pd *pd;
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr; /* NULL: no memory yet */
	uint64_t base;	   /* the first address for work requests */
	size_t len;
	uint32_t inline_most;	  /* bytes that may travel in the work request itself */
	unsigned int unsignalled; /* sends since the last signalled send */
	unsigned int signalled;	  /* signalled sends without a completion */
	unsigned int receives;	  /* posted and still empty */
};

struct rdma_link {
	struct rdma_link_options options;
	struct rdma_link_side side[RDMA_SIDES];
	enum ibv_mtu mtu;   /* the smaller of both ports' active ones */
	unsigned int lists; /* lists under way in the next window of writes */
};

/* -EAGAIN: a port is not up yet (rdma_port.h). */
int rdma_link_open(struct rdma_link **ret, const struct rdma_link_options *options,
		   struct err *err);

/*
 * The memory that writes read from (near end) or go to (far end). The caller owns it and keeps it
 * until the link is closed or the end gets other memory. Memory of this process:
 */
int rdma_link_memory(struct rdma_link *link, enum rdma_side side, void *p, size_t len,
		     struct err *err);
/*
 * ... or of a device, by a file descriptor of its dma-buf: len bytes from offset, which work
 * requests address from iova on. iova and offset are equal modulo the page size.
 * -EOPNOTSUPP: the driver of the RDMA device does not support dma-buf. ibv_reg_mr(3).
 */
int rdma_link_dmabuf(struct rdma_link *link, enum rdma_side side, int fd, uint64_t offset,
		     size_t len, uint64_t iova, struct err *err);

int rdma_link_connect(struct rdma_link *link, struct err *err);

/*
 * Keeps some lists of writes of `size` bytes under way for about window_ns, and at least for some
 * completions. *ret_rate: messages per second between the first and the last completion. All
 * writes are complete at the end. Needs memory of at least size bytes at both ends.
 */
int rdma_link_write_window(struct rdma_link *link, size_t size, uint64_t window_ns,
			   double *ret_rate, struct err *err);

/*
 * Sends size bytes (at most RDMA_MESSAGE_MOST) there and back again for about window_ns, and at
 * least some times, at most `most` times. ret[i]: half of a round trip, in ns.
 */
int rdma_link_latency_window(struct rdma_link *link, size_t size, uint64_t window_ns, double *ret,
			     size_t most, size_t *ret_n, struct err *err);

void rdma_link_close(struct rdma_link *link); /* NULL is fine */
