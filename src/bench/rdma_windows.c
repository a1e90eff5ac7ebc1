/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The windows of a link: posting work requests, polling for completions, explaining failures. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "bench/pool.h"
#include "bench/rdma_link.h"

enum {
	COMPLETIONS_LEAST = 8, /* of a window of writes */
	TRIPS_LEAST = 16,      /* of a window of messages */
	RECEIVES_LEAST = 16,   /* receives posted ahead; one is needed */
	SIGNAL_EVERY = 32,     /* messages: a signalled send empties the send queue */
	LIST_BYTES = 32768,    /* smaller writes are posted by lists */
	FAST_NS = 50000,       /* a device that completes a list in this time gets more lists */
	POLLED_MOST = 16,
	POLLS_PER_CLOCK = 64,
};

/* --- failures -------------------------------------------------------------------------- */

static const char *state_name(enum ibv_qp_state state)
{
	static const char *const names[] = {
		[IBV_QPS_RESET] = "RESET", [IBV_QPS_INIT] = "INIT", [IBV_QPS_RTR] = "RTR",
		[IBV_QPS_RTS] = "RTS",	   [IBV_QPS_SQD] = "SQD",   [IBV_QPS_SQE] = "SQE",
		[IBV_QPS_ERR] = "ERR",
	};

	return (size_t)state < array_len(names) && names[state] ? names[state] : "unknown";
}

static const char *state_of(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {0};
	struct ibv_qp_init_attr init;

	return ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) ? "unknown" : state_name(attr.qp_state);
}

static const char *remedy(enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_RETRY_EXC_ERR:
		return "; no answer: check the path between the two (VLAN, subnet, switch port), "
		       "and whether a switch drops their priority";
	case IBV_WC_RNR_RETRY_EXC_ERR:
		return "; the other end took too long to be ready";
	case IBV_WC_REM_ACCESS_ERR:
	case IBV_WC_LOC_PROT_ERR:
		return "; the memory region was not accepted: see the IOMMU's faults in the "
		       "kernel's log";
	default:
		return "";
	}
}

static int failed(const struct rdma_link *link, enum rdma_side side, const struct ibv_wc *wc,
		  struct err *err)
{
	const struct rdma_link_side *s = &link->side[side], *peer = &link->side[!side];

	return err_set(err, -EIO,
		       "from %s port %u to %s port %u: %s (status %d, vendor error 0x%x, queue "
		       "pair in state %s)%s",
		       s->end.device, s->end.port, peer->end.device, peer->end.port,
		       ibv_wc_status_str(wc->status), wc->status, wc->vendor_err, state_of(s->qp),
		       remedy(wc->status));
}

static int silent(const struct rdma_link *link, enum rdma_side side, struct err *err)
{
	const struct rdma_link_side *s = &link->side[side];

	return err_set(err, -ETIMEDOUT,
		       "%s port %u: no completion within %u ms (queue pair in state %s): "
		       "its driver or firmware hangs; see the kernel log",
		       s->end.device, s->end.port, link->options.wait_ms, state_of(s->qp));
}

/* --- completions ----------------------------------------------------------------------- */

/*
 * Takes up to `most` (at most POLLED_MOST) completions from a queue. Returns their number, which
 * may be 0, or the error of a failed one.
 */
static int poll_some(const struct rdma_link *link, enum rdma_side side, struct ibv_cq *cq, int most,
		     struct err *err)
{
	struct ibv_wc wc[POLLED_MOST];
	int n = ibv_poll_cq(cq, most, wc);

	if (n < 0)
		return err_set(err, -EIO, "%s: its completion queue can't be polled",
			       link->side[side].end.device);
	for (int i = 0; i < n; i++)
		if (wc[i].status != IBV_WC_SUCCESS)
			return failed(link, side, &wc[i], err);
	return n;
}

static int poll_sent(struct rdma_link *link, enum rdma_side side, struct err *err)
{
	struct rdma_link_side *s = &link->side[side];
	int n = poll_some(link, side, s->send_cq, POLLED_MOST, err);

	if (n > 0)
		s->signalled -= (unsigned int)n;
	return n;
}

