/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The RDMA benchmarks over a stack that is made here: GIDs, ports, figures, what failures say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <sys/resource.h>

#include "bench/rdma.h"
#include "bench/rdma_link.h"
#include "fake_verbs.h"

static int setup(void **state)
{
	(void)state;
	fake_verbs_reset();
	return 0;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in: %s", part, text);
}

static void assert_all_closed(void)
{
	assert_int_equal(fake.opened + fake.pds + fake.cqs + fake.qps + fake.mrs, 0);
}

/* --- GIDs ------------------------------------------------------------------------------- */

struct gid_case {
	struct {
		uint32_t index, port, type;
		const char *address;
	} gids[5];
	int wanted;	  /* index that is asked for, or -1 */
	int picked;	  /* index that is taken, or -errno */
	const char *kind; /* or a part of the error */
};

#define V1 IBV_GID_TYPE_ROCE_V1
#define V2 IBV_GID_TYPE_ROCE_V2

static const struct gid_case gid_cases[] = {
	{{{0, 1, V1, FAKE_IPV4}, {1, 1, V2, FAKE_LINK_LOCAL}, {3, 1, V2, FAKE_IPV4}},
	 -1,
	 3,
	 "ipv4"},
	{{{1, 1, V2, FAKE_LINK_LOCAL}, {2, 1, V2, FAKE_GLOBAL}}, -1, 2, "global"},
	{{{1, 1, V2, FAKE_LINK_LOCAL}}, -1, 1, "link-local"},
	{{{5, 1, V2, FAKE_IPV4}, {3, 1, V2, FAKE_IPV4}, {4, 1, V2, FAKE_IPV4}}, -1, 3, "ipv4"},
	{{{0, 2, V2, FAKE_IPV4}, {1, 1, V2, FAKE_LINK_LOCAL}}, -1, 1, "link-local"},
	{{{1, 1, V2, FAKE_LINK_LOCAL}, {3, 1, V2, FAKE_IPV4}}, 1, 1, "link-local"},
	{{{0, 1, V1, FAKE_IPV4}, {3, 1, V2, FAKE_IPV4}},
	 0,
	 -EINVAL,
	 "GID 0 of port 1 of fake0 is not of type RoCE v2"},
	{{{3, 1, V2, FAKE_IPV4}}, 4, -EINVAL, "GID 4 of port 1 of fake0 is not of type RoCE v2"},
	{{{0, 1, V1, FAKE_IPV4}, {1, 1, V1, FAKE_LINK_LOCAL}},
	 -1,
	 -ENODATA,
	 "port 1 of fake0 has no GID of RoCE v2 (2 of other types)"},
	{{{0, 0, 0, NULL}}, -1, -ENODATA, "(0 of other types)"},
};

static void test_gid_pick(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(gid_cases); i++) {
		const struct gid_case *c = &gid_cases[i];
		struct rdma_end end = {"fake0", 1, c->wanted};
		struct ibv_gid_entry got = {0};
		struct err err = {0};
		int r;

		fake.gids[0] = 0;
		for (size_t k = 0; k < array_len(c->gids) && c->gids[k].address; k++) {
			fake_add_gid(0, c->gids[k].index, c->gids[k].type, c->gids[k].address);
			fake.gid[0][k].port_num = c->gids[k].port;
		}
		r = rdma_gid_pick(fake.gid[0], fake.gids[0], &end, &got, &err);
		assert_int_equal(r < 0 ? r : (int)got.gid_index, c->picked);
		assert_has(r < 0 ? err.text : rdma_gid_kind(&got.gid), c->kind);
	}
}

/* --- what a run says -------------------------------------------------------------------- */

static int run_words(const struct benchmark *bench, const char *const *words, json_t *line,
		     struct err *err)
{
	struct options o;
	char *argv[16];
	int n = 0;

	for (; words[n]; n++)
		argv[n] = (char *)words[n];
	if (options_parse(&o, bench, n, argv, err) < 0)
		fail_msg("%s", err->text);
	return bench->run(&o, line, err);
}

static const char *const loopback_words[] = {"--device", "fake0", "--budget", "10", NULL};
static const char *const pairs_words[] = {
	"--device",	   "fake0", "--peer", "fake1", "--budget", "10",
	"--traffic-class", "104",   "--sl",   "3",     NULL};

static int run_loopback(json_t *line, struct err *err)
{
	return run_words(&rdma_loopback, loopback_words, line, err);
}

static json_int_t number(const json_t *line, const char *key)
{
	const json_t *value = json_object_get(line, key);

	if (!json_is_number(value))
		fail_msg("%s is missing", key);
	return (json_int_t)json_number_value(value);
}

