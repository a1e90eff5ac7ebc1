/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures an RDMA device between two queue pairs of this process: the rate of large writes, the
 * latency of small messages, and the number of small writes a second.
 *
 * rdma_loopback: both queue pairs on one port. The NIC reads every byte from memory and writes it
 * back, so that PCIe carries it both ways; no cable and no switch takes part. rdma_pairs: on two
 * devices or ports of the node, over the network that connects them.
 *
 * Rounds of three short windows are spread over the budget with gaps; the medians are reported.
 */
#include "bench/rdma.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"
#include "base/quantile.h"
#include "base/units.h"
#include "bench/pool.h"
#include "bench/facts.h"
#include "bench/membuf.h"
#include "bench/queue.h"
#include "bench/rdma_link.h"
#include "bench/stats.h"
#include "bench/time_over.h"

#define WINDOW_NS 2000000u
#define GAP_LEAST_NS 1000000u
#define ROUNDS_MOST 33
#define ROUNDS_LEAST 12 /* required before windows may agree */
#define ROUNDS_FLOOR 4	/* however short the budget is */
#define AGREE_PCT 0.5
#define BUDGET_MS 800
#define SIZE (64u * 1024)
#define BUFFER_USUAL (2u << 20)
#define PING_SIZE 2
#define WRITE_SIZE 8
#define TRIPS_MOST 1024 /* of a window */

enum figure { RATE, LATENCY, MESSAGES, FIGURES };

struct rdma_bench {
	struct rdma_link *link;
	struct membuf buf[RDMA_SIDES];
	int node[RDMA_SIDES]; /* the device's node; -1: not known */
	size_t size;
	double figures[FIGURES][ROUNDS_MOST];
	double *trips; /* of all windows */
	size_t trips_n;
	size_t rounds;
	uint64_t prepare_ns, windows_ns;
	struct queue queue; /* at the start of the windows */
};

/* --- memory and CPUs ------------------------------------------------------------------- */

/* Maps the whole buffer in the first page size of the list that has enough free pages. */
static int map_whole(struct membuf *buf, int rootfd, unsigned int node, const char *pages,
		     size_t want, struct err *err)
{
	cleanup_free char *list = xstrdup(pages);
	char *rest = list, *word;
	int r = -EINVAL;

	while ((word = strsep(&rest, ",")) != NULL) {
		uint64_t page = 0;

		parse_size(word, &page);
		r = membuf_map(buf, rootfd, node, page, want, err);
		if (r == 0 && buf->len >= want)
			return 0;
		if (r == 0)
			r = err_set(err, -ENOMEM, "too few pages of %s are free on node %u", word,
				    node);
		membuf_free(buf);
	}
	return r;
}

static int give_memory(struct rdma_bench *b, enum rdma_side side, int rootfd,
		       const struct options *o, unsigned int node, struct err *err)
{
	size_t most = RDMA_LISTS_MOST * b->size;
	size_t want = b->size > BUFFER_USUAL ? b->size : most < BUFFER_USUAL ? most : BUFFER_USUAL;
	struct membuf *buf = &b->buf[side];
	int r = map_whole(buf, rootfd, node, option_text(o, "page", "2M,4K"), want, err);

	if (r < 0)
		return r;
	membuf_touch(buf, 0, buf->len);
	r = membuf_verify(buf, err);
	if (r < 0)
		return r;
	memset(buf->p, side == RDMA_NEAR ? 0x5a : 0, want);
	return rdma_link_memory(b->link, side, buf->p, want, err);
}

/* Lets the polling thread run on any CPU of the near end's node; the scheduler chooses. */
static int stay_on(struct rdma_bench *b, int rootfd, unsigned int node, struct err *err)
{
	struct cpus cpus = {0};
	int r = facts_node_cpus(rootfd, node, &cpus, err);

	if (r < 0)
		return r;
	r = run_on(&cpus);
	if (r < 0)
		return err_errno(err, r, "run on the CPUs of node %u", node);
	b->link->options.cpus = cpus_count(&cpus); /* without the CPUs that a cgroup forbids */
	return 0;
}

