/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters before and after the load of the gate: memory, ports, drives, heat. On trees. */
#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "checks/counters.h"
#include "checks/looks.h"
#include "engine/run.h"
#include "hooks.h"
#include "kinds/kind.h"
#include "reason.h"
#include "tree.h"

#define MC "sys/devices/system/edac/mc/"
#define NIC "0000:3b:00.0"
#define PORT "sys/class/infiniband/mlx5_0/ports/1/"
#define CPU "sys/devices/system/cpu/cpu"
#define DRIVE "0000:5e:00.0"

/* A machine of its own: what it does not count is no fault of a capture. */
static int setup(void **state)
{
	int r = tmp_setup(state);

	if (r == 0)
		((struct tmp *)*state)->root.live = true;
	return r;
}

/* One look, and then others at the same. */
struct looking {
	struct run run;
	struct change *c;
};

static void begin(struct tmp *t, struct looking *l, const char *name,
		  const struct counter_look *look, int64_t most)
{
	static const struct place nowhere;

	*l = (struct looking){.run = {.root = &t->root}};
	l->c = plan_add(&l->run.plan, "gate", &kind_check, STAGE_GATE, PHASE_CHECK, nowhere,
			"gate/x/%s", name);
	change_on(l->c, name, look);
	l->c->on.vf = -1;
	change_desired(l->c, "0");
	l->c->want = (struct value){.type = VALUE_NUMBER, .number = most};
}

/* reason: what is said of it, or NULL */
static void finds(struct looking *l, enum change_state want, const char *observed,
		  const char *reason)
{
	const struct change *c = l->c;

	run_look(&l->run, STAGES_ALL, STAGE_GATE);
	if (c->now.state != want)
		fail_msg("%s: %s: %s", c->id, state_name(c->now.state),
			 reason_of(c) ? reason_of(c) : "");
	if (observed)
		assert_string_equal(c->now.found, observed);
	if (reason)
		assert_text(reason_of(c), reason);
}

/* Of one look, without load. */
static void gives(struct tmp *t, const char *name, const struct counter_look *look, int64_t most,
		  enum change_state want, const char *observed, const char *reason,
		  enum fault fault)
{
	struct looking l;

	begin(t, &l, name, look, most);
	finds(&l, want, observed, reason);
	if (want == CHANGE_DIFFERS || want == CHANGE_FAILED)
		assert_int_equal(l.c->now.fault, fault);
	run_close(&l.run);
}

/* --- memory ------------------------------------------------------------------------------ */

/* SMBIOS: a memory device without names. */
#define DEVICE(width, size, form, type)                                                            \
	0x11, 0x15, 0, 0, 0, 0, 0, 0, (width), 0, 64, 0, 0, (size), (form), 0, 0, 0, (type), 0, 0, \
		0, 0

