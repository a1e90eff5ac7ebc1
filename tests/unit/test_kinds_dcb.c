/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DCB against a kernel made up, with the rules of four drivers: what is sent, and what is said. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/run.h"
#include "fake_dcb.h"
#include "kinds/kind.h"
#include "qos_change.h"
#include "sys/clock.h"
#include "reason.h"
#include "tree.h"

#define PF "0000:3b:00.0"
#define PF_DIR "sys/bus/pci/devices/" PF "/"

static const struct tree_file machine[] = {
	{PF_DIR "driver", "->../../../../bus/pci/drivers/mlx5_core"},
	{PF_DIR "net/a_rep/ifindex", "12\n"},
	{PF_DIR "net/rail0/ifindex", "7\n"},
};

static int setup(void **state)
{
	int r = live_setup(state, machine, array_len(machine));

	if (r == 0)
		fake_begin();
	return r;
}

static int teardown(void **state)
{
	kinds_forget(NULL);
	fake_end();
	return tmp_teardown(state);
}

static void is_driver(struct tmp *t, enum fake_driver driver)
{
	static const char *const names[] = {[MLX5] = "mlx5_core",
					    [ICE] = "ice",
					    [BNXT] = "bnxt_en",
					    [TRUSTING] = "lan966x-switch",
					    [NONE] = "ionic"};
	cleanup_free char *link = xasprintf("../../../../bus/pci/drivers/%s", names[driver]);

	fake->driver = driver;
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

	fake->orders = 0;
	apply_devices(&run);
	if (c->now.state != want)
		fail_msg("%s %s is %s: %s; %s", key, desired, state_name(c->now.state),
			 c->now.found, reason_of(c) ? reason_of(c) : "no reason");
	if (want == CHANGE_SAME || want == CHANGE_SET)
		assert_string_equal(c->now.found, text ? text : desired);
	else
		assert_text(reason_of(c), text);
	if (want == CHANGE_SAME)
		assert_int_equal(fake->orders, 0);
	run_close(&run);
}

/* Set, and then the same without an order. */
static void sets(struct tmp *t, const char *key, const char *desired)
{
	gives(t, key, desired, CHANGE_SET, NULL);
	gives(t, key, desired, CHANGE_SAME, NULL);
}

/* --- PFC ------------------------------------------------------------------------------------- */

static void test_pfc(void **state)
{
	struct tmp *t = *state;

	fake->pfc.requests[3] = 77;
	sets(t, "pfc", "3");
	assert_int_equal(fake->pfc.pfc_en, 1 << 3);
	/* read, changed and sent: what else there was stays */
	assert_int_equal(fake->pfc.delay, 7);
	assert_int_equal(fake->pfc.mbc, 1);
	assert_int_equal(fake->bounces, 1);
	sets(t, "pfc", "0 3 7");
	assert_int_equal(fake->pfc.pfc_en, 1 | 1 << 3 | 1 << 7);
	sets(t, "pfc", "none");
	assert_int_equal(fake->pfc.pfc_en, 0);
	assert_int_equal(fake->bounces, 3);
}

/* The link is taken down for what is new only. */
static void test_pfc_never_bounces_for_nothing(void **state)
{
	struct tmp *t = *state;

	fake->pfc.pfc_en = 1 << 3;
	gives(t, "pfc", "3", CHANGE_SAME, NULL);
	fake->pause_rx = true;
	gives(t, "pfc", "3", CHANGE_SET, NULL);
	assert_int_equal(fake->orders, 1); /* pause alone */
	assert_int_equal(fake->bounces, 0);
}

static void test_pause_goes_first(void **state)
{
	struct tmp *t = *state;
	struct run run = {.root = &t->root};
	struct change *c = add(&run, "pfc", "3");

	fake->pause_rx = fake->pause_tx = true;
	run_look(&run, STAGES_ALL, STAGE_DEVICES);
	assert_string_equal(c->now.found, "none and global pause");
	run_close(&run);
	sets(t, "pfc", "3");
	assert_false(fake->pause_rx || fake->pause_tx);
	fake->pause_rx = fake->pause_tx = fake->pause_negotiated = true;
	gives(t, "pfc", "3", CHANGE_SET, NULL);
	assert_false(fake->pause_rx || fake->pause_tx || fake->pause_negotiated);
	is_driver(t, ICE);
	fake->pause_rx = fake->pause_tx = fake->pause_negotiated = true;
	gives(t, "pfc", "3", CHANGE_SET, NULL);
	assert_false(fake->pause_rx || fake->pause_tx);
	assert_true(fake->pause_negotiated);
	is_driver(t, MLX5);
	/* without PFC it is nobody's business */
	fake->pause_rx = true;
	gives(t, "pfc", "none", CHANGE_SET, NULL);
	assert_true(fake->pause_rx);
	/* a kernel that does not say */
	fake->no_ethtool = true;
	gives(t, "pfc", "3", CHANGE_SET, NULL);
}

