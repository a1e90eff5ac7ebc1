/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the checks of GPUs in a profile to what is run and what is looked at, on files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gate/binding.h"
#include "gate/judge.h"
#include "probe_run.h"
#include "plan/change.h"

#define SETS                                             \
	"devices:\n"                                     \
	"  gpus: {pci: \"10de:2330\"}\n"                 \
	"  two: {in: gpus, numa: 0}\n"                   \
	"  one: {in: gpus, address: \"0000:9b:00.0\"}\n" \
	"  none: {pci: \"10de:20b0\"}\n"                 \
	"  rails: {pci: \"15b3:1021\"}\n"                \
	"  slow: {pci: \"8086:1592\"}\n"

#define DEV "sys/devices/pci0000:00/"
#define GPU0 DEV "0000:1b:00.0/"
#define NIC0 DEV "0000:3b:00.0/"
#define NIC1 DEV "0000:9c:00.0/"

static const struct tree_fn functions[] = {
	{"0000:1b:00.0", "10de:2330", "0x030200", "0", "nvidia", NULL, NULL, NULL, NULL},
	{"0000:2b:00.0", "10de:2330", "0x030200", "0", "nvidia", NULL, NULL, NULL, NULL},
	{"0000:9b:00.0", "10de:2330", "0x030200", "-1", "nvidia", NULL, NULL, NULL, NULL},
	{"0000:3b:00.0", "15b3:1021", "0x020000", "0", "mlx5_core", NULL, NULL, NULL, NULL},
	{"0000:9c:00.0", "15b3:1021", "0x020000", "1", "mlx5_core", NULL, NULL, NULL, NULL},
	{"0000:9d:00.0", "8086:1592", "0x020000", "1", "ice", NULL, NULL, NULL, NULL},
};

static const struct tree_file files[] = {
	{"proc/meminfo", "MemTotal: 33554432 kB\n"},
	{"sys/class/dmi/id/sys_vendor", "ACME\n"},
	{"sys/devices/system/node/online", "0-1\n"},
	{"sys/devices/system/node/has_cpu", "0-1\n"},
	{GPU0 "current_link_width", "16\n"},
	{GPU0 "max_link_width", "16\n"},
	{GPU0 "current_link_speed", "2.5 GT/s PCIe\n"}, /* idle */
	{GPU0 "max_link_speed", "32.0 GT/s PCIe\n"},
	{NIC0 "infiniband/mlx5_0/node_type", "1: CA\n"},
	{NIC0 "current_link_width", "16\n"},
	{NIC0 "max_link_width", "16\n"},
	{NIC0 "current_link_speed", "32.0 GT/s PCIe\n"},
	{NIC0 "max_link_speed", "32.0 GT/s PCIe\n"},
	{"sys/class/infiniband/mlx5_0/ports/1/rate", "400 Gb/sec (4X NDR)\n"},
	{NIC1 "infiniband/mlx5_1/node_type", "1: CA\n"},
};

static int setup(void **state)
{
	int r = tmp_setup(state);

	if (r < 0)
		return r;
	for (size_t i = 0; i < array_len(functions); i++)
		tree_pci(*state, &functions[i]);
	tree_write(*state, files, array_len(files));
	return 0;
}

#define HEALTH(gpu, words)                                                                     \
	"gate/c/" gpu ": gpu_health --gpu " gpu " --must_show " words " | " gpu " | value no " \
	"faults;\n"
#define ROWS "ecc,ecc_errors,remapped_rows,pcie_width,clocks"

static void test_health(void **state)
{
	gives(*state, SETS, "gpu_health", "on: two",
	      HEALTH("0000:1b:00.0", ROWS) HEALTH("0000:2b:00.0", ROWS));
	gives(*state, SETS, "gpu_health", "on: one, must_show: [clocks, ecc]",
	      HEALTH("0000:9b:00.0", "clocks,ecc"));
	gives(*state, SETS, "gpu_health", "on: one, must_show: []", HEALTH("0000:9b:00.0", "none"));
	gives(*state, SETS, "gpu_health", "on: none", "");
}