static void put_smbios(struct tmp *t, const void *table, size_t len)
{
	FILE *f;

	tmp_write(t, "sys/firmware/dmi/tables/DMI", "");
	f = fopen(tmp_path(t, "sys/firmware/dmi/tables/DMI"), "w");
	assert_non_null(f);
	assert_int_equal(fwrite(table, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static const struct tree_file two_dimms[] = {
	{MC "mc0/ue_count", "0\n"},
	{MC "mc0/ce_count", "5\n"},
	{MC "mc0/dimm0/dimm_ue_count", "0\n"},
	{MC "mc0/dimm0/dimm_ce_count", "5\n"},
	{MC "mc0/dimm0/dimm_label", "CPU_SrcID#0_MC#0_Chan#0_DIMM#0\n"},
	{MC "mc0/dimm3/dimm_ue_count", "0\n"},
	{MC "mc0/dimm3/dimm_ce_count", "0\n"},
	{MC "mc0/dimm3/dimm_label", "\n"},
};

static void test_memory_is_silent_or_not(void **state)
{
	struct tmp *t = *state;

	gives(t, "memory", &memory_errors_look, -1, CHANGE_FAILED, NULL,
	      "no EDAC driver is bound to a memory controller", FAULT_GATE_CANNOT_LOOK);
	/* which is said once */
	gives(t, "memory", &memory_rise_look, -1, CHANGE_UNSUPPORTED, "not counted",
	      "unknown; see the first look of this check", 0);
	t->root.live = false;
	gives(t, "memory", &memory_errors_look, -1, CHANGE_UNSUPPORTED, "not counted",
	      "a captured tree does not hold", 0);
	t->root.live = true;
	tree_write(t, two_dimms, array_len(two_dimms));
	gives(t, "memory", &memory_errors_look, -1, CHANGE_SAME, "0", NULL, 0);
	gives(t, "memory", &memory_rise_look, -1, CHANGE_SAME,
	      "CPU_SrcID#0_MC#0_Chan#0_DIMM#0 (mc0/dimm0) corrected errors 5", NULL, 0);
	gives(t, "memory", &memory_corrected_look, 5, CHANGE_SAME, NULL, NULL, 0);
	gives(t, "memory", &memory_corrected_look, 4, CHANGE_DIFFERS, NULL,
	      "CPU_SrcID#0_MC#0_Chan#0_DIMM#0 (mc0/dimm0): corrected errors 5; the DIMM or its",
	      FAULT_MEMORY_CORRECTED);
}

static void test_memory_lost_data(void **state)
{
	struct tmp *t = *state;

	tree_write(t, two_dimms, array_len(two_dimms));
	tmp_write(t, MC "mc0/ue_count", "2\n");
	tmp_write(t, MC "mc0/dimm3/dimm_ue_count", "1\n");
	/* of two, one is of a DIMM that has no label, and one of none that is known */
	gives(t, "memory", &memory_errors_look, -1, CHANGE_DIFFERS,
	      "mc0, DIMM not known uncorrected errors 1, mc0/dimm3 uncorrected errors 1",
	      "mc0, DIMM not known: uncorrected errors 1 since boot; mc0/dimm3: uncorrected errors "
	      "1 since boot; data was lost: replace the DIMM",
	      FAULT_MEMORY_ERRORS);
}

/* The firmware's list of DIMMs: what no controller counts is not known to be silent. */
static void test_memory_nobody_counts(void **state)
{
	static const uint8_t devices[] = {DEVICE(72, 64, 0x09, 0x1a), DEVICE(80, 64, 0x09, 0x22),
					  DEVICE(72, 0, 0x09, 0x1a),  DEVICE(64, 64, 0x09, 0x1a),
					  DEVICE(72, 64, 0x09, 0x07), DEVICE(72, 64, 0x0b, 0x1a)};
	struct tmp *t = *state;

	tree_write(t, two_dimms, array_len(two_dimms));
	put_smbios(t, devices,
		   sizeof(devices)); /* two: no module, without ECC, a guest's, a chip */
	gives(t, "memory", &memory_errors_look, -1, CHANGE_SAME, "0", NULL, 0);
	tree_remove(t, MC "mc0/dimm3/dimm_ue_count");
	tree_remove(t, MC "mc0/dimm3/dimm_ce_count");
	tree_remove(t, MC "mc0/dimm3/dimm_label");
	tree_remove(t, MC "mc0/dimm3");
	gives(t, "memory", &memory_errors_look, -1, CHANGE_DIFFERS, "0",
	      "the kernel counts the errors of 1 of the 2 DIMMs with ECC that the firmware lists",
	      FAULT_GATE_CANNOT_LOOK);
	/* which is said once */
	gives(t, "memory", &memory_rise_look, -1, CHANGE_SAME, NULL, NULL, 0);
	/* the two ranks of a DIMM are one, those of the next another */
	tmp_write(t, MC "mc1/rank0/dimm_location", "csrow 2 channel 1 \n");
	tmp_write(t, MC "mc1/rank1/dimm_location", "csrow 3 channel 1 \n");
	gives(t, "memory", &memory_errors_look, -1, CHANGE_SAME, "0", NULL, 0);
	tree_remove(t, MC "mc0/dimm0/dimm_ue_count");
	tree_remove(t, MC "mc0/dimm0/dimm_ce_count");
	tree_remove(t, MC "mc0/dimm0/dimm_label");
	tree_remove(t, MC "mc0/dimm0");
	gives(t, "memory", &memory_errors_look, -1, CHANGE_DIFFERS, "0", "of 1 of the 2 DIMMs",
	      FAULT_GATE_CANNOT_LOOK);
	tmp_write(t, MC "mc1/rank2/dimm_location", "csrow 0 channel 1 \n");
	gives(t, "memory", &memory_errors_look, -1, CHANGE_SAME, "0", NULL, 0);
}

/* A controller without counters of DIMMs, and one of ranks. */
static void test_memory_of_other_kernels(void **state)
{
	struct tmp *t = *state;

	tmp_write(t, MC "mc0/ue_count", "0\n");
	tmp_write(t, MC "mc0/ce_count", "7\n");
	tmp_write(t, MC "mc1/ue_count", "0\n");
	tmp_write(t, MC "mc1/ce_count", "4\n");
	tmp_write(t, MC "mc1/rank2/dimm_ce_count", "4\n");
	tmp_write(t, MC "mc1/csrow0/ce_count", "4\n");
	gives(t, "memory", &memory_rise_look, -1, CHANGE_SAME,
	      "mc0, DIMM not known corrected errors 7, mc1/rank2 corrected errors 4", NULL, 0);
}

static void test_memory_under_load(void **state)
{
	struct tmp *t = *state;
	struct looking l;

	tree_write(t, two_dimms, array_len(two_dimms));
	begin(t, &l, "memory", &memory_rise_look, -1);
	finds(&l, CHANGE_SAME, NULL, NULL);
	change_loaded(l.c);
	finds(&l, CHANGE_SAME, NULL, NULL);
	tmp_write(t, MC "mc0/ce_count", "6\n");
	tmp_write(t, MC "mc0/dimm0/dimm_ce_count", "6\n");
	/* however often it is looked at after the load */
	for (int i = 0; i < 2; i++) {
		finds(&l, CHANGE_DIFFERS, NULL,
		      "(mc0/dimm0): corrected errors rose by 1 under load, to 6; the DIMM");
		assert_int_equal(l.c->now.fault, FAULT_MEMORY_CORRECTED);
	}
	l.c->want.number = 1;
	finds(&l, CHANGE_SAME, NULL, NULL);
	run_close(&l.run);
}

/* --- what can't be compared -------------------------------------------------------------- */

static void test_counters_begin_again(void **state)
{
	struct tmp *t = *state;
	struct looking l;

	tree_write(t, two_dimms, array_len(two_dimms));
	begin(t, &l, "memory", &memory_rise_look, -1);
	finds(&l, CHANGE_SAME, NULL, NULL);
	change_loaded(l.c);
	tmp_write(t, MC "mc0/ce_count", "1\n");
	tmp_write(t, MC "mc0/dimm0/dimm_ce_count", "1\n");
	finds(&l, CHANGE_DIFFERS, NULL,
	      "corrected errors fell from 5 to 1 under load, so that its rise is not known; the "
	      "device or its driver was reset");
	assert_int_equal(l.c->now.fault, FAULT_GATE_CANNOT_LOOK);
	run_close(&l.run);
}

static void test_members_come_and_go(void **state)
{
	struct tmp *t = *state;
	struct looking l;

	tree_write(t, two_dimms, array_len(two_dimms));
	begin(t, &l, "memory", &memory_rise_look, -1);
	finds(&l, CHANGE_SAME, NULL, NULL);
	change_loaded(l.c);
	tree_remove(t, MC "mc0/dimm3/dimm_ce_count");
	finds(&l, CHANGE_DIFFERS, NULL,
	      "mc0/dimm3 had counters before the load, and has none now; see the kernel log");
	tmp_write(t, MC "mc0/dimm3/dimm_ce_count", "0\n");
	finds(&l, CHANGE_SAME, NULL, NULL);
	tmp_write(t, MC "mc1/ce_count", "0\n");
	finds(&l, CHANGE_DIFFERS, NULL,
	      "mc1, DIMM not known had no counters before the load, so that its rise is not known");
	assert_int_equal(l.c->now.fault, FAULT_GATE_CANNOT_LOOK);
	/* what the DIMM did is the reason that stands for the fault */
	tmp_write(t, MC "mc0/ce_count", "9\n");
	tmp_write(t, MC "mc0/dimm0/dimm_ce_count", "9\n");
	finds(&l, CHANGE_DIFFERS, NULL, "rose by 4 under load");
	assert_int_equal(l.c->now.fault, FAULT_MEMORY_CORRECTED);
	run_close(&l.run);
}

/* Of all of them: a driver that was unloaded while the benchmarks ran. */
static void test_all_members_go(void **state)
{
	struct tmp *t = *state;
	struct looking l;

	tmp_write(t, MC "mc0/ue_count", "0\n");
	begin(t, &l, "memory", &memory_errors_look, -1);
	finds(&l, CHANGE_SAME, "0", NULL);
	change_loaded(l.c);
	tree_remove(t, MC "mc0/ue_count");
	finds(&l, CHANGE_DIFFERS, NULL, "had counters before the load, and has none now");
	run_close(&l.run);
}

/* --- ports ------------------------------------------------------------------------------- */

static const struct tree_file a_port[] = {
	{"sys/bus/pci/devices/" NIC "/infiniband/mlx5_0/fw_ver", "28.39\n"},
	{PORT "state", "4: ACTIVE\n"},
	{PORT "counters/link_downed", "1\n"},
	{PORT "counters/local_link_integrity_errors", "0\n"},
	{PORT "counters/excessive_buffer_overrun_errors", "0\n"},
	{PORT "counters/symbol_error", "3\n"},
	{PORT "counters/link_error_recovery", "0\n"},
	{PORT "counters/port_rcv_errors", "0\n"},
	{PORT "hw_counters/rx_icrc_encapsulated", "0\n"},
	{PORT "hw_counters/local_ack_timeout_err", "0\n"},
};

static void test_port_without_counters(void **state)
{
	struct tmp *t = *state;

	gives(t, NIC, &port_errors_look, -1, CHANGE_FAILED, NULL, "0000:3b:00.0", FAULT_PCI_GONE);
	tmp_write(t, "sys/bus/pci/devices/" NIC "/vendor", "0x15b3\n");
	gives(t, NIC, &port_errors_look, -1, CHANGE_FAILED, NULL,
	      "no RDMA device of it (here) has error counters", FAULT_GATE_CANNOT_LOOK);
	/* as kernels before 4.10 print what the device does not have */
	tmp_write(t, "sys/bus/pci/devices/" NIC "/infiniband/mlx5_0/fw_ver", "28.39\n");
	tmp_write(t, PORT "counters/link_downed", "N/A (no PMA)\n");
	gives(t, NIC, &port_errors_look, -1, CHANGE_FAILED, NULL, "has error counters",
	      FAULT_GATE_CANNOT_LOOK);
}

static void test_port_under_load(void **state)
{
	struct tmp *t = *state;
	struct looking grave, rise;

	tree_write(t, a_port, array_len(a_port));
	begin(t, &grave, NIC, &port_errors_look, -1);
	begin(t, &rise, NIC, &port_rise_look, -1);
	/* what came before is told */
	finds(&grave, CHANGE_SAME, "mlx5_0 port 1 link_downed 1", NULL);
	finds(&rise, CHANGE_SAME, "mlx5_0 port 1 symbol_error 3", NULL);
	change_loaded(grave.c);
	change_loaded(rise.c);
	tmp_write(t, PORT "counters/link_downed", "2\n");
	finds(&grave, CHANGE_DIFFERS, NULL,
	      "mlx5_0 port 1: link_downed rose by 1 under load, to 2");
	assert_int_equal(grave.c->now.fault, FAULT_RDMA_ERRORS);
	/* two symbols a minute are those that InfiniBand allows */
	tmp_write(t, PORT "counters/symbol_error", "5\n");
	finds(&rise, CHANGE_SAME, "mlx5_0 port 1 symbol_error 5", NULL);
	tmp_write(t, PORT "counters/symbol_error", "6\n");
	finds(&rise, CHANGE_DIFFERS, NULL, "symbol_error rose by 3 under load, to 6; clean or");
	assert_int_equal(rise.c->now.fault, FAULT_RDMA_ERRORS);
	tmp_write(t, PORT "counters/symbol_error", "3\n");
	tmp_write(t, PORT "hw_counters/local_ack_timeout_err", "4\n");
	finds(&rise, CHANGE_DIFFERS, NULL,
	      "local_ack_timeout_err rose by 4 under load, to 4; packets were lost on the way");
	assert_int_equal(rise.c->now.fault, FAULT_RDMA_LOSS);
	rise.c->want.number = 4;
	finds(&rise, CHANGE_SAME, NULL, NULL);
	run_close(&grave.run);
	run_close(&rise.run);
}

/* A counter of 4 bits that has stopped is a matter of on_rise, a warning: no good node is blocked.
 */
static void test_port_that_has_stopped(void **state)
{
	struct tmp *t = *state;
	struct looking grave, rise;

	tree_write(t, a_port, array_len(a_port));
	tmp_write(t, PORT "counters/excessive_buffer_overrun_errors", "15\n");
	begin(t, &grave, NIC, &port_errors_look, -1);
	begin(t, &rise, NIC, &port_rise_look, -1);
	finds(&grave, CHANGE_SAME, NULL, NULL);
	finds(&rise, CHANGE_SAME, NULL, NULL);
	change_loaded(grave.c);
	change_loaded(rise.c);
	finds(&grave, CHANGE_SAME, NULL, NULL);
	finds(&rise, CHANGE_DIFFERS, NULL,
	      "excessive_buffer_overrun_errors stands at 15, where the counter stops, so that its "
	      "rise is not known; set the counters back (`perfquery -R`)");
	assert_int_equal(rise.c->now.fault, FAULT_GATE_CANNOT_LOOK);
	run_close(&grave.run);
	run_close(&rise.run);
}

/* A look after the verdict judges the counters that stand still in health, without a load. */
static void test_port_after_the_verdict(void **state)
{
	struct count_list before = {0};
	struct tmp *t = *state;
	struct looking l;

	tree_write(t, a_port, array_len(a_port));
	begin(t, &l, NIC, &port_errors_look, -1);
	counts_add(&before, "mlx5_0 port 1 counters/link_downed", 0, 1);
	l.c->still_before = &before;
	tmp_write(t, PORT "counters/link_downed", "2\n"); /* once: planned work */
	finds(&l, CHANGE_SAME, NULL, NULL);
	tmp_write(t, PORT "counters/symbol_error", "500\n");
	tmp_write(t, PORT "counters/link_downed", "0\n"); /* started again */
	finds(&l, CHANGE_SAME, NULL, NULL);
	tmp_write(t, PORT "counters/link_downed", "3\n");
	finds(&l, CHANGE_DIFFERS, NULL,
	      "mlx5_0 port 1: link_downed rose by 2 after the verdict, to 3; clean or replace "
	      "the cable or transceiver, and see what the switch port has counted");
	assert_int_equal(l.c->now.fault, FAULT_RDMA_ERRORS);
	/* containers and guests get a VF and give it back */
	counts_free(&l.c->still);
	l.c->on.vf = 0;
	assert_int_equal(change_count_still(l.c, "mlx5_0 port 1 counters/link_downed", 9, 1), 0);
	assert_int_equal(l.c->still.list.n, 0);
	counts_free(&before);
	run_close(&l.run);
}

/* Soft-RoCE, which has hw_counters alone, and a driver that is gone. */
static void test_port_of_a_netdev(void **state)
{
	struct tmp *t = *state;
	struct looking l;

	tmp_write(t, "sys/bus/pci/devices/" NIC "/net/eth0/ifindex", "3\n");
	tmp_write(t, "sys/class/infiniband/rxe0/parent", "eth0\n");
	tmp_write(t, "sys/class/infiniband/rxe0/ports/1/hw_counters/link_downed", "0\n");
	begin(t, &l, NIC, &port_errors_look, -1);
	finds(&l, CHANGE_SAME, "0", NULL);
	change_loaded(l.c);
	tmp_write(t, "sys/class/infiniband/rxe0/ports/1/hw_counters/link_downed", "1\n");
	finds(&l, CHANGE_DIFFERS, NULL, "rxe0 port 1: link_downed rose by 1");
	/* said once of a port, however many of its counters are missing */
	tmp_write(t, "sys/class/infiniband/rxe0/ports/1/counters/link_downed", "0\n");
	tmp_write(t, "sys/class/infiniband/rxe0/ports/1/counters/local_link_integrity_errors",
		  "0\n");
	finds(&l, CHANGE_DIFFERS, NULL,
	      "rxe0 port 1: link_downed rose by 1 under load, to 1; rxe0 port 1 "
	      "had no counters before the load, so that its rise is not known; clean");
	tree_remove(t, "sys/class/infiniband/rxe0/ports/1/hw_counters/link_downed");
	finds(&l, CHANGE_DIFFERS, NULL, "rxe0 port 1 had counters before the load");
	run_close(&l.run);
}

/* --- heat -------------------------------------------------------------------------------- */

static void test_heat(void **state)
{
	struct tmp *t = *state;
	struct looking l;

	gives(t, "cpus", &throttling_look, -1, CHANGE_FAILED, NULL,
	      "the kernel does not count throttling here", FAULT_GATE_CANNOT_LOOK);
	for (int i = 0; i < 4; i++) {
		cleanup_free char *dir = xasprintf(CPU "%d", i);
		cleanup_free char *core = xasprintf("%s/thermal_throttle/core_throttle_count", dir);
		cleanup_free char *package =
			xasprintf("%s/thermal_throttle/package_throttle_count", dir);
		cleanup_free char *id = xasprintf("%s/topology/physical_package_id", dir);

		tmp_write(t, core, "0\n");
		tmp_write(t, package, i == 0 ? "7\n" : i == 1 ? "6\n" : "0\n");
		tmp_write(t, id, i < 2 ? "0\n" : "1\n");
	}
	begin(t, &l, "cpus", &throttling_look, -1);
	/* each thread counts what its package does: once is enough */
	finds(&l, CHANGE_SAME, "package 0 package_throttle_count 7", NULL);
	change_loaded(l.c);
	tmp_write(t, CPU "3/thermal_throttle/core_throttle_count", "2\n");
	tmp_write(t, CPU "3/thermal_throttle/package_throttle_count", "1\n");
	finds(&l, CHANGE_DIFFERS, NULL,
	      "package 1: package_throttle_count rose by 1 under load, to 1; CPU 3: "
	      "core_throttle_count rose by 2 under load, to 2; the CPU is too hot");
	assert_int_equal(l.c->now.fault, FAULT_CPU_THROTTLED);
	run_close(&l.run);
}

/* --- drives ------------------------------------------------------------------------------ */

static uint8_t health_log[512];
static int drive_says; /* what the ioctl returns */

static int a_drive(const struct nvme_passthru_cmd *cmd)
{
	/* Get Log Page 02h of the whole controller, 128 dwords, and nothing else */
	assert_int_equal(cmd->opcode, 2);
	assert_int_equal(cmd->nsid, 0xffffffff);
	assert_int_equal(cmd->cdw10, 0x007f0002);
	assert_int_equal(cmd->cdw11 | cmd->cdw12 | cmd->cdw13, 0);
	assert_int_equal(cmd->data_len, sizeof(health_log));
	if (drive_says == 0)
		memcpy((void *)(uintptr_t)cmd->addr, health_log, sizeof(health_log));
	errno = EACCES;
	return drive_says;
}

static int setup_drive(void **state)
{
	int r = setup(state);

	if (r < 0)
		return r;
	memset(health_log, 0, sizeof(health_log));
	health_log[3] = 100; /* spare blocks, percent */
	drive_says = 0;
	test_nvme(a_drive);
	tmp_write(*state, "sys/bus/pci/devices/" DRIVE "/nvme/nvme0/state", "live\n");
	tmp_write(*state, "dev/nvme0", "");
	return 0;
}

static int teardown_drive(void **state)
{
	test_nvme(NULL);
	return tmp_teardown(state);
}

static void test_drive_warns(void **state)
{
	static const struct {
		enum fault fault;
		const char *text;
	} bits[8] = {
		{FAULT_STORAGE_FAILING, "nvme0: its spare blocks are used up to their threshold"},
		{FAULT_STORAGE_HOT, "nvme0: its temperature is beyond a threshold; check fans"},
		{FAULT_STORAGE_FAILING, "nvme0: its reliability is degraded by media or internal"},
		{FAULT_STORAGE_FAILING, "nvme0: it is read-only; back up the drive"},
		{FAULT_STORAGE_FAILING, "nvme0: the backup of its volatile memory has failed"},
		{FAULT_STORAGE_FAILING, "nvme0: its persistent memory region is unreliable"},
		{FAULT_STORAGE_FAILING,
		 "nvme0: a critical warning that railhead does not know (bit "
		 "6)"},
		{FAULT_STORAGE_FAILING,
		 "nvme0: a critical warning that railhead does not know (bit "
		 "7)"},
	};
	struct tmp *t = *state;

	gives(t, DRIVE, &nvme_health_look, -1, CHANGE_SAME, "0", NULL, 0);
	for (size_t i = 0; i < array_len(bits); i++) {
		health_log[0] = (uint8_t)(1 << i);
		gives(t, DRIVE, &nvme_health_look, -1, CHANGE_DIFFERS, NULL, bits[i].text,
		      bits[i].fault);
	}
	/* hands are needed for one of the two */
	health_log[0] = 6;
	gives(t, DRIVE, &nvme_health_look, -1, CHANGE_DIFFERS, NULL, "; nvme0: its reliability",
	      FAULT_STORAGE_FAILING);
}

static void test_drive_wears(void **state)
{
	struct tmp *t = *state;
	struct looking l;

	health_log[5] = 91;
	gives(t, DRIVE, &nvme_wear_look, 91, CHANGE_SAME, "nvme0 percentage_used 91", NULL, 0);
	gives(t, DRIVE, &nvme_wear_look, 90, CHANGE_DIFFERS, NULL,
	      "nvme0: percentage_used 91; plan to replace the drive", FAULT_STORAGE_WORN);
	health_log[160] = 0xff;
	health_log[161] = 1;
	begin(t, &l, DRIVE, &nvme_rise_look, -1);
	finds(&l, CHANGE_SAME, "nvme0 media_errors 511", NULL);
	change_loaded(l.c);
	health_log[161] = 2;
	finds(&l, CHANGE_DIFFERS, NULL,
	      "nvme0: media_errors rose by 256 under load, to 767; back up");
	run_close(&l.run);
}

/* A warning that is over is no counter that fell. */
static void test_drive_cools(void **state)
{
	struct tmp *t = *state;
	struct looking l;

	health_log[0] = 2;
	begin(t, &l, DRIVE, &nvme_health_look, -1);
	finds(&l, CHANGE_DIFFERS, "nvme0 its temperature is beyond a threshold", NULL);
	change_loaded(l.c);
	health_log[0] = 0;
	finds(&l, CHANGE_SAME, "0", NULL);
	run_close(&l.run);
}

static void test_drive_is_silent(void **state)
{
	struct tmp *t = *state;

	drive_says = 0x4002; /* "do not retry", "invalid field" */
	gives(t, DRIVE, &nvme_health_look, -1, CHANGE_FAILED, NULL,
	      "/dev/nvme0 rejects the request for its health log: status 0x4002",
	      FAULT_GATE_CANNOT_LOOK);
	drive_says = -1;
	gives(t, DRIVE, &nvme_health_look, -1, CHANGE_FAILED, NULL,
	      "/dev/nvme0: its health log: Permission denied", FAULT_GATE_CANNOT_LOOK);
	tree_remove(t, "dev/nvme0");
	gives(t, DRIVE, &nvme_health_look, -1, CHANGE_FAILED, NULL, "/dev/nvme0",
	      FAULT_GATE_CANNOT_LOOK);
	tree_remove(t, "sys/bus/pci/devices/" DRIVE "/nvme/nvme0/state");
	tree_remove(t, "sys/bus/pci/devices/" DRIVE "/nvme/nvme0");
	gives(t, DRIVE, &nvme_health_look, -1, CHANGE_FAILED, NULL, "it has no NVMe controller",
	      FAULT_GATE_CANNOT_LOOK);
	t->root.live = false; /* and nobody asks the drive of another machine */
	gives(t, DRIVE, &nvme_health_look, -1, CHANGE_UNSUPPORTED, NULL, "a captured tree", 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, tmp_teardown)
#define TEST_DRIVE(f) cmocka_unit_test_setup_teardown(f, setup_drive, teardown_drive)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_memory_is_silent_or_not), TEST(test_memory_lost_data),
		TEST(test_memory_nobody_counts),    TEST(test_memory_of_other_kernels),
		TEST(test_memory_under_load),	    TEST(test_counters_begin_again),
		TEST(test_members_come_and_go),	    TEST(test_all_members_go),
		TEST(test_port_without_counters),   TEST(test_port_under_load),
		TEST(test_port_that_has_stopped),   TEST(test_port_after_the_verdict),
		TEST(test_port_of_a_netdev),	    TEST(test_heat),
		TEST_DRIVE(test_drive_warns),	    TEST_DRIVE(test_drive_wears),
		TEST_DRIVE(test_drive_cools),	    TEST_DRIVE(test_drive_is_silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