static void assert_text(const json_t *line, const char *key, const char *wanted)
{
	const char *text = json_string_value(json_object_get(line, key));

	if (!text)
		fail_msg("%s is missing", key);
	assert_string_equal(text, wanted);
}

static void test_loopback(void **state)
{
	json_t *line = json_object();
	struct err err = {0};

	(void)state;
	assert_int_equal(run_loopback(line, &err), 0);
	assert_true(number(line, "value") > 0 && number(line, "messages") > 0);
	assert_true(number(line, "latency") > 0);
	assert_true(number(line, "latency_p99") >= number(line, "latency"));
	assert_int_equal(number(line, "windows") % 3, 0);
	assert_int_equal(number(line, "size"), 65536);
	assert_int_equal(number(line, "mtu"), 4096);
	assert_int_equal(number(line, "port"), 1);
	assert_int_equal(number(line, "gid_index"), 3);
	assert_int_equal(number(line, "device_node"), -1);
	assert_text(line, "unit", "B/s");
	assert_text(line, "device", "fake0");
	assert_text(line, "gid_type", "RoCE v2");
	assert_text(line, "gid_kind", "ipv4");
	assert_null(json_object_get(line, "peer"));
	assert_true(fake.writes > 0 && fake.sends > 0);
	/* small writes and messages travel in the request, and writes of 8 bytes by lists */
	assert_true(fake.inlined > 0 && fake.posts > 2 * fake.lists);
	assert_all_closed();
	json_decref(line);
}

static void test_pairs(void **state)
{
	json_t *line = json_object();
	struct err err = {0};

	(void)state;
	assert_int_equal(run_words(&rdma_pairs, pairs_words, line, &err), 0);
	assert_text(line, "device", "fake0");
	assert_text(line, "peer", "fake1");
	assert_int_equal(number(line, "peer_port"), 1);
	assert_int_equal(number(line, "peer_gid_index"), 3);
	assert_int_equal(number(line, "mtu"), 1024); /* the smaller one */
	assert_int_equal(number(line, "traffic_class"), 104);
	for (int i = 0; i < FAKE_DEVICES; i++) {
		const struct ibv_ah_attr *ah = &fake.rtr[i].ah_attr;

		assert_int_equal(fake.rtr[i].path_mtu, IBV_MTU_1024);
		assert_int_equal(ah->is_global, 1);
		assert_int_equal(ah->sl, 3);
		assert_int_equal(ah->grh.traffic_class, 104);
		assert_int_equal(ah->grh.sgid_index, 3);
		assert_true(ah->grh.hop_limit > 0);
	}
	assert_all_closed();
	json_decref(line);
}

static void test_infiniband(void **state)
{
	json_t *line = json_object();
	struct err err = {0};

	(void)state;
	for (int i = 0; i < FAKE_DEVICES; i++) {
		fake.port[i].link_layer = IBV_LINK_LAYER_INFINIBAND;
		fake.gids[i] = 0;
	}
	assert_int_equal(run_words(&rdma_pairs, pairs_words, line, &err), 0);
	assert_null(json_object_get(line, "gid_index"));
	assert_int_equal(fake.rtr[0].ah_attr.is_global, 0);
	assert_int_equal(fake.rtr[0].ah_attr.dlid, 8);
	assert_int_equal(fake.rtr[1].ah_attr.dlid, 7);
	json_decref(line);

	fake.port[1].link_layer = IBV_LINK_LAYER_ETHERNET;
	fake_add_gid(1, 1, V2, FAKE_LINK_LOCAL);
	assert_int_equal(run_words(&rdma_pairs, pairs_words, NULL, &err), -EINVAL);
	assert_has(err.text, "one is InfiniBand, the other Ethernet");
	assert_all_closed();
}

/* A device may take no data in its work requests. */
static void test_no_inline(void **state)
{
	json_t *line = json_object();
	struct err err = {0};

	(void)state;
	fake.inline_most = 0;
	assert_int_equal(run_loopback(line, &err), 0);
	assert_int_equal(fake.inlined, 0);
	json_decref(line);
}

/* --- what is not ready, or fails -------------------------------------------------------- */