/* A positive word is what ice did, and no refusal. */
static void test_positive_is_success(void **state)
{
	struct tmp *t = *state;

	is_driver(t, ICE);
	sets(t, "pfc", "3");
}

static void test_cable_length(void **state)
{
	struct tmp *t = *state;

	fake->pfc.pfc_en = 1 << 3;
	sets(t, "cable_length", "40");
	assert_int_equal(fake->pfc.pfc_en, 1 << 3);
	assert_int_equal(fake->bounces, 0);
	/* who does not count in metres keeps its own */
	is_driver(t, ICE);
	gives(t, "cable_length", "5", CHANGE_FAILED, "accepted cable_length 5 but kept 40");
}

/* --- what is not there ------------------------------------------------------------------------ */

static void test_not_offered(void **state)
{
	struct tmp *t = *state;

	fake->no_pfc = fake->no_ets = fake->no_buffer = true;
	gives(t, "pfc", "3", CHANGE_FAILED,
	      PF " (rail0): the driver mlx5_core offers no priority flow control by DCB; leave "
		 "qos.SET.pfc out, or name it in qos.SET.optional");
	gives(t, "ets", "priorities 3:3", CHANGE_FAILED, "offers no transmission selection");
	gives(t, "buffers", "priorities 3:1", CHANGE_FAILED, "offers no buffers");
	assert_int_equal(fake->orders, 0);
	is_driver(t, NONE);
	gives(t, "pfc", "3", CHANGE_FAILED, "nicctl update qos");
	gives(t, "dcbx", "host", CHANGE_FAILED, "nicctl update qos");
	tree_link(t, PF_DIR "driver", "../../../../bus/pci/drivers/e1000e");
	gives(t, "trust", "dscp", CHANGE_FAILED, "the driver e1000e offers no DCB");
}

/* dcbnl skips what the driver has no function for, and says that all is well. */
static void test_silently_skipped(void **state)
{
	struct tmp *t = *state;
	struct run run = {.root = &t->root};
	struct change *c = add(&run, "pfc", "3");

	fake->deaf = true;
	gives(t, "pfc", "3", CHANGE_FAILED,
	      "driver mlx5_core accepted pfc 3 but kept none, because it has no function");
	gives(t, "buffers", "priorities 3:1", CHANGE_FAILED, "but kept priorities 3:0");
	c->optional = true;
	apply_devices(&run);
	assert_int_equal(c->now.state, CHANGE_UNSUPPORTED);
	run_close(&run);
}

static void test_no_netdev(void **state)
{
	struct tmp *t = *state;

	tree_remove(t, PF_DIR "net/rail0/ifindex");
	tree_remove(t, PF_DIR "net/rail0");
	tree_remove(t, PF_DIR "net/a_rep/ifindex");
	tree_remove(t, PF_DIR "net/a_rep");
	gives(t, "pfc", "3", CHANGE_UNSUPPORTED, "in another network namespace");
	tree_remove(t, PF_DIR "net");
	gives(t, "pfc", "3", CHANGE_WAITS, "has no netdev (yet)");
	assert_int_equal(fake->questions, 0);
}

static void test_elsewhere(void **state)
{
	struct tmp *t = *state;
	struct run run = {.root = &t->root};
	struct change *c = add(&run, "trust", "dscp");

	t->root.live = false;
	run_look(&run, STAGES_ALL, STAGE_COUNT);
	assert_int_equal(c->now.state, CHANGE_DIFFERS);
	assert_string_equal(c->now.found, "unknown");
	apply_devices(&run);
	assert_int_equal(c->now.state, CHANGE_UNSUPPORTED);
	assert_int_equal(fake->questions + fake->orders, 0);
	run_close(&run);
}

/* All that is to be known of a port is asked in one question; rtnl is waited for once. */
static void test_asked_once(void **state)
{
	struct tmp *t = *state;
	struct run run = {.root = &t->root};

	add(&run, "dcbx", "host");
	add(&run, "trust", "dscp");
	add(&run, "pfc", "3");
	add(&run, "ets", "priorities 0:0");
	run_look(&run, STAGES_ALL, STAGE_DEVICES);
	assert_int_equal(fake->questions, 1);
	fake->silent = true;
	run_look(&run, STAGES_ALL, STAGE_DEVICES);
	for (size_t i = 0; i < run.plan.list.n; i++)
		assert_int_equal(run.plan.list.v[i]->now.state, CHANGE_FAILED);
	assert_int_equal(fake->questions, 2);
	run_close(&run);
}

