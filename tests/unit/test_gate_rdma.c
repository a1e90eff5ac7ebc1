/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From rdma_loopback and rdma_pairs of a profile to what is run, on a machine of files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe_run.h"

#define SETS                                                \
	"devices:\n"                                        \
	"  rails: {pci: \"15b3:1021\"}\n"                   \
	"  first: {in: rails, address: \"0000:3b:00.0\"}\n" \
	"  others: {pci: \"8086:1592\"}\n"                  \
	"sriov: {first: {vfs: 3}}\n"                        \
	"qos:\n"                                            \
	"  rails: {roce_tos: 104}\n"                        \
	"  first: {traffic_class: 106}\n"

#define NIC "sys/devices/pci0000:00/0000:3b:00.0/"
#define VF0 "sys/devices/pci0000:00/0000:3b:00.1/"
#define NIC2 "sys/devices/pci0000:00/0000:5e:00.0/"

static const struct tree_fn functions[] = {
	{"0000:3b:00.0", "15b3:1021", "0x020000", "0", "mlx5_core", "eth0", "8", NULL, NULL},
	{"0000:3b:00.1", "15b3:101e", "0x020000", "0", "mlx5_core", NULL, NULL, "0000:3b:00.0",
	 NULL},
	{"0000:3b:00.2", "15b3:101e", "0x020000", "0", "vfio-pci", NULL, NULL, "0000:3b:00.0",
	 NULL},
	{"0000:5e:00.0", "15b3:1021", "0x020700", "1", "mlx5_core", NULL, NULL, NULL, NULL},
	{"0000:7a:00.0", "8086:1592", "0x020000", "-1", "ice", "eth2", NULL, NULL, NULL},
	{"0000:7b:00.0", "8086:1592", "0x020000", "1", NULL, NULL, NULL, NULL, NULL},
};