static void lists_none(void)
{
	fake.devices = 0;
}
static void lists_other(void)
{
	fake_device[0].name[4] = '9';
}
static void is_down(void)
{
	fake.port[0].state = IBV_PORT_DOWN;
	fake.port[0].phys_state = 3;
}
static void awaits_manager(void)
{
	fake.port[0].state = IBV_PORT_INIT;
	fake.port[0].link_layer = IBV_LINK_LAYER_INFINIBAND;
}
static void has_no_carrier(void)
{
	fake.port[0].state = IBV_PORT_DOWN;
	fake.port[0].phys_state = 2;
	fake.port[0].link_layer = IBV_LINK_LAYER_INFINIBAND;
}
static void has_no_gid(void)
{
	fake.gids[0] = 1;
}
static void takes_small_messages(void)
{
	fake.port[0].max_msg_sz = 32768;
}
static void refuses_qp(void)
{
	fake.qp_errno = EMFILE;
}
static void finds_no_way(void)
{
	fake.rtr_errno = ENETUNREACH;
}
static void loses_bytes(void)
{
	fake.loses_bytes = true;
}
static void fails_writing(void)
{
	fake.fail_after = 5;
	fake.failure = IBV_WC_RETRY_EXC_ERR;
}
static void fails_access(void)
{
	fake.fail_after = 1;
	fake.failure = IBV_WC_REM_ACCESS_ERR;
}
static void is_busy_elsewhere(void)
{
	fake.open_errno = EBUSY;
}

static const struct {
	void (*how)(void);
	int code;
	const char *said[3];
} troubles[] = {
	{lists_none, -ENODEV, {"there is no RDMA device fake0; found: none"}},
	{lists_other, -ENODEV, {"no RDMA device fake0", "fake9, fake1", "driver is loaded"}},
	{is_busy_elsewhere, -EBUSY, {"open fake0: Device or resource busy"}},
	{is_down, -EAGAIN, {"port 1 of fake0 is DOWN (physically Disabled)", "no carrier"}},
	{awaits_manager, -EAGAIN, {"INIT (physically LinkUp)", "no subnet manager"}},
	{has_no_carrier, -EAGAIN, {"DOWN (physically Polling)", "no carrier"}},
	{has_no_gid, -ENODATA, {"no GID of RoCE v2 (1 of other types)"}},
	{takes_small_messages, -EMSGSIZE, {"fake0 accepts messages of at most 32 KiB"}},
	{refuses_qp, -EMFILE, {"a queue pair of fake0: Too many open files"}},
	{finds_no_way, -ENETUNREACH, {"queue pair of fake0 to RTR", "Network is unreachable"}},
	{loses_bytes, -EIO, {"fake0 completed writes whose bytes did not arrive"}},
	{fails_writing,
	 -EIO,
	 {"transport retry counter exceeded (status 12, vendor error 0x81",
	  "queue pair in state ERR", "no answer"}},
	{fails_access, -EIO, {"remote access error (status 10", "IOMMU's faults"}},
};

static void test_troubles(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(troubles); i++) {
		json_t *line = json_object();
		struct err err = {0};

		fake_verbs_reset();
		troubles[i].how();
		assert_int_equal(run_loopback(line, &err), troubles[i].code);
		for (size_t k = 0; k < array_len(troubles[i].said) && troubles[i].said[k]; k++)
			assert_has(err.text, troubles[i].said[k]);
		assert_int_equal(json_object_size(line), 0);
		assert_all_closed();
		json_decref(line);
		fake_device[0].name[4] = '0';
	}
}

static void test_ports(void **state)
{
	static const char *const words[] = {"--device", "fake0", "--port", "2", NULL};
	struct err err = {0};

	(void)state;
	assert_int_equal(run_words(&rdma_loopback, words, NULL, &err), -ERANGE);
	assert_has(err.text, "fake0 has 1 ports, and no port 2");
}

/* The limit is named only where there is one. */
static void test_memlock(void **state)
{
	struct rlimit before, small = {65536, 65536};
	struct err err = {0};

	(void)state;
	fake.mr_errno = ENOMEM;
	assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &before), 0);
	small.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &small), 0);
	assert_int_equal(run_loopback(NULL, &err), -ENOMEM);
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &before), 0);
	assert_has(err.text, "a memory region of fake0");
	assert_has(err.text, "the limit is 64 KiB: set LimitMEMLOCK=infinity");
	assert_all_closed();
}

/* --- the link by itself ----------------------------------------------------------------- */

static struct rdma_link *open_link(uint8_t *memory, size_t len, unsigned int cpus)
{
	struct rdma_link_options options = {
		.end = {{"fake0", 1, -1}, {"fake1", 1, -1}},
		.cpus = cpus,
		.wait_ms = 60000, /* on a busy machine the other end's thread may not run for a
				     second */
	};
	struct rdma_link *link = NULL;
	struct err err = {0};

	assert_int_equal(rdma_link_open(&link, &options, &err), 0);
	assert_int_equal(rdma_link_memory(link, RDMA_NEAR, memory, len, &err), 0);
	assert_int_equal(rdma_link_memory(link, RDMA_FAR, memory, len, &err), 0);
	assert_int_equal(rdma_link_connect(link, &err), 0);
	return link;
}