/* --- trust ------------------------------------------------------------------------------------ */

static void test_trust_is_an_entry(void **state)
{
	struct tmp *t = *state;

	gives(t, "trust", "pcp", CHANGE_SAME, NULL);
	sets(t, "trust", "dscp");
	assert_true(fake->trusts_dscp);
	assert_int_equal(fake->apps, 1);
	assert_int_equal(fake->app[0].protocol, 0);
	assert_int_equal(fake->app[0].priority, 0);
	/* all go, each with the priority that it has */
	gives(t, "dscp_map", "26:3 48:6", CHANGE_SET, NULL);
	sets(t, "trust", "pcp");
	assert_false(fake->trusts_dscp);
	assert_int_equal(fake->apps, 0);
}

static void test_trust_comes_with_the_map(void **state)
{
	struct tmp *t = *state;

	sets(t, "dscp_map", "26:3");
	gives(t, "trust", "dscp", CHANGE_SAME, NULL);
	assert_int_equal(fake->apps, 1); /* no 0:0 beside it */
}

static void test_trust_of_a_function_that_may_not(void **state)
{
	struct tmp *t = *state;

	fake->no_manager = true;
	gives(t, "trust", "dscp", CHANGE_FAILED,
	      PF " (rail0): driver mlx5_core rejects trust dscp: this function does not manage "
		 "its port");
}

static void test_trust_table(void **state)
{
	struct tmp *t = *state;

	is_driver(t, TRUSTING);
	fake->trust[0] = DCB_SELECTOR_PCP;
	fake->trusts = 1;
	gives(t, "dscp_map", "26:3", CHANGE_SET, NULL);
	/* entries alone are no trust there */
	gives(t, "trust", "pcp", CHANGE_SAME, NULL);
	sets(t, "trust", "dscp");
	assert_int_equal(fake->trusts, 2);
	assert_int_equal(fake->trust[0], IEEE_8021QAZ_APP_SEL_DSCP);
	assert_int_equal(fake->trust[1], DCB_SELECTOR_PCP);
	sets(t, "trust", "pcp");
	assert_int_equal(fake->trusts, 1);
	assert_int_equal(fake->apps, 1);
	fake->trust[0] = IEEE_8021QAZ_APP_SEL_DSCP;
	sets(t, "trust", "pcp"); /* nobody is left: PCP */
	assert_int_equal(fake->trust[0], DCB_SELECTOR_PCP);
}

/* --- dscp_map --------------------------------------------------------------------------------- */

static void test_map(void **state)
{
	static const enum fake_driver drivers[] = {MLX5, ICE, BNXT};
	struct tmp *t = *state;

	for (size_t i = 0; i < array_len(drivers); i++) {
		is_driver(t, drivers[i]);
		fake->apps = 0;
		memset(fake->dscp2prio, 0, sizeof(fake->dscp2prio));
		sets(t, "dscp_map", "24:3 26:3 48:6");
		assert_int_equal(fake->dscp2prio[26], 3);
		/* another priority: ice refuses a second entry, bnxt would keep both */
		sets(t, "dscp_map", "26:4 46:5");
		assert_int_equal(fake->dscp2prio[26], 4);
		assert_int_equal(fake_of_dscp(26), 1);
		/* what the profile does not name stays */
		assert_int_equal(fake->dscp2prio[48], 6);
		assert_int_equal(fake->apps, 4);
	}
}

/* Remapping the only entry does not let trust fall on mlx5. */
static void test_map_keeps_trust(void **state)
{
	struct tmp *t = *state;

	gives(t, "dscp_map", "26:3", CHANGE_SET, NULL);
	fake->trust_flips = 0;
	gives(t, "dscp_map", "26:5", CHANGE_SET, NULL);
	assert_int_equal(fake->orders, 1);
	gives(t, "dscp_map", "26:1 30:1", CHANGE_SET, NULL);
	assert_int_equal(fake->trust_flips, 0);
}

/* Two entries of one DSCP: one too many, also if the right one is there. */
static void test_map_two_entries(void **state)
{
	static const struct dcb_app two[] = {{5, 3, 26}, {5, 4, 26}};
	struct tmp *t = *state;

	is_driver(t, BNXT);
	memcpy(fake->app, two, sizeof(two));
	fake->apps = 2;
	sets(t, "dscp_map", "26:3");
	assert_int_equal(fake->apps, 1);
	assert_int_equal(fake->dscp2prio[26], 3);
}