static const struct tree_file files[] = {
	{"proc/meminfo", "MemTotal: 33554432 kB\n"},
	{"sys/class/dmi/id/sys_vendor", "ACME\n"},
	{"sys/devices/system/node/online", "0-1\n"},
	{"sys/devices/system/node/has_cpu", "0-1\n"},
	{NIC "infiniband/mlx5_0/node_type", "1: CA\n"},
	{NIC "net/eth0/ifindex", "2\n"},
	{NIC "net/eth0/speed", "200000\n"},
	{NIC "virtfn0", "->../0000:3b:00.1"},
	{NIC "virtfn1", "->../0000:3b:00.2"},
	{NIC "current_link_width", "16\n"},
	{NIC "max_link_width", "16\n"},
	{NIC "current_link_speed", "8.0 GT/s PCIe\n"},
	{NIC "max_link_speed", "8.0 GT/s PCIe\n"},
	{VF0 "infiniband/mlx5_2/node_type", "1: CA\n"},
	{NIC2 "infiniband/mlx5_1/node_type", "1: CA\n"},
	{"sys/class/infiniband/mlx5_1/ports/1/rate", "100 Gb/sec (4X EDR)\n"},
	{"sys/devices/pci0000:00/0000:7a:00.0/net/eth2/ifindex", "4\n"},
	{"sys/class/infiniband/rxe0/parent", "eth2\n"},
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

/*
 * The line of the first (200 Gb/s) is more than its PCIe 3.0 x16 carries; InfiniBand has no
 * netdev, and the second's line is its port's rate.
 */
static void test_loopback(void **state)
{
	gives(*state, SETS, "rdma_loopback", "on: rails, min: 50% of line, max: 5us, size: 1M",
	      "gate/c/0000:3b:00.0: rdma_loopback --device mlx5_0 --size 1M --traffic-class 106 | "
	      "0000:3b:00.0 node0 | value 50% of line (7.9 GB/s); latency 5us;\n"
	      "gate/c/0000:5e:00.0: rdma_loopback --device mlx5_1 --size 1M --traffic-class 104 | "
	      "0000:5e:00.0 node1 | value 50% of line (6.2 GB/s); latency 5us;\n");
}

#define NO_DRIVER "0000:7b:00.0 has no driver, and so no RDMA device; see the modules section\n"

static void test_no_device(void **state)
{
	gives(*state, SETS, "rdma_loopback", "on: others, min: 1GB/s, min_messages: 1M/s",
	      "gate/c/0000:7a:00.0: rdma_loopback --device rxe0 | 0000:7a:00.0 node0 node1 | value "
	      "1GB/s; messages 1M/s;\n"
	      "gate/c/0000:7b:00.0: rdma_loopback of 0000:7b:00.0: " NO_DRIVER);
	gives(*state, SETS, "rdma_loopback", "on: others, min: 50% of line",
	      "gate/c/0000:7a:00.0: rdma_loopback of 0000:7a:00.0: 50% of line, which is "
	      "unknown: the kernel reports no speed of its port; write min as a rate\n"
	      "gate/c/0000:7b:00.0: rdma_loopback of 0000:7b:00.0: " NO_DRIVER);
}

static void test_vfs(void **state)
{
	gives(*state, SETS, "rdma_loopback", "on: vfs of first, min: 1GB/s",
	      "gate/c/0000:3b:00.0/0: rdma_loopback --device mlx5_2 --traffic-class 106 | "
	      "0000:3b:00.1 0000:3b:00.0 node0 | value 1GB/s;\n"
	      "gate/c/0000:3b:00.0/1: rdma_loopback of 0000:3b:00.0/1: 0000:3b:00.0/1 has no RDMA "
	      "device with the driver vfio-pci; see that the module that adds one (mlx5_ib, irdma, "
	      "bnxt_re) is loaded\n"
	      "gate/c/0000:3b:00.0/2: rdma_loopback of 0000:3b:00.0/2: there is no VF "
	      "0000:3b:00.0/2\n");
}

static void test_pairs(void **state)
{
	gives(*state, SETS, "rdma_pairs", "on: rails, min: 40% of line",
	      "gate/c/0000:3b:00.0-0000:5e:00.0: rdma_pairs --device mlx5_0 --peer mlx5_1 "
	      "--traffic-class 106 | 0000:3b:00.0 node0 0000:5e:00.0 node1 | value 40% of line "
	      "(5.0 GB/s);\n"
	      "gate/c/0000:5e:00.0-0000:3b:00.0: rdma_pairs --device mlx5_1 --peer mlx5_0 "
	      "--traffic-class 104 | 0000:5e:00.0 node1 0000:3b:00.0 node0 | value 40% of line "
	      "(5.0 GB/s);\n");
	gives(*state, SETS, "rdma_pairs", "on: rails, with: first, min: 1GB/s",
	      "gate/c/0000:3b:00.0-0000:3b:00.0: rdma_pairs --device mlx5_0 --peer mlx5_0 "
	      "--traffic-class 106 | 0000:3b:00.0 node0 | value 1GB/s;\n"
	      "gate/c/0000:5e:00.0: rdma_pairs of 0000:5e:00.0: it has no partner; a pair needs "
	      "two of the set, or one of each set\n");
	gives(*state, SETS, "rdma_pairs", "on: first, min: 1GB/s",
	      "gate/c/0000:3b:00.0: rdma_pairs of 0000:3b:00.0: it has no partner; a pair needs "
	      "two of the set, or one of each set\n");
	gives(*state, SETS, "rdma_pairs", "on: others, with: rails, min: 1GB/s",
	      "gate/c/0000:7a:00.0-0000:3b:00.0: rdma_pairs --device rxe0 --peer mlx5_0 | "
	      "0000:7a:00.0 node0 node1 0000:3b:00.0 | value 1GB/s;\n"
	      "gate/c/0000:7b:00.0-0000:5e:00.0: rdma_pairs from 0000:7b:00.0 to "
	      "0000:5e:00.0: " NO_DRIVER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_loopback, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_no_device, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_vfs, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_pairs, setup, tmp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
