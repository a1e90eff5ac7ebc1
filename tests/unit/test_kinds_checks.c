/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks without load: RDMA ports, PCIe errors, memory that units may lock. On trees. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check_change.h"
#include "engine/run.h"
#include "kinds/kind.h"
#include "reason.h"
#include "tree.h"

#define NIC "0000:3b:00.0"
#define ETH "0000:41:00.0"
#define IB_PORT "sys/class/infiniband/mlx5_0/ports/1/"
#define RXE_PORT "sys/class/infiniband/rxe0/ports/1/"
#define PORT "sys/devices/pci0000:3a/0000:3a:01.0/"
#define DEV PORT NIC "/"

static const struct tree_file machine[] = {
	{"sys/bus/pci/devices/" NIC, "->../../../devices/pci0000:3a/0000:3a:01.0/" NIC},
	{"sys/bus/pci/devices/0000:3a:01.0", "->../../../devices/pci0000:3a/0000:3a:01.0"},
	{DEV "virtfn0", "->../0000:3b:00.2"},
	{DEV "driver", "->../../../../bus/pci/drivers/mlx5_core"},
	{DEV "infiniband/mlx5_0/fw_ver", "28.39\n"},
	{PORT "0000:3b:00.2/infiniband/mlx5_9/fw_ver", "28.39\n"},
	{PORT "0000:3b:00.2/physfn", "->../" NIC},
	{"sys/bus/pci/devices/0000:3b:00.2",
	 "->../../../devices/pci0000:3a/0000:3a:01.0/0000:3b:00.2"},
	{IB_PORT "state", "4: ACTIVE\n"},
	{IB_PORT "phys_state", "5: LinkUp\n"},
	{IB_PORT "rate", "400 Gb/sec (4X NDR)\n"},
	{IB_PORT "link_layer", "InfiniBand\n"},
	{"sys/class/infiniband/mlx5_9/ports/1/state", "1: DOWN\n"},
	{"sys/class/infiniband/mlx5_9/ports/1/phys_state", "3: Disabled\n"},
	{"sys/class/infiniband/mlx5_9/ports/1/rate", "2.5 Gb/sec (1X SDR)\n"},
	{"sys/class/infiniband/mlx5_9/ports/1/link_layer", "Ethernet\n"},
	{"sys/bus/pci/devices/" ETH "/net/eth0/ifindex", "3\n"},
	{"sys/class/infiniband/rxe0/parent", "eth0\n"},
	{RXE_PORT "state", "4: ACTIVE\n"},
	{RXE_PORT "phys_state", "5: LinkUp\n"},
	{RXE_PORT "rate", "2.5 Gb/sec (1X SDR)\n"},
	{RXE_PORT "link_layer", "Ethernet\n"},
};

static int setup(void **state)
{
	int r = tmp_setup(state);

	if (r == 0)
		tree_write(*state, machine, array_len(machine));
	return r;
}

/* reason: what is said of it, or NULL for nothing */
static void gives(struct tmp *t, const char *target, const char *desired, enum change_state want,
		  const char *observed, const char *reason)
{
	static const struct place nowhere;
	struct run run = {.root = &t->root};
	struct change *c = plan_add(&run.plan, "gate", &kind_check, STAGE_GATE, PHASE_CHECK,
				    nowhere, "%s", target);

	check_about(c, target, desired);
	run_look(&run, STAGES_ALL, STAGE_GATE);
	if (c->now.state != want)
		fail_msg("%s: %s: %s", target, state_name(c->now.state),
			 reason_of(c) ? reason_of(c) : "");
	if (observed)
		assert_string_equal(c->now.found, observed);
	if (reason)
		assert_text(reason_of(c), reason);
	else if (want == CHANGE_SAME && reason_of(c))
		assert_string_equal(reason_of(c), "");
	run_close(&run);
}

static void port_is(struct tmp *t, const char *state, const char *phys)
{
	tmp_write(t, IB_PORT "state", state);
	tmp_write(t, IB_PORT "phys_state", phys);
}

