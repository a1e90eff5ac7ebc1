/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DCQCN, ToS and traffic class: which vendor's files, in which format, and what is said where there
 * are none. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/run.h"
#include "kinds/kind.h"
#include "qos_change.h"
#include "sys/clock.h"
#include "reason.h"
#include "tree.h"

#define PF "0000:3b:00.0"
#define PF_DIR "sys/bus/pci/devices/" PF "/"
#define ECN PF_DIR "net/rail0/ecn/"
#define CC "sys/kernel/debug/mlx5/" PF "/cc_params/"
#define BNXT "sys/kernel/config/bnxt_re/"
#define IRDMA "sys/kernel/config/irdma/"
#define TOS "sys/kernel/config/rdma_cm/rdma0/ports/1/default_roce_tos"
#define CLASS PF_DIR "infiniband/rdma0/tc/1/traffic_class"

static const struct tree_file machine[] = {
	{PF_DIR "driver", "->../../../../bus/pci/drivers/mlx5_core"},
	{PF_DIR "net/rail0/ifindex", "7\n"},
	{PF_DIR "infiniband/rdma0/node_guid", "0\n"},
	{"sys/class/net/rail0", "->../../bus/pci/devices/" PF "/net/rail0"},
	{"sys/class/infiniband/rdma0", "->../../bus/pci/devices/" PF "/infiniband/rdma0"},
	{"sys/module/mlx5_ib/initstate", "live\n"},
	{"sys/module/bnxt_re/initstate", "live\n"},
	{"sys/module/irdma/initstate", "live\n"},
	{"sys/module/rdma_cm/initstate", "live\n"},
};

static int setup(void **state)
{
	return live_setup(state, machine, array_len(machine));
}

static int teardown(void **state)
{
	kinds_forget(NULL);
	return tmp_teardown(state);
}

static void is_driver(struct tmp *t, const char *driver)
{
	cleanup_free char *link = xasprintf("../../../../bus/pci/drivers/%s", driver);

	tree_link(t, PF_DIR "driver", link);
}

static struct change *add(struct run *run, const char *key, const char *desired)
{
	return qos_add(run, PF, key, desired);
}

/* One change, looked at and set if it differs; its state, and its reason or what is there. */
static void gives(struct tmp *t, const char *key, const char *desired, enum change_state want,
		  const char *text)
{
	struct run run = {.root = &t->root};
	struct change *c = add(&run, key, desired);

	apply_devices(&run);
	if (c->now.state != want)
		fail_msg("%s %s is %s: %s; %s", key, desired, state_name(c->now.state),
			 c->now.found, reason_of(c) ? reason_of(c) : "no reason");
	if (want == CHANGE_SAME || want == CHANGE_SET)
		assert_string_equal(c->now.found, text ? text : desired);
	else
		assert_text(reason_of(c), text);
	run_close(&run);
}

/* Set, and then the same. */
static void sets(struct tmp *t, const char *key, const char *desired)
{
	gives(t, key, desired, CHANGE_SET, NULL);
	gives(t, key, desired, CHANGE_SAME, NULL);
}

static void looks(struct tmp *t, const char *key, const char *desired, const char *observed)
{
	struct run run = {.root = &t->root};
	struct change *c = add(&run, key, desired);

	run_look(&run, STAGES_ALL, STAGE_DEVICES);
	assert_int_equal(c->now.state, CHANGE_DIFFERS);
	assert_string_equal(c->now.found, observed);
	run_close(&run);
}

/* A kernel attribute's write cuts nothing off, a plain file's does only below another root. */
static void files_are_plain(struct tmp *t)
{
	t->root.live = false;
}

/* --- DOCA-OFED -------------------------------------------------------------------------------- */

static void make_ofed(struct tmp *t)
{
	tmp_write(t, ECN "roce_np/cnp_dscp", "48\n");
	tmp_write(t, ECN "roce_np/min_time_between_cnps", "0\n");
	tmp_write(t, ECN "roce_rp/rpg_ai_rate", "5\n");
	for (unsigned int i = 0; i < 8; i++) {
		cleanup_free char *np = xasprintf(ECN "roce_np/enable/%u", i);
		cleanup_free char *rp = xasprintf(ECN "roce_rp/enable/%u", i);

		tmp_write(t, np, "1\n");
		tmp_write(t, rp, i == 3 ? "0\n" : "1\n");
	}
}

