/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening, connecting and closing of a pair of queue pairs: ibv_create_qp(3), ibv_modify_qp(3).
 * rdma_windows.c measures with them.
 */
#include "bench/rdma_link.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

#include "base/mem.h"

enum {
	SENDS_MOST = RDMA_LISTS_MOST * RDMA_LIST_MOST + 64, /* and a ping-pong's last sends */
	RECVS_MOST = RDMA_RECEIVES,
	INLINE_WANTED = RDMA_MESSAGE_MOST,
	GIDS_MOST = 1024,
	ACK_TIMEOUT = 14, /* 4.096 us << 14 = 67 ms */
	RETRIES = 7,
	RNR_RETRIES = 6, /* 7 would retry for ever */
	RNR_TIMER = 12,	 /* 0.64 ms */
	HOPS = 64,
	PSN = 0x2a2a,
};

/*
 * Collective libraries also ask for relaxed ordering, and some PCIe root complexes are slow without
 * it; a driver without relaxed ordering ignores the flag (ibv_reg_mr(3), optional flags).
 */
#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_RELAXED_ORDERING)

/* Explains ENOMEM, which also means that the memlock limit is too low. */
static int no_memory(int code, const char *what, const struct rdma_link_side *s, struct err *err)
{
	struct rlimit limit;

	if (code == -ENOMEM && getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
	    limit.rlim_cur != RLIM_INFINITY)
		return err_set(err, code,
			       "%s of %s: can't lock memory; the limit is %" PRIu64
			       " KiB: set LimitMEMLOCK=infinity in the unit, or grant CAP_IPC_LOCK",
			       what, s->end.device, (uint64_t)limit.rlim_cur >> 10);
	return err_errno(err, code, "%s of %s", what, s->end.device);
}

static int last_error(void)
{
	return errno ? -errno : -EIO;
}

/* --- opening --------------------------------------------------------------------------- */

static int pick_gid(struct rdma_link_side *s, struct err *err)
{
	cleanup_free struct ibv_gid_entry *table = xcalloc(GIDS_MOST, sizeof(*table));
	ssize_t n = ibv_query_gid_table(s->context, table, GIDS_MOST, 0);

	if (n < 0)
		return err_errno(err, (int)n, "ask for the GIDs of %s", s->end.device);
	return rdma_gid_pick(table, (size_t)n, &s->end, &s->gid, err);
}

static int create_qp(struct rdma_link_side *s, struct err *err)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = s->send_cq,
		.recv_cq = s->recv_cq,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = SENDS_MOST,
			.max_recv_wr = RECVS_MOST,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = INLINE_WANTED},
	};

	s->qp = ibv_create_qp(s->pd, &attr);
	if (!s->qp) { /* a device without inline data rejects the request, with various errors */
		attr.cap.max_inline_data = 0;
		s->qp = ibv_create_qp(s->pd, &attr);
	}
	if (!s->qp)
		return no_memory(last_error(), "a queue pair", s, err);
	s->inline_most = attr.cap.max_inline_data;
	return 0;
}

static int create_queues(struct rdma_link_side *s, struct err *err)
{
	s->pd = ibv_alloc_pd(s->context);
	if (!s->pd)
		return no_memory(last_error(), "a protection domain", s, err);
	s->send_cq = ibv_create_cq(s->context, SENDS_MOST, NULL, NULL, 0);
	s->recv_cq = ibv_create_cq(s->context, RECVS_MOST, NULL, NULL, 0);
	if (!s->send_cq || !s->recv_cq)
		return no_memory(last_error(), "a completion queue", s, err);
	return create_qp(s, err);
}

static int open_side(struct rdma_link_side *s, struct err *err)
{
	int r = rdma_device_open(s->end.device, &s->context, err);

	if (r == 0)
		r = rdma_port_query(s->context, &s->end, &s->port, err);
	if (r == 0 && s->port.link_layer == IBV_LINK_LAYER_ETHERNET)
		r = pick_gid(s, err);
	return r;
}

int rdma_link_open(struct rdma_link **ret, const struct rdma_link_options *options, struct err *err)
{
	struct rdma_link *link = xnew(struct rdma_link);
	struct rdma_link_side *near = &link->side[RDMA_NEAR], *far = &link->side[RDMA_FAR];
	int r = 0;

	link->options = *options;
	link->lists = RDMA_LISTS;
	if (!link->options.wait_ms)
		link->options.wait_ms = RDMA_WAIT_MS;
	for (int i = 0; i < RDMA_SIDES && r == 0; i++) {
		link->side[i].end = options->end[i];
		r = open_side(&link->side[i], err);
	}
	if (r == 0 && near->port.link_layer != far->port.link_layer)
		r = err_set(err, -EINVAL, "%s and %s: one is InfiniBand, the other Ethernet",
			    near->end.device, far->end.device);
	for (int i = 0; i < RDMA_SIDES && r == 0; i++)
		r = create_queues(&link->side[i], err);
	if (r < 0) {
		rdma_link_close(link);
		return r;
	}
	link->mtu = near->port.active_mtu < far->port.active_mtu ? near->port.active_mtu
								 : far->port.active_mtu;
	*ret = link;
	return 0;
}

/* --- memory ---------------------------------------------------------------------------- */