static void test_rdma_link(void **state)
{
	struct tmp *t = *state;
	const char *link = "rdma-link:" NIC;

	for (int live = 0; live < 2; live++) {
		t->root.live = live;
		port_is(t, "4: ACTIVE\n", "5: LinkUp\n");
		gives(t, link, "ACTIVE", CHANGE_SAME, "ACTIVE", NULL);
		port_is(t, "2: INIT\n", "5: LinkUp\n");
		gives(t, link, "ACTIVE", CHANGE_DIFFERS, "INIT",
		      "port 1 of mlx5_0 has a link, and no subnet manager has configured it");
	}
	port_is(t, "3: ARMED\n", "5: LinkUp\n");
	gives(t, link, "ACTIVE", CHANGE_DIFFERS, "ARMED", "is configuring port 1 of mlx5_0");
	port_is(t, "1: DOWN\n", "2: Polling\n");
	gives(t, link, "ACTIVE", CHANGE_DIFFERS, "DOWN", "finds no partner");
	port_is(t, "1: DOWN\n", "6: LinkErrorRecovery\n");
	gives(t, link, "ACTIVE", CHANGE_DIFFERS, "DOWN", "recovering from link errors");
	/* an InfiniBand port stays ACTIVE while its link comes again, or does not */
	port_is(t, "4: ACTIVE\n", "6: LinkErrorRecovery\n");
	gives(t, link, "ACTIVE", CHANGE_DIFFERS, "ACTIVE without a link", "recovering from link");
	port_is(t, "4: ACTIVE\n", "3: Disabled\n");
	gives(t, link, "ACTIVE", CHANGE_DIFFERS, "ACTIVE without a link", "is switched off");
	port_is(t, "4: ACTIVE\n", ""); /* of a driver that does not say */
	gives(t, link, "ACTIVE", CHANGE_SAME, "ACTIVE", NULL);
	port_is(t, "", "");
	gives(t, link, "ACTIVE", CHANGE_DIFFERS, "unknown", "is not up");
	/* on Ethernet there is no subnet manager to ask for */
	port_is(t, "2: INIT\n", "5: LinkUp\n");
	tmp_write(t, IB_PORT "link_layer", "Ethernet\n");
	gives(t, link, "ACTIVE", CHANGE_DIFFERS, "INIT", "its netdev must be up, with a carrier");
	/* each port counts */
	port_is(t, "4: ACTIVE\n", "5: LinkUp\n");
	tmp_write(t, "sys/class/infiniband/mlx5_0/ports/2/state", "1: DOWN\n");
	gives(t, link, "ACTIVE", CHANGE_DIFFERS, "DOWN", "port 2 of mlx5_0");

	gives(t, "rdma-link:" NIC "/0", "ACTIVE", CHANGE_DIFFERS, "DOWN",
	      "port 1 of mlx5_9 is switched off");
	gives(t, "rdma-link:" NIC "/7", "ACTIVE", CHANGE_DIFFERS, "no such VF", "does not exist");
	gives(t, "rdma-link:" ETH, "ACTIVE", CHANGE_SAME, "ACTIVE", NULL); /* soft RoCE */
}

/* An EFA that says ACTIVE proves nothing; one that is not there, or says otherwise, is a fault. */
static void test_rdma_link_of_efa(void **state)
{
	const char *link = "rdma-link:" NIC;
	struct tmp *t = *state;

	tree_link(t, DEV "driver", "../../../../bus/pci/drivers/efa");
	tmp_write(t, IB_PORT "link_layer", "Unknown\n");
	gives(t, link, "ACTIVE", CHANGE_FAILED, "ACTIVE", "mlx5_0 reports ACTIVE with and without");
	gives(t, "rdma-speed:" NIC, "400Gb/s", CHANGE_SAME, "400Gb/s", NULL);
	port_is(t, "1: DOWN\n", "3: Disabled\n");
	gives(t, link, "ACTIVE", CHANGE_DIFFERS, "DOWN", "port 1 of mlx5_0");
}

#define PORT1 "0000:5e:00.0"
#define PORT2 "0000:5e:00.1"
#define BOND "sys/class/infiniband/mlx5_bond_0/ports/1/"