static void test_ofed(void **state)
{
	struct tmp *t = *state;

	make_ofed(t);
	files_are_plain(t);
	gives(t, "dcqcn.np.cnp_dscp", "48", CHANGE_SAME, NULL);
	sets(t, "dcqcn.np.cnp_dscp", "4");
	assert_string_equal(tree_text(t, ECN "roce_np/cnp_dscp"), "4"); /* decimal */
	sets(t, "dcqcn.rp.rpg_ai_rate", "100");
	looks(t, "dcqcn.priorities", "3", "roce_np 0 1 2 3 4 5 6 7, roce_rp 0 1 2 4 5 6 7");
	sets(t, "dcqcn.priorities", "3");
	assert_string_equal(tree_text(t, ECN "roce_rp/enable/3"), "1");
	assert_string_equal(tree_text(t, ECN "roce_np/enable/2"), "0");
	sets(t, "dcqcn.priorities", "0 7");
	sets(t, "dcqcn.priorities", "none");
}

static void test_ofed_faults(void **state)
{
	struct tmp *t = *state;

	make_ofed(t);
	/* a query that the firmware failed */
	tmp_write(t, ECN "roce_np/cnp_dscp", "");
	gives(t, "dcqcn.np.cnp_dscp", "48", CHANGE_FAILED, "reads empty: the firmware failed");
	tmp_write(t, ECN "roce_np/enable/5", "");
	gives(t, "dcqcn.priorities", "3", CHANGE_FAILED, "roce_np/enable/5 reads empty");
	tmp_write(t, ECN "roce_rp/rpg_ai_rate", "fast\n");
	gives(t, "dcqcn.rp.rpg_ai_rate", "5", CHANGE_FAILED, "'fast' is not a number");
	/* an older one has not all */
	gives(t, "dcqcn.rp.rpg_gd", "11", CHANGE_FAILED,
	      "rpg_gd: DOCA-OFED's mlx5 has no such file; leave dcqcn.rp.rpg_gd out, or name dcqcn "
	      "in");
}

/* --- the kernel's mlx5 ------------------------------------------------------------------------ */

static void test_upstream(void **state)
{
	struct tmp *t = *state;

	tmp_write(t, CC "np_cnp_dscp", "48\n");
	tmp_write(t, CC "np_cnp_prio", "6\n");
	tmp_write(t, CC "np_cnp_prio_mode", "1\n");
	tmp_write(t, CC "rp_clamp_tgt_rate_ati", "1\n");
	gives(t, "dcqcn.np.cnp_dscp", "48", CHANGE_SAME, NULL);
	gives(t, "dcqcn.rp.clamp_tgt_rate_after_time_inc", "1", CHANGE_SAME, NULL);
	/* the right priority, which does not count; the driver would make the mode 0 */
	looks(t, "dcqcn.np.cnp_802p_prio", "6", "6, unused: np_cnp_prio_mode is 1");
	tmp_write(t, CC "np_cnp_prio_mode", "0\n");
	gives(t, "dcqcn.np.cnp_802p_prio", "6", CHANGE_SAME, NULL);
	gives(t, "dcqcn.priorities", "3", CHANGE_FAILED,
	      "mlxconfig -d " PF " set ROCE_CC_PRIO_MASK_P1=MASK");
	gives(t, "traffic_class", "106", CHANGE_FAILED, "only DOCA-OFED's mlx5 can force it");
	files_are_plain(t);
	sets(t, "dcqcn.np.cnp_dscp", "4");
}