static int place(struct rdma_bench *b, const struct options *o, int rootfd, struct err *err)
{
	static const char *const names[RDMA_SIDES] = {"node", "peer-node"};
	int r = 0;

	for (int side = 0; side < RDMA_SIDES && r == 0; side++) {
		int own = facts_rdma_node(rootfd, b->link->side[side].end.device);
		uint64_t node = option_number(o, names[side], own < 0 ? 0 : (uint64_t)own);

		b->node[side] = own;
		if (side == RDMA_NEAR)
			r = stay_on(b, rootfd, (unsigned int)node, err);
		if (r == 0)
			r = give_memory(b, (enum rdma_side)side, rootfd, o, (unsigned int)node,
					err);
	}
	return r;
}

/* --- measuring ------------------------------------------------------------------------- */

static int one_window(struct rdma_bench *b, enum figure f, double *ret, struct err *err)
{
	double *trips = b->trips + b->trips_n;
	size_t n = 0;
	int r;

	if (f == RATE) {
		r = rdma_link_write_window(b->link, b->size, WINDOW_NS, ret, err);
		*ret *= (double)b->size;
		return r;
	}
	if (f == MESSAGES)
		return rdma_link_write_window(b->link, WRITE_SIZE, WINDOW_NS, ret, err);
	r = rdma_link_latency_window(b->link, PING_SIZE, WINDOW_NS, trips, TRIPS_MOST, &n, err);
	if (r < 0)
		return r;
	*ret = median_of(trips, n);
	b->trips_n += n;
	return 0;
}

/*
 * The first windows do not count, because clocks rise and tables are filled. Verifies that the
 * written bytes have arrived.
 */
static int warm_up(struct rdma_bench *b, struct err *err)
{
	double unused = 0;
	int r = one_window(b, RATE, &unused, err);

	if (r < 0)
		return r;
	if (memcmp(b->buf[RDMA_NEAR].p, b->buf[RDMA_FAR].p, b->size) != 0) {
		err_set(err, -EIO, "%s completed writes whose bytes did not arrive",
			b->link->side[RDMA_NEAR].end.device);
		return err_fault(err, -EIO, FAULT_RDMA_DATA);
	}
	r = one_window(b, MESSAGES, &unused, err);
	if (r == 0)
		r = one_window(b, LATENCY, &unused, err);
	b->trips_n = 0;
	return r;
}

static bool agreed(const struct rdma_bench *b)
{
	for (int f = 0; f < FIGURES; f++)
		if (!stats_agree(b->figures[f], b->rounds, ROUNDS_LEAST, AGREE_PCT))
			return false;
	return true;
}

static int measure(struct rdma_bench *b, uint64_t budget_ns, struct err *err)
{
	uint64_t slot = budget_ns / (FIGURES * ROUNDS_MOST), start = clock_ns();
	int r = 0;

	queue_look(&b->queue);
	while (b->rounds < ROUNDS_MOST && !agreed(b) && !time_is_over()) {
		if (b->rounds >= ROUNDS_FLOOR && clock_ns() - start > budget_ns)
			break;
		for (int f = 0; f < FIGURES && r == 0; f++) {
			uint64_t begin = clock_ns(), took;

			r = one_window(b, (enum figure)f, &b->figures[f][b->rounds], err);
			took = clock_ns() - begin;
			sleep_ns(slot > took + GAP_LEAST_NS ? slot - took : GAP_LEAST_NS);
		}
		if (r < 0)
			return r;
		b->rounds++;
	}
	b->windows_ns = clock_ns() - start;
	return b->rounds ? 0 : err_time_over(err, "its first round was measured");
}

/* --- the line -------------------------------------------------------------------------- */

static void set_number(json_t *line, const char *key, double value)
{
	json_object_set_new(line, key, json_integer((json_int_t)value));
}

static void set_text(json_t *line, const char *prefix, const char *key, const char *value)
{
	cleanup_free char *name = xasprintf("%s%s", prefix, key);

	json_object_set_new(line, name, json_string(value));
}

static void set_end_number(json_t *line, const char *prefix, const char *key, double value)
{
	cleanup_free char *name = xasprintf("%s%s", prefix, key);

	set_number(line, name, value);
}