/* Time that this thread polled: on a starved machine neither end may run for seconds. */
static uint64_t polling_ns(void)
{
	return clock_of(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t deadline_of(const struct rdma_link *link)
{
	return polling_ns() + link->options.wait_ms * 1000000ull;
}

/* Waits until at least one signalled send is done; returns the number of those done. */
static int wait_sent(struct rdma_link *link, enum rdma_side side, struct err *err)
{
	uint64_t deadline = 0;

	for (unsigned int i = 0;; i++) {
		int n = poll_sent(link, side, err);

		if (n != 0)
			return n;
		if (i % POLLS_PER_CLOCK != POLLS_PER_CLOCK - 1)
			continue;
		if (!deadline)
			deadline = deadline_of(link);
		else if (polling_ns() > deadline)
			return silent(link, side, err);
	}
}

static int drain(struct rdma_link *link, enum rdma_side side, struct err *err)
{
	while (link->side[side].signalled) {
		int n = wait_sent(link, side, err);

		if (n < 0)
			return n;
	}
	return 0;
}

static int post(struct rdma_link *link, enum rdma_side side, struct ibv_send_wr *wr,
		struct err *err)
{
	struct rdma_link_side *s = &link->side[side];
	struct ibv_send_wr *bad;
	int r = ibv_post_send(s->qp, wr, &bad);

	if (r)
		return err_errno(err, -r, "post to the queue pair of %s (state %s)", s->end.device,
				 state_of(s->qp));
	return 0;
}

/* --- writes ---------------------------------------------------------------------------- */

/* The lists that are posted again and again; each has its own part of the memory at both ends. */
struct writes {
	unsigned int batch;
	struct ibv_send_wr wr[RDMA_LISTS_MOST][RDMA_LIST_MOST];
	struct ibv_sge sge[RDMA_LISTS_MOST][RDMA_LIST_MOST];
	unsigned int next;
};

static void prepare_writes(const struct rdma_link *link, size_t size, struct writes *w)
{
	const struct rdma_link_side *near = &link->side[RDMA_NEAR], *far = &link->side[RDMA_FAR];
	size_t slots = (near->len < far->len ? near->len : far->len) / size;
	size_t batch = LIST_BYTES / size;

	memset(w, 0, sizeof(*w));
	w->batch = batch < 1 ? 1 : batch > RDMA_LIST_MOST ? RDMA_LIST_MOST : (unsigned int)batch;
	for (size_t i = 0; i < link->lists * w->batch; i++) {
		size_t b = i / w->batch, k = i % w->batch, at = i % slots * size;
		struct ibv_send_wr *wr = &w->wr[b][k];
		bool last = k + 1 == w->batch;

		w->sge[b][k] = (struct ibv_sge){near->base + at, (uint32_t)size, near->mr->lkey};
		wr->sg_list = &w->sge[b][k];
		wr->num_sge = 1;
		wr->opcode = IBV_WR_RDMA_WRITE;
		wr->send_flags = (last ? IBV_SEND_SIGNALED : 0) |
				 (size <= near->inline_most ? IBV_SEND_INLINE : 0);
		wr->next = last ? NULL : wr + 1;
		wr->wr.rdma.remote_addr = far->base + at;
		wr->wr.rdma.rkey = far->mr->rkey;
	}
}

static int post_lists(struct rdma_link *link, struct writes *w, int n, struct err *err)
{
	for (int i = 0; i < n; i++) {
		int r = post(link, RDMA_NEAR, w->wr[w->next], err);

		if (r < 0)
			return r;
		link->side[RDMA_NEAR].signalled++;
		w->next = (w->next + 1) % link->lists;
	}
	return 0;
}

/* Measures from one completion to a later one, with a constant number of writes under way. */
static int time_lists(struct rdma_link *link, struct writes *w, uint64_t window_ns,
		      double *ret_rate, struct err *err)
{
	int n = wait_sent(link, RDMA_NEAR, err);
	uint64_t start = clock_ns(), now = start;
	size_t done = 0;

	while (n > 0 && (done < COMPLETIONS_LEAST || now - start < window_ns)) {
		int r = post_lists(link, w, n, err);

		n = r < 0 ? r : wait_sent(link, RDMA_NEAR, err);
		if (n < 0)
			break;
		done += (size_t)n;
		now = clock_ns();
	}
	if (n < 0)
		return n;
	*ret_rate = (double)(done * w->batch) * 1e9 / (double)(now - start);
	link->lists = (now - start) / done < FAST_NS ? RDMA_LISTS_MOST : RDMA_LISTS;
	return drain(link, RDMA_NEAR, err);
}

int rdma_link_write_window(struct rdma_link *link, size_t size, uint64_t window_ns,
			   double *ret_rate, struct err *err)
{
	struct writes w;
	int r;

	prepare_writes(link, size, &w);
	r = post_lists(link, &w, (int)link->lists, err);
	return r < 0 ? r : time_lists(link, &w, window_ns, ret_rate, err);
}

/* --- messages -------------------------------------------------------------------------- */

/* Shared by the two threads of a ping-pong. Each thread uses its own end only. */
struct ping_pong {
	struct rdma_link *link;
	size_t size;
	bool alone;	  /* one thread plays both ends */
	atomic_bool over; /* the other thread has ended, or failed */
	int answered;	  /* the result of the far end's thread */
	struct err err;	  /* ... and its error */
};

/* An unsignalled send also completes if it fails. */
static int check_sends(struct ping_pong *p, enum rdma_side side, struct err *err)
{
	int n = poll_sent(p->link, side, err);

	if (n >= 0 && p->alone)
		n = poll_sent(p->link, (enum rdma_side) !side, err);
	return n;
}

static int wait_received(struct ping_pong *p, enum rdma_side side, struct err *err)
{
	struct rdma_link_side *s = &p->link->side[side];
	uint64_t deadline = 0;

	for (unsigned int i = 0;; i++) {
		int n = poll_some(p->link, side, s->recv_cq, 1, err);

		if (n > 0) {
			s->receives--;
			return 0;
		}
		if (n < 0) { /* a receive that a failed send flushed: the error of the send is
				clearer */
			check_sends(p, side, err);
			return n;
		}
		if (i % POLLS_PER_CLOCK != POLLS_PER_CLOCK - 1)
			continue;
		n = check_sends(p, side, err);
		if (n < 0)
			return n;
		if (atomic_load_explicit(&p->over, memory_order_relaxed))
			return -ECANCELED;
		if (!deadline)
			deadline = deadline_of(p->link);
		else if (polling_ns() > deadline)
			return silent(p->link, side, err);
	}
}

/* Posts many receives at once, so that most trips need not wait for posting. */
static int post_receives(struct ping_pong *p, enum rdma_side side, struct err *err)
{
	struct rdma_link_side *s = &p->link->side[side];
	struct ibv_sge sge = {s->base, (uint32_t)p->size, s->mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	if (s->receives >= RECEIVES_LEAST)
		return 0;
	for (; s->receives < RDMA_RECEIVES; s->receives++) {
		int r = ibv_post_recv(s->qp, &wr, &bad);

		if (r)
			return err_errno(err, -r, "post a receive to the queue pair of %s",
					 s->end.device);
	}
	return 0;
}

static int send_message(struct ping_pong *p, enum rdma_side side, struct err *err)
{
	struct rdma_link_side *s = &p->link->side[side];
	struct ibv_sge sge = {s->base, (uint32_t)p->size, s->mr->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = p->size <= s->inline_most ? IBV_SEND_INLINE : 0,
	};
	int r;

	if (++s->unsignalled == SIGNAL_EVERY) {
		r = drain(p->link, side, err);
		if (r < 0)
			return r;
		s->unsignalled = 0;
		s->signalled++;
		wr.send_flags |= IBV_SEND_SIGNALED;
	}
	return post(p->link, side, &wr, err);
}

/* The far end's part of a round trip. */
static int answer(struct ping_pong *p, struct err *err)
{
	int r = wait_received(p, RDMA_FAR, err);

	if (r == 0)
		r = send_message(p, RDMA_FAR, err);
	return r < 0 ? r : post_receives(p, RDMA_FAR, err);
}

static void *answer_all(void *arg)
{
	struct ping_pong *p = arg;

	while (p->answered == 0)
		p->answered = answer(p, &p->err);
	atomic_store(&p->over, true);
	return NULL;
}

static int round_trip(struct ping_pong *p, struct err *err)
{
	int r = send_message(p, RDMA_NEAR, err);

	if (r == 0 && p->alone)
		r = answer(p, err);
	if (r == 0)
		r = wait_received(p, RDMA_NEAR, err);
	return r < 0 ? r : post_receives(p, RDMA_NEAR, err);
}

/*
 * The time that reading the clock takes: almost nothing on a physical machine, half a microsecond
 * and more where the kernel can't use a clock of the CPU (a guest with HPET). Without the
 * correction that time would be attributed to the NIC.
 */
static uint64_t clock_cost(void)
{
	uint64_t least = UINT64_MAX, before = clock_ns();

	for (int i = 0; i < 8; i++) {
		uint64_t now = clock_ns();

		if (now - before < least)
			least = now - before;
		before = now;
	}
	return least;
}

static int time_trips(struct ping_pong *p, uint64_t window_ns, double *ret, size_t most,
		      size_t *ret_n, struct err *err)
{
	uint64_t cost = clock_cost(), start = clock_ns(), now = start, before;
	size_t n = 0;
	int r = 0;

	while (n < most && (n < TRIPS_LEAST || now - start < window_ns)) {
		before = now;
		r = round_trip(p, err);
		if (r < 0)
			return r;
		now = clock_ns();
		ret[n++] = now - before > cost ? (double)(now - before - cost) / 2 : 0;
	}
	*ret_n = n;
	return 0;
}

/*
 * Keeps the caller on its current CPU and gives the other thread all other CPUs, because two
 * threads that poll on one CPU would wait for each other by time slices. *ret_all: to restore the
 * caller's CPUs.
 */
static int part_cpus(cpu_set_t *ret_all, cpu_set_t *ret_others, struct err *err)
{
	cpu_set_t mine;
	int cpu = sched_getcpu();

	if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(*ret_all), ret_all) < 0)
		return err_errno(err, -errno, "ask for the CPUs of this program");
	CPU_ZERO(&mine);
	CPU_SET(cpu, &mine);
	CPU_XOR(ret_others, ret_all, &mine);
	if (sched_setaffinity(0, sizeof(mine), &mine) < 0)
		return err_errno(err, -errno, "stay on CPU %d", cpu);
	return 0;
}

static int start_answering(struct ping_pong *p, const cpu_set_t *cpus, pthread_t *ret,
			   struct err *err)
{
	pthread_attr_t attr;
	int r;

	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(*cpus), cpus);
	r = -pthread_create(ret, &attr, answer_all, p);
	pthread_attr_destroy(&attr);
	return r < 0 ? err_errno(err, r, "start a thread") : 0;
}