static void test_roce_priority(void **state)
{
	static const struct dcb_app two[] = {{3, 1, 4791}, {3, 2, 4791}, {5, 3, 26}};
	struct tmp *t = *state;

	is_driver(t, BNXT);
	sets(t, "roce_priority", "3");
	assert_int_equal(fake->roce_prio, 3);
	memcpy(fake->app, two, sizeof(two));
	fake->apps = 3;
	sets(t, "roce_priority", "4");
	assert_int_equal(fake->apps, 2);
	assert_int_equal(fake->roce_prio, 4);
}

/* --- who decides ------------------------------------------------------------------------------ */

static void test_dcbx(void **state)
{
	struct tmp *t = *state;

	gives(t, "dcbx", "host", CHANGE_SAME, NULL);
	fake->no_dcbx = true; /* nobody beside the host */
	gives(t, "dcbx", "host", CHANGE_SAME, NULL);
	fake->no_dcbx = false;
	fake->dcbx = DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE; /* mlx5, firmware's */
	sets(t, "dcbx", "host");
	fake->dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_CEE; /* ixgbe */
	sets(t, "dcbx", "host");
	assert_int_equal(fake->dcbx, DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE);
	is_driver(t, BNXT);
	fake->dcbx = DCB_CAP_DCBX_VER_IEEE;
	gives(t, "pfc", "3", CHANGE_FAILED, "only in the host's DCBX mode");
	sets(t, "dcbx", "host");
	sets(t, "pfc", "3");
}

static void test_firmware_agent(void **state)
{
	struct tmp *t = *state;

	fake->agent = true;
	fake->dcbx = DCB_CAP_DCBX_LLD_MANAGED | DCB_CAP_DCBX_VER_IEEE;
	is_driver(t, ICE);
	gives(t, "dcbx", "host", CHANGE_FAILED,
	      "turn it off: ethtool --set-priv-flags rail0 fw-lldp-agent off");
	gives(t, "pfc", "3", CHANGE_FAILED, "fw-lldp-agent off");
	gives(t, "trust", "dscp", CHANGE_FAILED, "fw-lldp-agent off");
	is_driver(t, BNXT);
	gives(t, "dcbx", "host", CHANGE_FAILED, "leaves DCB to its firmware's DCBX or LLDP agent");
}

/* -524 in one byte is -12: not memory is what lacks. */
static void test_cut_errno(void **state)
{
	struct tmp *t = *state;
	struct run run = {.root = &t->root};
	struct change *c = add(&run, "dscp_map", "26:3");

	is_driver(t, BNXT);
	fake->no_dscp = true;
	gives(t, "dscp_map", "26:3", CHANGE_FAILED, "the driver returned ENOTSUPP (-524)");
	c->optional = true;
	apply_devices(&run);
	assert_int_equal(c->now.state, CHANGE_UNSUPPORTED);
	run_close(&run);
}

static void test_lldpad(void **state)
{
	struct tmp *t = *state;
	struct run run = {.root = &t->root};
	struct change *c = add(&run, "lldpad", "absent");

	apply_devices(&run);
	assert_int_equal(c->now.state, CHANGE_SAME);
	tmp_write(t, "run/lldpad.pid", "812\n");
	apply_devices(&run);
	assert_int_equal(c->now.state, CHANGE_SAME); /* of a process that is no more */
	tmp_write(t, "proc/812/comm", "lldpad\n");
	apply_devices(&run);
	assert_int_equal(c->now.state, CHANGE_FAILED);
	assert_text(reason_of(c), "systemctl disable --now lldpad");
	tmp_write(t, "proc/812/comm", "bash\n");
	tree_dir(t, "sys/fs");
	tmp_write(t, "sys/fs/cgroup/system.slice/lldpad.service/cgroup.procs", "813\n");
	apply_devices(&run);
	assert_int_equal(c->now.state, CHANGE_FAILED);
	run_close(&run);
}

/* --- classes and buffers ---------------------------------------------------------------------- */