static void test_nothing_there(void **state)
{
	struct tmp *t = *state;

	gives(t, "dcqcn.np.cnp_dscp", "48", CHANGE_FAILED,
	      "neither DOCA-OFED's files (/sys/class/net/rail0/ecn)");
	gives(t, "dcqcn.priorities", "3", CHANGE_FAILED, "ROCE_CC_PRIO_MASK_P1");
	/* its RDMA half makes them */
	tmp_write(t, "sys/module/mlx5_ib/initstate", "coming\n");
	gives(t, "dcqcn.np.cnp_dscp", "48", CHANGE_WAITS, "mlx5_ib of " PF " is not loaded");
	gives(t, "dcqcn.priorities", "3", CHANGE_WAITS, "mlx5_ib of " PF " is not loaded");
	tree_remove(t, PF_DIR "driver");
	gives(t, "dcqcn.np.cnp_dscp", "48", CHANGE_WAITS, "no driver (yet)");
	/* nobody can tell of a tree what a driver would make in it */
	is_driver(t, "mlx5_core");
	tmp_write(t, "sys/module/mlx5_ib/initstate", "live\n");
	files_are_plain(t);
	looks(t, "dcqcn.np.cnp_dscp", "48", "unknown");
	is_driver(t, "e1000e");
	gives(t, "dcqcn.priorities", "3", CHANGE_FAILED, "railhead cannot set it with the driver");
}

/* --- configfs --------------------------------------------------------------------------------- */

static void test_bnxt(void **state)
{
	struct tmp *t = *state;

	is_driver(t, "bnxt_en");
	tmp_write(t, BNXT "rdma0/ports/1/cc/cnp_dscp", "0x30\n");
	tmp_write(t, BNXT "rdma0/ports/1/cc/cnp_prio", "0x7\n");
	tmp_write(t, BNXT "rdma0/ports/1/cc/roce_dscp", "0x0\n");
	tmp_write(t, BNXT "rdma0/ports/1/cc/ecn_marking", "0x0\n");
	tmp_write(t, BNXT "rdma0/ports/1/cc/ecn_enable", "0x1\n");
	tmp_write(t, BNXT "rdma0/ports/1/cc/cc_mode", "0x0\n");
	tmp_write(t, BNXT "rdma0/ports/1/cc/apply", "0x0\n");
	files_are_plain(t);
	gives(t, "dcqcn.np.cnp_dscp", "48", CHANGE_SAME, NULL);
	sets(t, "dcqcn.np.cnp_dscp", "26");
	assert_string_equal(tree_text(t, BNXT "rdma0/ports/1/cc/cnp_dscp"), "0x1a");
	assert_string_equal(tree_text(t, BNXT "rdma0/ports/1/cc/apply"), "0x1");
	tmp_write(t, BNXT "rdma0/ports/1/cc/apply", "0x0\n");
	sets(t, "dcqcn.priorities", "3");
	assert_string_equal(tree_text(t, BNXT "rdma0/ports/1/cc/cc_mode"), "0x1");
	assert_string_equal(tree_text(t, BNXT "rdma0/ports/1/cc/ecn_marking"), "0x1");
	assert_string_equal(tree_text(t, BNXT "rdma0/ports/1/cc/apply"), "0x1");
	/* a ToS byte, of which the file has the DSCP */
	sets(t, "traffic_class", "106");
	assert_string_equal(tree_text(t, BNXT "rdma0/ports/1/cc/roce_dscp"), "0x1a");
	gives(t, "dcqcn.rp.rpg_gd", "11", CHANGE_FAILED, "no such parameter");
	tree_remove(t, BNXT "rdma0/ports/1/cc/cc_mode");
	gives(t, "dcqcn.priorities", "3", CHANGE_FAILED, "cc_mode: Broadcom's bnxt_re has no");
}

static void test_configfs_of_a_tree(void **state)
{
	struct tmp *t = *state;

	files_are_plain(t);
	is_driver(t, "ice");
	tmp_write(t, IRDMA "README", "");
	looks(t, "dcqcn.priorities", "3", "unknown");
	tmp_write(t, IRDMA "rdma0/roce_dcqcn_enable", "0\n");
	sets(t, "dcqcn.priorities", "3");
	gives(t, "dcqcn.rp.rpg_gd", "11", CHANGE_FAILED, "options of Intel's own module");
	looks(t, "roce_tos", "106", "unknown");
	tmp_write(t, TOS, "0\n");
	sets(t, "roce_tos", "106");
}