static void report_end(const struct rdma_bench *b, enum rdma_side side, json_t *line)
{
	const struct rdma_link_side *s = &b->link->side[side];
	const char *prefix = side == RDMA_NEAR ? "" : "peer_";
	char page[24];

	json_object_set_new(line, side == RDMA_NEAR ? "device" : "peer",
			    json_string(s->end.device));
	set_end_number(line, prefix, "port", s->end.port);
	if (s->port.link_layer == IBV_LINK_LAYER_ETHERNET) {
		set_end_number(line, prefix, "gid_index", s->gid.gid_index);
		set_text(line, prefix, "gid_type", "RoCE v2");
		set_text(line, prefix, "gid_kind", rdma_gid_kind(&s->gid.gid));
	}
	set_end_number(line, prefix, "node", b->buf[side].node);
	set_end_number(line, prefix, "device_node", b->node[side]);
	set_text(line, prefix, "page", size_name(b->buf[side].page, page));
}

static void report_figures(const struct rdma_bench *b, json_t *line)
{
	set_number(line, "value", median_of(b->figures[RATE], b->rounds));
	json_object_set_new(line, "unit", json_string("B/s"));
	set_number(line, "latency", median_of(b->figures[LATENCY], b->rounds));
	set_number(line, "latency_p99", quantile_of(b->trips, b->trips_n, 0.99));
	set_number(line, "messages", median_of(b->figures[MESSAGES], b->rounds));
	json_object_set_new(line, "spread_pct",
			    json_real(stats_spread_pct(b->figures[RATE], b->rounds)));
	set_number(line, "size", (double)b->size);
	set_number(line, "windows", (double)(b->rounds * FIGURES));
	set_number(line, "prepare_ms", (double)(b->prepare_ns / 1000000));
	set_number(line, "windows_ms", (double)(b->windows_ns / 1000000));
	queue_report(&b->queue, line);
	if (b->rounds < ROUNDS_LEAST)
		json_object_set_new(line, "note",
				    json_sprintf("only %zu rounds fitted the budget", b->rounds));
}

static void report(const struct rdma_bench *b, json_t *line)
{
	const struct rdma_link *link = b->link;

	report_figures(b, line);
	set_number(line, "mtu", 128u << link->mtu); /* enum ibv_mtu: 1 is 256 */
	set_number(line, "traffic_class", link->options.traffic_class);
	set_number(line, "sl", link->options.sl);
	report_end(b, RDMA_NEAR, line);
	if (!streq(link->side[RDMA_NEAR].end.device, link->side[RDMA_FAR].end.device) ||
	    link->side[RDMA_NEAR].end.port != link->side[RDMA_FAR].end.port)
		report_end(b, RDMA_FAR, line);
}

/* --- the benchmarks -------------------------------------------------------------------- */

static struct rdma_end end_of(const struct options *o, const char *device, const char *port,
			      const char *gid_index)
{
	return (struct rdma_end){
		.device = option_text(o, device, NULL),
		.port = (unsigned int)option_number(o, port, 1),
		.gid_index =
			option_text(o, gid_index, NULL) ? (int)option_number(o, gid_index, 0) : -1,
	};
}

static int check_size(const struct rdma_bench *b, struct err *err)
{
	for (int side = 0; side < RDMA_SIDES; side++) {
		const struct rdma_link_side *s = &b->link->side[side];

		if (b->size > s->port.max_msg_sz)
			return err_set(err, -EMSGSIZE, "%s accepts messages of at most %u KiB",
				       s->end.device, s->port.max_msg_sz >> 10);
	}
	return 0;
}

static int prepare(struct rdma_bench *b, const struct rdma_link_options *wanted,
		   const struct options *o, int rootfd, struct err *err)
{
	uint64_t start = clock_ns();
	int r = rdma_link_open(&b->link, wanted, err);

	if (r == 0)
		r = check_size(b, err);
	if (r == 0)
		r = place(b, o, rootfd, err);
	if (r == 0)
		r = rdma_link_connect(b->link, err);
	if (r == 0)
		r = warm_up(b, err);
	b->prepare_ns = clock_ns() - start;
	return r;
}