/* By the model, at both ends of each range; of the neighbours and of other makers any answer. */
static void test_models(void **state)
{
	static const struct {
		const char *id, *words;
	} models[] = {
		{"10de:1db0", "any"},
		{"10de:1db1", "ecc,ecc_errors,retired_pages,pcie_width,clocks"},
		{"10de:1eb8", "ecc,ecc_errors,retired_pages,pcie_width,clocks"},
		{"10de:20b0", ROWS},
		{"10de:20b2", ROWS},
		{"10de:20c2", "any"}, /* a card for mining */
		{"10de:2204", "any"}, /* GeForce */
		{"10de:2236", ROWS},
		{"10de:2335", ROWS},
		{"10de:2342", "ecc,ecc_errors,remapped_rows,clocks"},
		{"10de:2684", "any"}, /* GeForce */
		{"10de:26b9", ROWS},
		{"10de:2901", ROWS},
		{"10de:2941", "ecc,ecc_errors,remapped_rows,clocks"},
		{"10de:3182", ROWS},
		{"10de:31c2", "ecc,ecc_errors,remapped_rows,clocks"},
		{"10de:3200", "any"},
	};

	for (size_t i = 0; i < array_len(models); i++) {
		struct tree_fn fn = functions[2];
		cleanup_free char *sets =
			xasprintf("devices:\n  gpus: {pci: \"%s\"}\n", models[i].id);
		cleanup_free char *want = xasprintf(
			"gate/c/0000:9b:00.0: gpu_health --gpu 0000:9b:00.0 --must_show %s | "
			"0000:9b:00.0 | value no faults;\n",
			models[i].words);
		struct tmp *t = *state;

		fn.ids = models[i].id;
		tree_pci(t, &fn);
		gives(t, sets, "gpu_health", "on: gpus", want);
	}
}

#define FABRIC(gpu, words) \
	"gate/c/" gpu ": gpu_fabric --gpu " gpu " --mode " words " | " gpu " | value no faults;\n"

static void test_fabric(void **state)
{
	gives(*state, SETS, "gpu_fabric", "on: two, mode: node",
	      FABRIC("0000:1b:00.0", "node") FABRIC("0000:2b:00.0", "node"));
	gives(*state, SETS, "gpu_fabric", "on: gpus, mode: multinode",
	      FABRIC("0000:1b:00.0", "multinode --others 0000:2b:00.0,0000:9b:00.0")
		      FABRIC("0000:2b:00.0", "multinode --others 0000:1b:00.0,0000:9b:00.0") FABRIC(
			      "0000:9b:00.0", "multinode --others 0000:1b:00.0,0000:2b:00.0"));
	gives(*state, SETS, "gpu_fabric", "on: one, mode: multinode",
	      FABRIC("0000:9b:00.0", "multinode"));
	gives(*state, SETS, "gpu_fabric", "on: none, mode: none", "");
}

/* A node that isn't known is none to be asked for, but all of them may be used. */
static void test_copy(void **state)
{
	gives(*state, SETS, "gpu_copy", "on: gpus, min: 20GB/s, size: 64M",
	      "gate/c/0000:1b:00.0: gpu_copy --gpu 0000:1b:00.0 --node 0 --size 64M | 0000:1b:00.0 "
	      "node0 | value 20GB/s;\n"
	      "gate/c/0000:2b:00.0: gpu_copy --gpu 0000:2b:00.0 --node 0 --size 64M | 0000:2b:00.0 "
	      "node0 | value 20GB/s;\n"
	      "gate/c/0000:9b:00.0: gpu_copy --gpu 0000:9b:00.0 --size 64M | 0000:9b:00.0 node0 "
	      "node1 | value 20GB/s;\n");
	gives(*state, SETS, "gpu_copy", "on: two, min: 80% of pcie",
	      "gate/c/0000:1b:00.0: gpu_copy --gpu 0000:1b:00.0 --node 0 | 0000:1b:00.0 node0 | "
	      "value 80% of pcie (50.4 GB/s);\n"
	      "gate/c/0000:2b:00.0: gpu_copy of 0000:2b:00.0: 80% of pcie, which is unknown: "
	      "the "
	      "kernel reports no width and speed of its link; write min as a rate\n");
}