static void test_inbox_has_none(void **state)
{
	struct tmp *t = *state;

	is_driver(t, "bnxt_en");
	gives(t, "dcqcn.np.cnp_dscp", "48", CHANGE_FAILED, "install Broadcom's bnxt_re");
	is_driver(t, "ice");
	gives(t, "dcqcn.priorities", "3", CHANGE_FAILED, "irdma keeps DCQCN off");
	gives(t, "traffic_class", "106", CHANGE_FAILED, "write roce_tos");
	is_driver(t, "ionic");
	gives(t, "dcqcn.np.cnp_dscp", "48", CHANGE_FAILED, "nicctl update dcqcn");
	gives(t, "dcqcn.priorities", "3", CHANGE_FAILED, "nicctl");
	gives(t, "traffic_class", "106", CHANGE_FAILED, "nicctl");
}

/* A window is opened for the time of a look or a set, and nothing of it stays. */
static void test_node_is_removed(void **state)
{
	struct tmp *t = *state;

	tmp_write(t, "sys/kernel/config/rdma_cm/other/ports/1/default_roce_tos", "0\n");
	gives(t, "roce_tos", "106", CHANGE_FAILED, "default_roce_tos: rdma_cm has no such file");
	assert_false(tree_has(t, "sys/kernel/config/rdma_cm/rdma0"));
	assert_true(tree_has(t, "sys/kernel/config/rdma_cm/other"));
	/* one that somebody has made is left to him */
	tmp_write(t, TOS, "106\n");
	gives(t, "roce_tos", "106", CHANGE_SAME, NULL);
	assert_true(tree_has(t, TOS));
}

/* --- ToS and traffic class -------------------------------------------------------------------- */

static void test_tos(void **state)
{
	struct tmp *t = *state;

	gives(t, "roce_tos", "106", CHANGE_FAILED, "systemctl start sys-kernel-config.mount");
	tree_remove(t, PF_DIR "infiniband/rdma0/node_guid");
	tree_remove(t, PF_DIR "infiniband/rdma0");
	gives(t, "roce_tos", "106", CHANGE_UNSUPPORTED, "in another network namespace");
	tree_remove(t, PF_DIR "infiniband");
	gives(t, "roce_tos", "106", CHANGE_WAITS, "no RDMA device (yet)");
}

/* rxe hangs below no function; it says whose netdev it is on. */
static void test_tos_of_soft_roce(void **state)
{
	struct tmp *t = *state;

	files_are_plain(t);
	is_driver(t, "virtio-pci");
	tree_remove(t, PF_DIR "infiniband/rdma0/node_guid");
	tree_remove(t, PF_DIR "infiniband/rdma0");
	tree_remove(t, PF_DIR "infiniband");
	tree_remove(t, "sys/class/infiniband/rdma0");
	tmp_write(t, "sys/class/infiniband/rxe0/parent", "other0\n");
	tmp_write(t, "sys/class/infiniband/rxe1/parent", "rail0\n");
	tmp_write(t, "sys/kernel/config/rdma_cm/rxe0/ports/1/default_roce_tos", "0\n");
	tmp_write(t, "sys/kernel/config/rdma_cm/rxe1/ports/1/default_roce_tos", "0\n");
	sets(t, "roce_tos", "106");
	assert_string_equal(tree_text(t, "sys/kernel/config/rdma_cm/rxe0/ports/1/default_roce_tos"),
			    "0\n");
}

static void test_class(void **state)
{
	struct tmp *t = *state;

	tmp_write(t, CLASS, "");
	looks(t, "traffic_class", "106", "unset");
	tmp_write(t, CLASS, "Global tclass=106\nsrc_ip=192.0.2.1,tclass=8\n");
	gives(t, "traffic_class", "106", CHANGE_SAME, NULL);
	looks(t, "traffic_class", "104", "106");
	files_are_plain(t);
	gives(t, "traffic_class", "104", CHANGE_FAILED, "was set, but reads back 'unset'");
	assert_string_equal(tree_text(t, CLASS), "104");
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_ofed),
		TEST(test_ofed_faults),
		TEST(test_upstream),
		TEST(test_nothing_there),
		TEST(test_bnxt),
		TEST(test_configfs_of_a_tree),
		TEST(test_inbox_has_none),
		TEST(test_node_is_removed),
		TEST(test_tos),
		TEST(test_class),
		TEST(test_tos_of_soft_roce),
	};

	return cmocka_run_group_tests_name("kinds/roce", tests, NULL, NULL);
}