static void replace_mr(struct rdma_link_side *s, struct ibv_mr *mr, uint64_t base, size_t len)
{
	if (s->mr)
		ibv_dereg_mr(s->mr);
	s->mr = mr;
	s->base = base;
	s->len = len;
}

int rdma_link_memory(struct rdma_link *link, enum rdma_side side, void *p, size_t len,
		     struct err *err)
{
	struct rdma_link_side *s = &link->side[side];
	struct ibv_mr *mr = ibv_reg_mr(s->pd, p, len, ACCESS);

	if (!mr)
		return no_memory(last_error(), "a memory region", s, err);
	replace_mr(s, mr, (uint64_t)(uintptr_t)p, len);
	return 0;
}

/* Of rdma-core 34, which Debian 11 has not; NULL where the library lacks it. */
extern struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
					uint64_t iova, int fd, int access) __attribute__((weak));

int rdma_link_dmabuf(struct rdma_link *link, enum rdma_side side, int fd, uint64_t offset,
		     size_t len, uint64_t iova, struct err *err)
{
	struct rdma_link_side *s = &link->side[side];
	struct ibv_mr *mr;

	if (!ibv_reg_dmabuf_mr)
		return err_set(err, -EOPNOTSUPP,
			       "libibverbs is too old for dma-buf: ibv_reg_dmabuf_mr is in "
			       "rdma-core 34 and newer");
	mr = ibv_reg_dmabuf_mr(s->pd, offset, len, iova, fd, ACCESS);
	if (!mr && (errno == EOPNOTSUPP || errno == EPROTONOSUPPORT))
		return err_set(err, -EOPNOTSUPP,
			       "the driver of %s does not support dma-buf (ibv_reg_dmabuf_mr)",
			       s->end.device);
	if (!mr)
		return no_memory(last_error(), "a memory region by dma-buf", s, err);
	replace_mr(s, mr, iova, len);
	return 0;
}

/* --- connecting ------------------------------------------------------------------------ */

static int to_init(struct rdma_link_side *s, struct err *err)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = (uint8_t)s->end.port,
		.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
	};
	int r = ibv_modify_qp(s->qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);

	return r ? err_errno(err, -r, "queue pair of %s to INIT", s->end.device) : 0;
}

static struct ibv_ah_attr address_of(const struct rdma_link *link, const struct rdma_link_side *s,
				     const struct rdma_link_side *peer)
{
	struct ibv_ah_attr ah = {
		.port_num = (uint8_t)s->end.port,
		.sl = (uint8_t)link->options.sl,
	};

	if (s->port.link_layer != IBV_LINK_LAYER_ETHERNET) {
		ah.dlid = peer->port.lid;
		return ah;
	}
	ah.is_global = 1;
	ah.grh = (struct ibv_global_route){
		.dgid = peer->gid.gid,
		.sgid_index = (uint8_t)s->gid.gid_index,
		.hop_limit = HOPS,
		.traffic_class = (uint8_t)link->options.traffic_class,
	};
	return ah;
}

/* The kernel resolves the peer's MAC address in this call, which takes up to some seconds. */
static int to_rtr(const struct rdma_link *link, struct rdma_link_side *s,
		  const struct rdma_link_side *peer, struct err *err)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = link->mtu,
		.dest_qp_num = peer->qp->qp_num,
		.rq_psn = PSN,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = RNR_TIMER,
		.ah_attr = address_of(link, s, peer),
	};
	int r = ibv_modify_qp(s->qp, &attr,
			      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				      IBV_QP_MIN_RNR_TIMER);

	return r ? err_errno(err, -r,
			     "queue pair of %s to RTR towards %s (check the path between their "
			     "addresses)",
			     s->end.device, peer->end.device)
		 : 0;
}

static int to_rts(struct rdma_link_side *s, struct err *err)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = PSN,
		.max_rd_atomic = 1,
		.timeout = ACK_TIMEOUT,
		.retry_cnt = RETRIES,
		.rnr_retry = RNR_RETRIES,
	};
	int r = ibv_modify_qp(s->qp, &attr,
			      IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC |
				      IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_TIMEOUT);

	return r ? err_errno(err, -r, "queue pair of %s to RTS", s->end.device) : 0;
}

int rdma_link_connect(struct rdma_link *link, struct err *err)
{
	int r = 0;

	for (int i = 0; i < RDMA_SIDES && r == 0; i++)
		r = to_init(&link->side[i], err);
	for (int i = 0; i < RDMA_SIDES && r == 0; i++)
		r = to_rtr(link, &link->side[i], &link->side[!i], err);
	for (int i = 0; i < RDMA_SIDES && r == 0; i++)
		r = to_rts(&link->side[i], err);
	return r;
}

/* --- closing --------------------------------------------------------------------------- */

static void close_side(struct rdma_link_side *s)
{
	if (s->qp)
		ibv_destroy_qp(s->qp);
	if (s->send_cq)
		ibv_destroy_cq(s->send_cq);
	if (s->recv_cq)
		ibv_destroy_cq(s->recv_cq);
	if (s->mr)
		ibv_dereg_mr(s->mr);
	if (s->pd)
		ibv_dealloc_pd(s->pd);
	if (s->context)
		ibv_close_device(s->context);
}

void rdma_link_close(struct rdma_link *link)
{
	if (!link)
		return;
	for (int i = 0; i < RDMA_SIDES; i++)
		close_side(&link->side[i]);
	free(link);
}