/* RoCE LAG: one RDMA device for both ports of a card, below the first. */
static void test_rdma_link_of_a_bond(void **state)
{
	static const struct tree_file bonded[] = {
		{"sys/bus/pci/devices/" PORT1 "/driver", "->../../../bus/pci/drivers/mlx5_core"},
		{"sys/bus/pci/devices/" PORT1 "/net/rail0/ifindex", "5\n"},
		{"sys/bus/pci/devices/" PORT1 "/infiniband/mlx5_bond_0/fw_ver", "28.39\n"},
		{"sys/bus/pci/devices/" PORT2 "/driver", "->../../../bus/pci/drivers/mlx5_core"},
		{"sys/bus/pci/devices/" PORT2 "/net/rail1/ifindex", "6\n"},
		{"sys/class/net/bond0/bonding/slaves", "rail0 rail1\n"},
		{"sys/class/net/rail0/master", "->../bond0"},
		{"sys/class/net/rail0/device", "->../../../bus/pci/devices/" PORT1},
		{"sys/class/net/rail0/carrier", "1\n"},
		{"sys/class/net/rail1/master", "->../bond0"},
		{"sys/class/net/rail1/device", "->../../../bus/pci/devices/" PORT2},
		{"sys/class/net/rail1/carrier", "1\n"},
		{BOND "state", "4: ACTIVE\n"},
		{BOND "phys_state", "5: LinkUp\n"},
		{BOND "rate", "400 Gb/sec (4X NDR)\n"},
		{BOND "link_layer", "Ethernet\n"},
	};
	struct tmp *t = *state;

	tree_write(t, bonded, array_len(bonded));
	for (int live = 0; live < 2; live++) {
		t->root.live = live;
		gives(t, "rdma-link:" PORT1, "ACTIVE", CHANGE_SAME, "ACTIVE", NULL);
		gives(t, "rdma-link:" PORT2, "ACTIVE", CHANGE_SAME, "ACTIVE", NULL);
		gives(t, "rdma-speed:" PORT2, "400Gb/s", CHANGE_SAME, "400Gb/s", NULL);
	}
	t->root.live = false;
	/* the device stays ACTIVE by the other */
	tmp_write(t, "sys/class/net/rail1/carrier", "0\n");
	gives(t, "rdma-link:" PORT2, "ACTIVE", CHANGE_DIFFERS, "no carrier",
	      "rail1, a member of a bond, has no carrier");
	gives(t, "rdma-link:" PORT1, "ACTIVE", CHANGE_SAME, "ACTIVE", NULL);
	tmp_write(t, "sys/class/net/rail1/carrier", "1\n");
	tmp_write(t, "sys/class/net/rail0/carrier", "0\n");
	gives(t, "rdma-link:" PORT1, "ACTIVE", CHANGE_DIFFERS, "no carrier", "rail0, a member");
	tmp_write(t, BOND "state", "1: DOWN\n");
	gives(t, "rdma-link:" PORT2, "ACTIVE", CHANGE_DIFFERS, "DOWN", "port 1 of mlx5_bond_0");
	/* a bond with another card has no device for both; nor has a container's */
	tree_link(t, "sys/class/net/rail0/device", "../../../bus/pci/devices/" NIC);
	gives(t, "rdma-link:" PORT2, "ACTIVE", CHANGE_DIFFERS, "no RDMA device", "mlx5_ib");
	tree_link(t, "sys/class/net/rail0/device", "../../../bus/pci/devices/" PORT1);
	tree_dir(t, "sys/bus/pci/devices/" PORT2 "/infiniband");
	gives(t, "rdma-link:" PORT2, "ACTIVE", CHANGE_DIFFERS, "no RDMA device", "namespace");
}

static void test_no_rdma_device(void **state)
{
	struct tmp *t = *state;
	const char *link = "rdma-link:" NIC;

	tree_remove(t, DEV "infiniband/mlx5_0/fw_ver");
	tree_remove(t, DEV "infiniband/mlx5_0");
	gives(t, link, "ACTIVE", CHANGE_DIFFERS, "no RDMA device", "in another network namespace");
	tree_remove(t, DEV "infiniband");
	gives(t, link, "ACTIVE", CHANGE_DIFFERS, NULL, "module mlx5_ib is not loaded");
	tree_dir(t, "sys/module");
	tree_dir(t, "sys/module/mlx5_ib");
	gives(t, link, "ACTIVE", CHANGE_DIFFERS, NULL, "module mlx5_ib is loaded, and has made no");
	tree_link(t, DEV "driver", "../../../../bus/pci/drivers/e1000e");
	gives(t, link, "ACTIVE", CHANGE_DIFFERS, NULL, "e1000e has made no RDMA device for " NIC);
	tree_remove(t, DEV "driver");
	gives(t, link, "ACTIVE", CHANGE_DIFFERS, NULL, NIC " has no driver");
}