static void test_silence_ends(void **state)
{
	uint8_t memory[4096];
	struct rdma_link *link = open_link(memory, sizeof(memory), 1);
	struct err err = {0};
	double rate, trips[64];
	size_t n;

	(void)state;
	fake.silent_after = 3;
	link->options.wait_ms = 20;
	assert_int_equal(rdma_link_write_window(link, 4096, 1000, &rate, &err), -ETIMEDOUT);
	assert_has(err.text, "fake0 port 1: no completion within 20 ms (queue pair in state "
			     "RTS)");
	rdma_link_close(link);
	for (unsigned int cpus = 1; cpus <= 2; cpus++) {
		link = open_link(memory, sizeof(memory), cpus);
		link->options.wait_ms = 20;
		assert_int_equal(rdma_link_latency_window(link, 8, 1000, trips, 64, &n, &err),
				 -ETIMEDOUT);
		assert_has(err.text, "port 1: no completion within 20 ms");
		rdma_link_close(link);
	}
	assert_all_closed();
}

/*
 * A message that failed flushes what waits to be received; it's the message's failure that
 * counts, and the other end does not go on waiting.
 */
static void test_failed_message(void **state)
{
	uint8_t memory[4096];

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		bool far = i % 2;
		struct rdma_link *link = open_link(memory, sizeof(memory), 1 + i / 2);
		struct err err = {0};
		double trips[64];
		size_t n;

		fake.posts = 0;
		fake.fail_after = far ? 9 : 10;
		fake.failure = IBV_WC_RETRY_EXC_ERR;
		assert_int_equal(rdma_link_latency_window(link, 8, 1000000000, trips, 64, &n, &err),
				 -EIO);
		assert_has(err.text, far ? "from fake1 port 1 to fake0 port 1: transport retry "
					   "counter exceeded"
					 : "from fake0 port 1 to fake1 port 1: transport retry "
					   "counter exceeded");
		rdma_link_close(link);
	}
}

static void assert_drained(const struct rdma_link *link)
{
	for (int side = 0; side < RDMA_SIDES; side++) {
		assert_int_equal(link->side[side].signalled, 0);
		assert_int_equal(((struct fake_cq *)link->side[side].send_cq)->n, 0);
	}
}

/* No window leaves anything under way, however many of both kinds follow each other. */
static void test_windows_drain(void **state)
{
	uint8_t memory[4096];
	struct rdma_link *links[] = {open_link(memory, sizeof(memory), 1),
				     open_link(memory, sizeof(memory), 2)};
	struct err err = {0};
	double rate, trips[64];
	size_t n;

	(void)state;
	for (int i = 0; i < 200; i++) {
		struct rdma_link *link = links[i % 2];

		assert_int_equal(rdma_link_write_window(link, 8, 1000, &rate, &err), 0);
		assert_drained(link);
		assert_int_equal(rdma_link_latency_window(link, 8, 1000, trips, 20, &n, &err), 0);
		assert_drained(link);
		assert_in_range(n, 16, 20);
	}
	rdma_link_close(links[0]);
	rdma_link_close(links[1]);
}

static void test_dmabuf(void **state)
{
	uint8_t memory[4096];
	struct rdma_link *link = open_link(memory, sizeof(memory), 1);
	struct err err = {0};

	(void)state;
	assert_int_equal(rdma_link_dmabuf(link, RDMA_FAR, 5, 0, 8192, 4096, &err), 0);
	assert_int_equal(fake.dmabuf_len, 8192);
	assert_int_equal(link->side[RDMA_FAR].base, 4096);
	assert_int_equal(fake.mrs, 2); /* the one before is gone */
	fake.dmabuf_errno = EOPNOTSUPP;
	assert_int_equal(rdma_link_dmabuf(link, RDMA_FAR, 5, 0, 8192, 4096, &err), -EOPNOTSUPP);
	assert_has(err.text, "fake1 does not support dma-buf");
	rdma_link_close(link);
	assert_all_closed();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_gid_pick, setup),
		cmocka_unit_test_setup(test_loopback, setup),
		cmocka_unit_test_setup(test_pairs, setup),
		cmocka_unit_test_setup(test_infiniband, setup),
		cmocka_unit_test_setup(test_no_inline, setup),
		cmocka_unit_test_setup(test_troubles, setup),
		cmocka_unit_test_setup(test_ports, setup),
		cmocka_unit_test_setup(test_memlock, setup),
		cmocka_unit_test_setup(test_silence_ends, setup),
		cmocka_unit_test_setup(test_failed_message, setup),
		cmocka_unit_test_setup(test_windows_drain, setup),
		cmocka_unit_test_setup(test_dmabuf, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