static void test_peer(void **state)
{
	gives(*state, SETS, "gpu_peer", "on: gpus, min: 300GB/s",
	      "gate/c/0000:1b:00.0-0000:2b:00.0: gpu_peer --gpu 0000:1b:00.0 --peer 0000:2b:00.0 | "
	      "0000:1b:00.0 0000:2b:00.0 | value 300GB/s;\n"
	      "gate/c/0000:2b:00.0-0000:9b:00.0: gpu_peer --gpu 0000:2b:00.0 --peer 0000:9b:00.0 | "
	      "0000:2b:00.0 0000:9b:00.0 | value 300GB/s;\n"
	      "gate/c/0000:9b:00.0-0000:1b:00.0: gpu_peer --gpu 0000:9b:00.0 --peer 0000:1b:00.0 | "
	      "0000:9b:00.0 0000:1b:00.0 | value 300GB/s;\n");
	gives(*state, SETS, "gpu_peer", "on: two, min: 300GB/s, size: 1G",
	      "gate/c/0000:1b:00.0-0000:2b:00.0: gpu_peer --gpu 0000:1b:00.0 --peer 0000:2b:00.0 "
	      "--size 1G | 0000:1b:00.0 0000:2b:00.0 | value 300GB/s;\n");
	gives(*state, SETS, "gpu_peer", "on: one, min: 300GB/s",
	      "gate/c/0000:9b:00.0: gpu_peer of 0000:9b:00.0: it is the only GPU of the set, and a "
	      "pair needs two\n");
	gives(*state, SETS, "gpu_peer", "on: none, min: 300GB/s", "");
}

/* By nearness: the first NIC is on node 0; the second takes what is left. */
static void test_rdma(void **state)
{
	gives(*state, SETS, "gpu_rdma", "on: two, with: rails, min: 80% of set, floor: 160Gb/s",
	      "gate/c/0000:3b:00.0-0000:1b:00.0: gpu_rdma --gpu 0000:1b:00.0 --device mlx5_0 | "
	      "0000:3b:00.0 0000:1b:00.0 node0 | value 80% of set, and 160Gb/s;\n"
	      "gate/c/0000:9c:00.0-0000:2b:00.0: gpu_rdma --gpu 0000:2b:00.0 --device mlx5_1 | "
	      "0000:9c:00.0 0000:2b:00.0 node1 | value 80% of set, and 160Gb/s;\n");
	gives(*state, SETS, "gpu_rdma", "on: two, with: rails, min: 80% of line, size: 8M",
	      "gate/c/0000:3b:00.0-0000:1b:00.0: gpu_rdma --gpu 0000:1b:00.0 --device mlx5_0 "
	      "--size 8M | 0000:3b:00.0 0000:1b:00.0 node0 | value 80% of line (40.0 GB/s);\n"
	      "gate/c/0000:9c:00.0-0000:2b:00.0: gpu_rdma of 0000:9c:00.0 with 0000:2b:00.0: 80% "
	      "of "
	      "line, which is unknown: the kernel reports no speed of its port; write min as a "
	      "rate\n");
	gives(*state, SETS, "gpu_rdma", "on: gpus, with: slow, min: 1GB/s",
	      "gate/c/0000:9d:00.0-0000:1b:00.0: gpu_rdma of 0000:9d:00.0 with 0000:1b:00.0: "
	      "0000:9d:00.0 has no RDMA device; see that its RDMA module (mlx5_ib, irdma, bnxt_re) "
	      "is loaded\n");
	/* more NICs than GPUs: the nearest is shared */
	gives(*state, SETS, "gpu_rdma", "on: one, with: rails, min: 1GB/s",
	      "gate/c/0000:3b:00.0-0000:9b:00.0: gpu_rdma --gpu 0000:9b:00.0 --device mlx5_0 | "
	      "0000:3b:00.0 0000:9b:00.0 node0 | value 1GB/s;\n"
	      "gate/c/0000:9c:00.0-0000:9b:00.0: gpu_rdma --gpu 0000:9b:00.0 --device mlx5_1 | "
	      "0000:9c:00.0 0000:9b:00.0 node1 | value 1GB/s;\n");
	gives(*state, SETS, "gpu_rdma", "on: none, with: rails, min: 1GB/s", "");
}