static void test_rdma_speed(void **state)
{
	struct tmp *t = *state;
	const char *speed = "rdma-speed:" NIC;

	gives(t, speed, "400Gb/s", CHANGE_SAME, "400Gb/s", NULL);
	tmp_write(t, IB_PORT "rate", "200 Gb/sec (2X NDR)\n");
	gives(t, speed, "200Gb/s", CHANGE_SAME, "200Gb/s", NULL);
	gives(t, speed, "400Gb/s", CHANGE_DIFFERS, "200Gb/s", "trained to a lower speed (2X NDR)");
	tmp_write(t, IB_PORT "rate", "nonsense\n");
	gives(t, speed, "400Gb/s", CHANGE_DIFFERS, "unknown", "reports no speed");
	tmp_write(t, IB_PORT "state", "1: DOWN\n");
	tmp_write(t, IB_PORT "rate", "400 Gb/sec (4X NDR)\n");
	gives(t, speed, "400Gb/s", CHANGE_DIFFERS, "no link", "is not active");
	gives(t, "rdma-speed:" ETH, "2500Mb/s", CHANGE_SAME, "2500Mb/s", NULL);
	gives(t, "rdma-speed:" ETH, "3Gb/s", CHANGE_DIFFERS, "2500Mb/s", "(1X SDR)");
}

static void no_errors(struct tmp *t, const char *dir)
{
	static const struct {
		const char *file, *text;
	} files[] = {
		{"aer_dev_fatal", "Undefined 0\nDLP 0\nTOTAL_ERR_FATAL 0\n"},
		{"aer_dev_nonfatal", "Undefined 0\nUnsupReq 0\nTOTAL_ERR_NONFATAL 0\n"},
		{"aer_dev_correctable", "RxErr 0\nBadTLP 0\nTOTAL_ERR_COR 0\n"},
	};

	for (size_t i = 0; i < array_len(files); i++) {
		cleanup_free char *name = xasprintf("%s%s", dir, files[i].file);

		tmp_write(t, name, files[i].text);
	}
}

static void test_pcie_errors(void **state)
{
	struct tmp *t = *state;
	const char *errors = "pcie-errors:" NIC;

	gives(t, errors, "0", CHANGE_UNSUPPORTED, "not counted", "the firmware handles AER");
	gives(t, errors, "0", CHANGE_UNSUPPORTED, NULL, "no errors of " NIC);
	gives(t, "pcie-errors:" NIC "/0", "0", CHANGE_UNSUPPORTED, NULL, "its PF has them");
	no_errors(t, DEV);
	no_errors(t, PORT);
	tmp_write(t, PORT "aer_rootport_total_err_fatal", "0\n");
	tmp_write(t, PORT "aer_rootport_total_err_nonfatal", "0\n");
	gives(t, errors, "0", CHANGE_SAME, "0", NULL);
	tmp_write(t, PORT "aer_rootport_total_err_nonfatal", "2\n");
	gives(t, errors, "0", CHANGE_DIFFERS, "2",
	      "port 0000:3a:01.0 had 2 nonfatal messages from below");
	tmp_write(t, DEV "aer_dev_fatal", "DLP 0\nSDES 1\nTOTAL_ERR_FATAL 1\n");
	gives(t, errors, "0", CHANGE_DIFFERS, "1", "since boot: " NIC " SDES 1; data was lost");
	tmp_write(t, PORT "aer_dev_nonfatal",
		  "TLP 1\nFCP 2\nCmpltTO 3\nUnsupReq 4\nTOTAL_ERR_NONFATAL 10\n");
	gives(t, errors, "0", CHANGE_DIFFERS, "11",
	      NIC " SDES 1; port 0000:3a:01.0 TLP 1, FCP 2, CmpltTO 3 and 1 more; data");
	gives(t, "pcie-errors:0000:99:00.0", "0", CHANGE_FAILED, NULL, "gone from the bus");
}