static int run_between(const struct rdma_end *near, const struct rdma_end *far,
		       const struct options *o, json_t *line, struct err *err)
{
	struct rdma_link_options wanted = {
		.end = {*near, *far},
		.traffic_class = (unsigned int)option_number(o, "traffic-class", 0),
		.sl = (unsigned int)option_number(o, "sl", 0),
	};
	struct rdma_bench b = {.size = option_size(o, "size", SIZE)};
	cleanup_close int rootfd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (rootfd < 0)
		return err_errno(err, -errno, "/");
	b.trips = xcalloc((ROUNDS_MOST + 1) * TRIPS_MOST, sizeof(*b.trips));
	r = prepare(&b, &wanted, o, rootfd, err);
	if (r == 0)
		r = measure(&b, option_number(o, "budget", BUDGET_MS) * 1000000u, err);
	if (r == 0)
		report(&b, line);
	rdma_link_close(b.link);
	membuf_free(&b.buf[RDMA_NEAR]);
	membuf_free(&b.buf[RDMA_FAR]);
	free(b.trips);
	return r;
}

static int run_loopback(const struct options *o, json_t *line, struct err *err)
{
	struct rdma_end end = end_of(o, "device", "port", "gid-index");

	return run_between(&end, &end, o, line, err);
}

static int run_pairs(const struct options *o, json_t *line, struct err *err)
{
	struct rdma_end near = end_of(o, "device", "port", "gid-index");
	struct rdma_end far = end_of(o, "peer", "peer-port", "peer-gid-index");

	return run_between(&near, &far, o, line, err);
}

#define OPTIONS_OF_BOTH                                                                          \
	{.name = "device",                                                                       \
	 .arg = "NAME",                                                                          \
	 .type = OPTION_TEXT,                                                                    \
	 .required = true,                                                                       \
	 .help = "RDMA device to read from, such as mlx5_0"},                                    \
		{.name = "port",                                                                 \
		 .arg = "N",                                                                     \
		 .type = OPTION_NUMBER,                                                          \
		 .min = 1,                                                                       \
		 .max = 255,                                                                     \
		 .help = "port of the device (1)"},                                              \
		{.name = "gid-index",                                                            \
		 .arg = "N",                                                                     \
		 .type = OPTION_NUMBER,                                                          \
		 .max = 255,                                                                     \
		 .help = "GID of RoCE v2 (IPv4 before global before link-local)"},               \
		{.name = "node",                                                                 \
		 .arg = "N",                                                                     \
		 .type = OPTION_NUMBER,                                                          \
		 .max = 1023,                                                                    \
		 .help = "NUMA node of memory and CPU (the device's node)"},                     \
		{.name = "size",                                                                 \
		 .arg = "SIZE",                                                                  \
		 .type = OPTION_SIZE,                                                            \
		 .help = "size of a large write (64K)"},                                         \
		{.name = "page",                                                                 \
		 .arg = "SIZE[,SIZE]",                                                           \
		 .type = OPTION_SIZES,                                                           \
		 .help = "page size, or a list: the first size with enough free pages (2M,4K)"}, \
		{.name = "traffic-class",                                                        \
		 .arg = "N",                                                                     \
		 .type = OPTION_NUMBER,                                                          \
		 .max = 255,                                                                     \
		 .help = "traffic class of RoCE: DSCP * 4 (0)"},                                 \
		{.name = "sl",                                                                   \
		 .arg = "N",                                                                     \
		 .type = OPTION_NUMBER,                                                          \
		 .max = 15,                                                                      \
		 .help = "service level (0)"},                                                   \
		OPTION_BUDGET("800")

const struct benchmark rdma_loopback = {
	.name = "rdma_loopback",
	.summary = "write rate, latency and message rate of an RDMA device with itself",
	.options = {OPTIONS_OF_BOTH},
	.run = run_loopback,
};

const struct benchmark rdma_pairs = {
	.name = "rdma_pairs",
	.summary = "write rate, latency and message rate between two RDMA ports of this machine",
	.options = {OPTIONS_OF_BOTH,
		    {.name = "peer",
		     .arg = "NAME",
		     .type = OPTION_TEXT,
		     .required = true,
		     .help = "RDMA device to write to"},
		    {.name = "peer-port",
		     .arg = "N",
		     .type = OPTION_NUMBER,
		     .min = 1,
		     .max = 255,
		     .help = "port of the peer device (1)"},
		    {.name = "peer-gid-index",
		     .arg = "N",
		     .type = OPTION_NUMBER,
		     .max = 255,
		     .help = "its GID"},
		    {.name = "peer-node",
		     .arg = "N",
		     .type = OPTION_NUMBER,
		     .max = 1023,
		     .help = "NUMA node of the peer's memory (the peer's node)"}},
	.run = run_pairs,
};