/* The start of the driver may spin on any CPU, wherever the GPU is. */
static void test_start(void **state)
{
	static const char *const checks[] = {
		"run: gpu_health, on: gpus",
		"run: gpu_fabric, on: gpus, mode: node",
		"run: gpu_copy, on: gpus, min: 1GB/s",
		"run: gpu_peer, on: gpus, min: 1GB/s",
		"run: gpu_rdma, on: gpus, with: rails, min: 1GB/s",
	};

	for (size_t i = 0; i < array_len(checks); i++) {
		struct measurements all = {0};
		struct probes probes = {0};
		struct on_machine m;

		on_machine(*state, SETS, checks[i], &m);
		check_measures(&m.ctx, "c",
			       ynode_get(profile_section(m.profile, "gate"), "checks")->items.v[0],
			       &probes);
		assert_int_not_equal(probes.list.n, 0);
		for (size_t k = 0; k < probes.list.n; k++) {
			const struct probe *p = probes.list.v[k];

			assert_int_equal(p->start_disturbs.n, 2);
			assert_string_equal(p->start_disturbs.v[0], "node0");
			assert_string_equal(p->start_disturbs.v[1], "node1");
			assert_true(p->late);
			vec_push(&all.list, p->m);
		}
		measurements_free(&all);
		probes_free(&probes);
		on_machine_free(&m);
	}
}

/* --- judged --------------------------------------------------------------------------------- */

static void judged(const char *line, enum change_state is, const char *reason)
{
	struct bench_job job = {.state = CHANGE_SAME, .result = json_loads(line, 0, NULL)};
	struct probe p = {.subject = xstrdup("gpu_health of x")};
	struct measurements all = {0};

	assert_non_null(job.result);
	probe_wants_no_faults(&p);
	judge_probe(&p, &job);
	assert_int_equal(p.m.state, is);
	if (reason)
		assert_string_equal(p.m.reason, reason);
	else
		assert_null(p.m.reason);
	bench_job_clear(&job);
	vec_push(&all.list, p.m);
	measurements_free(&all);
	free(p.subject);
	free(p.figures[0].wanted);
}

static void test_faults(void **state)
{
	(void)state;
	judged("{\"value\": 0, \"faults\": []}", CHANGE_SAME, NULL);
	judged("{\"value\": 2, \"faults\": [\"a: do b\", \"c\"]}", CHANGE_SLOW,
	       "gpu_health of x: a: do b; c");
	judged("{\"value\": 1}", CHANGE_SLOW, "gpu_health of x: 1 fault");
	judged("{\"value\": 2, \"faults\": [7, \"c\"]}", CHANGE_SLOW, "gpu_health of x: ?; c");
	judged("{\"faults\": []}", CHANGE_FAILED,
	       "gpu_health of x: no number \"value\" in its result");
}

/* --- looked at -------------------------------------------------------------------------------- */

/* "ID TARGET DESIRED" of each change that the gate's checks make. */
static void looks(struct tmp *t, const char *check, const char *want)
{
	struct on_machine m;
	struct plan plan = {0};
	struct str got = {0};

	on_machine(t, SETS, check, &m);
	section_find("gate")->emit(&m.ctx, profile_section(m.profile, "gate"), &plan);
	for (size_t i = 0; i < plan.list.n; i++)
		str_addf(&got, "%s %s %s\n", plan.list.v[i]->id, plan.list.v[i]->target,
			 plan.list.v[i]->desired);
	assert_string_equal(str_get(&got), want);
	str_free(&got);
	plan_free(&plan);
	on_machine_free(&m);
}

static void test_looks(void **state)
{
	looks(*state, "run: gpu_driver, on: two, flavor: open",
	      "gate/c/0000:1b:00.0 gpu-driver:0000:1b:00.0 open\n"
	      "gate/c/0000:2b:00.0 gpu-driver:0000:2b:00.0 open\n");
	looks(*state, "run: gpu_driver, on: one",
	      "gate/c/0000:9b:00.0 gpu-driver:0000:9b:00.0 any\n");
	looks(*state, "run: gpu_xid, on: one", "gate/c/0000:9b:00.0 gpu-xid:0000:9b:00.0 none\n");
	looks(*state, "run: gpudirect, on: two, with: rails",
	      "gate/c/0000:3b:00.0 gpudirect:0000:3b:00.0,0000:1b:00.0 dma-buf or nvidia_peermem\n"
	      "gate/c/0000:9c:00.0 gpudirect:0000:9c:00.0,0000:2b:00.0 dma-buf or "
	      "nvidia_peermem\n");
	looks(*state, "run: gpudirect, on: none, with: rails", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_health, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_models, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_fabric, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_copy, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_peer, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_rdma, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_start, setup, tmp_teardown),
		cmocka_unit_test(test_faults),
		cmocka_unit_test_setup_teardown(test_looks, setup, tmp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