static void test_ets(void **state)
{
	struct tmp *t = *state;

	sets(t, "ets", "priorities 3:1 6:2 scheduling 0:ets 1:ets 2:strict bandwidth 0:10 1:90");
	assert_int_equal(fake->ets.prio_tc[3], 1);
	assert_int_equal(fake->ets.tc_tx_bw[1], 90);
	assert_int_equal(fake->ets.tc_tsa[2], IEEE_8021QAZ_TSA_STRICT);
	/* what is not named stays, but shares are all there are */
	fake->ets.tc_tsa[5] = IEEE_8021QAZ_TSA_VENDOR;
	sets(t, "ets", "bandwidth 1:60 4:40");
	assert_int_equal(fake->ets.prio_tc[3], 1);
	assert_int_equal(fake->ets.tc_tsa[5], IEEE_8021QAZ_TSA_VENDOR);
	assert_int_equal(fake->ets.tc_tsa[4], IEEE_8021QAZ_TSA_ETS); /* a share is of ETS */
	assert_int_equal(fake->ets.tc_tx_bw[0], 0);
	fake->ets.tc_tx_bw[0] = 7; /* ets still: a share that nobody asked for */
	gives(t, "ets", "bandwidth 1:60 4:40", CHANGE_SET, NULL);
	sets(t, "ets", "scheduling 0:strict 1:strict 4:strict");
	gives(t, "ets", "scheduling 0:ets", CHANGE_FAILED, "must sum up to 100%");
}

static void test_buffers(void **state)
{
	struct tmp *t = *state;

	fake->buffer.buffer_size[5] = 1280;
	sets(t, "buffers", "sizes 0:131072 1:262144 priorities 3:1");
	assert_int_equal(fake->buffer.prio2buffer[3], 1);
	assert_int_equal(fake->buffer.buffer_size[5], 1280);
	/* cells: the adapter rounds down */
	sets(t, "buffers", "sizes 1:300100");
	assert_int_equal(fake->buffer.buffer_size[1], 300032);
	gives(t, "buffers", "sizes 2:8388608", CHANGE_FAILED, "larger than the port's");
	gives(t, "buffers", "sizes 1:298000", CHANGE_SET, NULL); /* less is another size */
}

/* --- answers that are none -------------------------------------------------------------------- */

static void test_parse(void **state)
{
	struct netlink_answer got cleanup_answer = {0};
	struct dcb_info info cleanup_dcb = {0};
	struct nlmsghdr *msg;
	struct err err;
	int says;

	(void)state;
	assert_int_equal(dcb_parse("", 0, &info, &err), -EBADMSG);
	msg = fake_answer(&got, RTM_GETDCB, sizeof(struct dcbmsg));
	fake_done(&got);
	assert_int_equal(dcb_parse(got.data, got.len, &info, &err), -EBADMSG);
	assert_text(err.text, "no IEEE part");
	assert_int_equal(dcb_parse_reply(got.data, got.len, &says, &err), -EBADMSG);
	/* a structure that is cut off is none */
	{
		struct nlattr *ieee = mnl_attr_nest_start(msg, DCB_ATTR_IEEE);

		mnl_attr_put(msg, DCB_ATTR_IEEE_PFC, 135, &fake->pfc);
		mnl_attr_nest_end(msg, ieee);
	}
	fake_done(&got);
	assert_int_equal(dcb_parse(got.data, got.len, &info, &err), 0);
	assert_false(info.has_pfc || info.has_ets || info.has_trust || info.has_dcbx);
	netlink_answer_free(&got);
	/* signed */
	msg = fake_answer(&got, RTM_SETDCB, sizeof(struct dcbmsg));
	mnl_attr_put_u8(msg, DCB_ATTR_IEEE, 0xa1);
	fake_done(&got);
	assert_int_equal(dcb_parse_reply(got.data, got.len, &says, &err), 0);
	assert_int_equal(says, -EOPNOTSUPP);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_pfc),
		TEST(test_pfc_never_bounces_for_nothing),
		TEST(test_pause_goes_first),
		TEST(test_positive_is_success),
		TEST(test_cable_length),
		TEST(test_not_offered),
		TEST(test_silently_skipped),
		TEST(test_no_netdev),
		TEST(test_elsewhere),
		TEST(test_asked_once),
		TEST(test_trust_is_an_entry),
		TEST(test_trust_comes_with_the_map),
		TEST(test_trust_of_a_function_that_may_not),
		TEST(test_trust_table),
		TEST(test_map),
		TEST(test_map_keeps_trust),
		TEST(test_map_two_entries),
		TEST(test_roce_priority),
		TEST(test_dcbx),
		TEST(test_firmware_agent),
		TEST(test_cut_errno),
		TEST(test_lldpad),
		TEST(test_ets),
		TEST(test_buffers),
		TEST(test_parse),
	};

	return cmocka_run_group_tests_name("kinds/dcb", tests, NULL, NULL);
}