/* Plays the near end while another thread answers. Reports the first failure of the two. */
static int play_both(struct ping_pong *p, uint64_t window_ns, double *ret, size_t most,
		     size_t *ret_n, struct err *err)
{
	cpu_set_t all, others;
	pthread_t thread;
	int r = part_cpus(&all, &others, err);

	if (r < 0)
		return r;
	r = start_answering(p, &others, &thread, err);
	if (r == 0) {
		r = time_trips(p, window_ns, ret, most, ret_n, err);
		atomic_store(&p->over, true);
		pthread_join(thread, NULL);
		if (p->answered != -ECANCELED && (r == 0 || r == -ECANCELED)) {
			r = p->answered;
			if (err)
				*err = p->err;
		}
	}
	sched_setaffinity(0, sizeof(all), &all); /* the caller's CPUs of before */
	return r;
}

int rdma_link_latency_window(struct rdma_link *link, size_t size, uint64_t window_ns, double *ret,
			     size_t most, size_t *ret_n, struct err *err)
{
	struct ping_pong p = {.link = link, .size = size, .alone = link->options.cpus < 2};
	int r = 0;

	for (int side = 0; side < RDMA_SIDES && r == 0; side++)
		r = post_receives(&p, (enum rdma_side)side, err);
	if (r == 0)
		r = p.alone ? time_trips(&p, window_ns, ret, most, ret_n, err)
			    : play_both(&p, window_ns, ret, most, ret_n, err);
	for (int side = 0; side < RDMA_SIDES && r == 0; side++)
		r = drain(link, (enum rdma_side)side, err);
	return r;
}