static void test_pcie_corrected(void **state)
{
	struct tmp *t = *state;
	const char *corrected = "pcie-corrected:" NIC;

	gives(t, corrected, "0 or fewer", CHANGE_UNSUPPORTED, NULL, NULL);
	no_errors(t, DEV);
	gives(t, corrected, "0 or fewer", CHANGE_SAME, "0", NULL);
	tmp_write(t, DEV "aer_dev_correctable", "RxErr 0\nBadTLP 12\nTOTAL_ERR_COR 12\n");
	gives(t, corrected, "12 or fewer", CHANGE_SAME, "12", NULL);
	gives(t, corrected, "11 or fewer", CHANGE_DIFFERS, "12",
	      NIC " BadTLP 12; the link repeats");
	/* what was corrected is no fault of the other check */
	gives(t, "pcie-errors:" NIC, "0", CHANGE_SAME, "0", NULL);
}

#define LIMITS(soft, hard)                                                                 \
	"Limit                     Soft Limit           Hard Limit           Units     \n" \
	"Max processes             128000               128000               processes \n" \
	"Max locked memory         " soft "              " hard "            bytes     \n"

static void test_memlock(void **state)
{
	struct tmp *t = *state;
	const char *unit = "memlock:containerd.service";

	gives(t, unit, "unlimited", CHANGE_UNSUPPORTED, "not running", "no control groups");
	t->root.live = true;
	gives(t, unit, "unlimited", CHANGE_DIFFERS, "not installed", "misspelt? Where a node may");
	tmp_write(t, "usr/lib/systemd/system/containerd.service", "[Service]\n");
	gives(t, unit, "unlimited", CHANGE_UNSUPPORTED, "not running", "does not run (yet)");
	tmp_write(t, "sys/fs/cgroup/system.slice/containerd.service/cgroup.procs", "100\n0\n");
	gives(t, unit, "unlimited", CHANGE_UNSUPPORTED, "not running", NULL); /* it has ended */
	tmp_write(t, "proc/100/limits", LIMITS("unlimited", "unlimited"));
	gives(t, unit, "unlimited", CHANGE_SAME, "unlimited", NULL);
	tmp_write(t, "proc/100/limits", LIMITS("8388608", "unlimited"));
	tmp_write(t, "proc/100/comm", "containerd\n");
	gives(t, unit, "unlimited", CHANGE_DIFFERS, "8M",
	      "process 100 (containerd) of containerd.service has the memlock limit 8M (unlimited "
	      "at most)");
	gives(t, unit, "8M", CHANGE_SAME, "8M", NULL);
	gives(t, unit, "64G", CHANGE_DIFFERS, "8M", "LimitMEMLOCK=64G");

	/* a container's process, in a group of its own inside, and of a v1 hierarchy */
	tmp_write(t, "proc/100/limits", LIMITS("unlimited", "unlimited"));
	tmp_write(t, "sys/fs/cgroup/system.slice/containerd.service/kubepods/pod1/cgroup.procs",
		  "200\n");
	tmp_write(t, "proc/200/limits", LIMITS("65536", "65537"));
	gives(t, unit, "unlimited", CHANGE_DIFFERS, "64K",
	      "process 200 (?) of containerd.service "
	      "has the memlock limit 64K (65537 bytes at most)");
	tmp_write(t, "sys/fs/cgroup/systemd/site.slice/site-job.slice/slurmd.service/cgroup.procs",
		  "300\n");
	tmp_write(t, "proc/300/limits", LIMITS("unlimited", "unlimited"));
	gives(t, "memlock:slurmd.service", "unlimited", CHANGE_SAME, "unlimited", NULL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, tmp_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_rdma_link),		TEST(test_no_rdma_device),
		TEST(test_rdma_link_of_a_bond), TEST(test_rdma_link_of_efa),
		TEST(test_rdma_speed),		TEST(test_pcie_errors),
		TEST(test_pcie_corrected),	TEST(test_memlock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
