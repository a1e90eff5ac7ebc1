/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An RDMA stack for tests, in the place of libibverbs: the program's own functions come before
 * the library's. It has FAKE_DEVICES devices of one port, whose queue pairs move bytes at once
 * and complete in order, and which can be told to fail. Include after cmocka.h.
 */
#pragma once

#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { FAKE_DEVICES = 2, FAKE_GIDS = 8, FAKE_CQES = 1024, FAKE_RECEIVES = 64, FAKE_QPS = 8 };

/* What the stack is told to be: zeroed and filled by fake_verbs_reset(). */
static struct fake_verbs {
	int devices; /* how many are listed */
	struct ibv_port_attr port[FAKE_DEVICES];
	struct ibv_gid_entry gid[FAKE_DEVICES][FAKE_GIDS];
	size_t gids[FAKE_DEVICES];
	int open_errno, mr_errno, dmabuf_errno, qp_errno, rtr_errno;
	uint32_t inline_most;
	bool loses_bytes;	    /* completes writes, and writes nothing */
	unsigned int silent_after;  /* that many posts none completes; 0: never */
	unsigned int fail_after;    /* that many posts one fails; 0: never */
	enum ibv_wc_status failure; /* with this */

	/* what it has seen */
	unsigned int posts, writes, sends, lists, inlined;
	int opened, mrs, pds, cqs, qps; /* that are not closed */
	struct ibv_qp_attr rtr[FAKE_DEVICES];
	size_t dmabuf_len;
} fake;

struct fake_cq {
	struct ibv_cq cq;
	struct ibv_wc wc[FAKE_CQES];
	unsigned int first, n;
};

struct fake_qp {
	struct ibv_qp qp;
	struct fake_cq *send, *recv;
	uint32_t peer;
	struct ibv_recv_wr receives[FAKE_RECEIVES];
	struct ibv_sge receive_sge[FAKE_RECEIVES];
	unsigned int first, n;
};

struct fake_context {
	struct verbs_context verbs;
	int number;
};

/* Of what two threads that play both ends post and poll. */
static pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;

static struct ibv_device fake_device[FAKE_DEVICES] = {{.name = "fake0"}, {.name = "fake1"}};
static struct fake_qp *fake_qps[FAKE_QPS];

static struct fake_context *fake_context_of(struct ibv_context *context)
{
	return (struct fake_context *)((char *)context -
				       offsetof(struct fake_context, verbs.context));
}

static void fake_add_gid(int device, uint32_t index, uint32_t type, const char *address)
{
	struct ibv_gid_entry *e = &fake.gid[device][fake.gids[device]++];
	unsigned int byte;

	*e = (struct ibv_gid_entry){.gid_index = index, .port_num = 1, .gid_type = type};
	for (size_t i = 0; i < 16 && sscanf(address + 2 * i, "%2x", &byte) == 1; i++)
		e->gid.raw[i] = (uint8_t)byte;
}

#define FAKE_IPV4 "00000000000000000000ffff0a000001"
#define FAKE_GLOBAL "20010db8000000000000000000000001"
#define FAKE_LINK_LOCAL "fe80000000000000505400fffe000001"

static inline void fake_verbs_reset(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.devices = FAKE_DEVICES;
	fake.inline_most = 64;
	for (int i = 0; i < FAKE_DEVICES; i++) {
		fake.port[i] = (struct ibv_port_attr){
			.state = IBV_PORT_ACTIVE,
			.active_mtu = i ? IBV_MTU_1024 : IBV_MTU_4096,
			.max_msg_sz = 1u << 30,
			.lid = (uint16_t)(7 + i),
			.phys_state = 5,
			.link_layer = IBV_LINK_LAYER_ETHERNET,
		};
		fake_add_gid(i, 0, IBV_GID_TYPE_ROCE_V1, FAKE_IPV4);
		fake_add_gid(i, 1, IBV_GID_TYPE_ROCE_V2, FAKE_LINK_LOCAL);
		fake_add_gid(i, 3, IBV_GID_TYPE_ROCE_V2, FAKE_IPV4);
	}
}

/* --- devices ---------------------------------------------------------------------------- */

#undef ibv_get_device_list
struct ibv_device **ibv_get_device_list(int *n)
{
	static struct ibv_device *list[FAKE_DEVICES + 1];

	for (int i = 0; i < fake.devices; i++)
		list[i] = &fake_device[i];
	*n = fake.devices;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	(void)list;
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

static int fake_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *ret,
			   size_t len)
{
	(void)port;
	memcpy(ret, &fake.port[fake_context_of(context)->number], len);
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *ret)
{
	(void)context;
	*ret = (struct ibv_device_attr){.phys_port_cnt = 1};
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max,
			     uint32_t flags, size_t entry_size)
{
	int i = fake_context_of(context)->number;

	(void)flags;
	assert_true(fake.gids[i] <= max);
	memcpy(entries, fake.gid[i], fake.gids[i] * entry_size);
	return (ssize_t)fake.gids[i];
}

/* --- completions ------------------------------------------------------------------------ */

static int fake_poll_cq(struct ibv_cq *cq, int most, struct ibv_wc *wc)
{
	struct fake_cq *c = (struct fake_cq *)cq;
	int n = 0;

	pthread_mutex_lock(&fake_lock);
	for (; n < most && c->n; n++, c->n--)
		wc[n] = c->wc[c->first++ % FAKE_CQES];
	pthread_mutex_unlock(&fake_lock);
	return n;
}

static void fake_complete(struct fake_cq *c, enum ibv_wc_status status)
{
	assert_true(c->n < FAKE_CQES);
	c->wc[(c->first + c->n++) % FAKE_CQES] = (struct ibv_wc){
		.status = status,
		.vendor_err = status == IBV_WC_SUCCESS ? 0 : 0x81,
	};
}

static void fake_receive(struct fake_qp *peer, const struct ibv_sge *from)
{
	struct ibv_sge *to;

	assert_true(peer->n > 0);
	to = &peer->receive_sge[peer->first++ % FAKE_RECEIVES];
	peer->n--;
	memmove((void *)(uintptr_t)to->addr, (void *)(uintptr_t)from->addr, from->length);
	fake_complete(peer->recv, IBV_WC_SUCCESS);
}

static void fake_do(struct fake_qp *q, const struct ibv_send_wr *wr)
{
	fake.inlined += (wr->send_flags & IBV_SEND_INLINE) != 0;
	if (wr->opcode == IBV_WR_SEND) {
		fake.sends++;
		fake_receive(fake_qps[q->peer], wr->sg_list);
		return;
	}
	fake.writes++;
	if (!fake.loses_bytes)
		memmove((void *)(uintptr_t)wr->wr.rdma.remote_addr,
			(void *)(uintptr_t)wr->sg_list->addr, wr->sg_list->length);
}

static void fake_post_list(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct fake_qp *q = (struct fake_qp *)qp;

	fake.lists++;
	for (; wr; wr = wr->next) {
		fake.posts++;
		if (fake.silent_after && fake.posts > fake.silent_after)
			continue;
		if (fake.fail_after && fake.posts > fake.fail_after) {
			qp->state =
				IBV_QPS_ERR; /* what it has posted to receive is flushed first */
			for (; q->n; q->n--)
				fake_complete(q->recv, IBV_WC_WR_FLUSH_ERR);
			fake_complete(q->send, fake.failure);
			return;
		}
		fake_do(q, wr);
		if (wr->send_flags & IBV_SEND_SIGNALED)
			fake_complete(q->send, IBV_WC_SUCCESS);
	}
}

static int fake_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	(void)bad;
	pthread_mutex_lock(&fake_lock);
	fake_post_list(qp, wr);
	pthread_mutex_unlock(&fake_lock);
	return 0;
}

static int fake_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct fake_qp *q = (struct fake_qp *)qp;

	(void)bad;
	pthread_mutex_lock(&fake_lock);
	assert_true(q->n < FAKE_RECEIVES);
	q->receive_sge[(q->first + q->n++) % FAKE_RECEIVES] = *wr->sg_list;
	pthread_mutex_unlock(&fake_lock);
	return 0;
}

/* --- objects ---------------------------------------------------------------------------- */

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct fake_context *c;

	if (fake.open_errno) {
		errno = fake.open_errno;
		return NULL;
	}
	c = xnew(struct fake_context);
	c->number = (int)(device - fake_device);
	c->verbs.sz = sizeof(c->verbs);
	c->verbs.query_port = fake_query_port;
	c->verbs.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	c->verbs.context.ops.poll_cq = fake_poll_cq;
	c->verbs.context.ops.post_send = fake_post_send;
	c->verbs.context.ops.post_recv = fake_post_recv;
	fake.opened++;
	return &c->verbs.context;
}

int ibv_close_device(struct ibv_context *context)
{
	free(fake_context_of(context));
	fake.opened--;
	return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = xnew(struct ibv_pd);

	pd->context = context;
	fake.pds++;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	free(pd);
	fake.pds--;
	return 0;
}

static struct ibv_mr *fake_mr(struct ibv_pd *pd, int error)
{
	struct ibv_mr *mr;

	errno = error;
	if (error)
		return NULL;
	mr = xnew(struct ibv_mr);
	mr->context = pd->context;
	fake.mrs++;
	return mr;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	(void)addr, (void)length, (void)iova, (void)access;
	return fake_mr(pd, fake.mr_errno);
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				 int fd, int access)
{
	(void)offset, (void)iova, (void)fd, (void)access;
	fake.dmabuf_len = length;
	return fake_mr(pd, fake.dmabuf_errno);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	free(mr);
	fake.mrs--;
	return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int vector)
{
	struct fake_cq *c = xnew(struct fake_cq);

	(void)cqe, (void)cq_context, (void)channel, (void)vector;
	c->cq.context = context;
	fake.cqs++;
	return &c->cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	free(cq);
	fake.cqs--;
	return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct fake_qp *q;
	uint32_t number = 0;

	errno = attr->cap.max_inline_data > fake.inline_most ? EINVAL : fake.qp_errno;
	if (errno)
		return NULL;
	q = xnew(struct fake_qp);
	q->qp.context = pd->context;
	q->send = (struct fake_cq *)attr->send_cq;
	q->recv = (struct fake_cq *)attr->recv_cq;
	while (fake_qps[number])
		number++;
	assert_true(number < FAKE_QPS);
	fake_qps[number] = q;
	q->qp.qp_num = number;
	fake.qps++;
	return &q->qp;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	fake_qps[qp->qp_num] = NULL;
	free(qp);
	fake.qps--;
	return 0;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	(void)mask;
	if (attr->qp_state == IBV_QPS_RTR) {
		if (fake.rtr_errno)
			return fake.rtr_errno;
		((struct fake_qp *)qp)->peer = attr->dest_qp_num;
		fake.rtr[fake_context_of(qp->context)->number] = *attr;
	}
	qp->state = attr->qp_state;
	return 0;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init)
{
	(void)mask, (void)init;
	attr->qp_state = qp->state;
	return 0;
}
