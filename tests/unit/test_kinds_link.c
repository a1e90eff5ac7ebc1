/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings of a port, against a kernel made up: what is sent, what is said, how often. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/run.h"
#include "fake_port.h"
#include "kind_run.h"
#include "kinds/kind.h"
#include "kinds/link.h"
#include "profile/language.h"
#include "reason.h"
#include "row.h"
#include "hooks.h"
#include "sys/clock.h"
#include "tree.h"

#define PF "0000:3b:00.0"
#define PF_DIR "sys/bus/pci/devices/" PF "/"
#define NET "sys/class/net/rail0/"

static const struct tree_file machine[] = {
	{PF_DIR "driver", "->../../../../bus/pci/drivers/mlx5_core"},
	{PF_DIR "net/a_rep/ifindex", "12\n"},
	{PF_DIR "net/rail0/ifindex", "7\n"},
	{PF_DIR "net/rail0/gro_flush_timeout", "0\n"},
	{PF_DIR "net/rail0/napi_defer_hard_irqs", "0\n"},
	{"sys/class/net/a_rep", "->../../bus/pci/devices/" PF "/net/a_rep"},
	{"sys/class/net/rail0", "->../../bus/pci/devices/" PF "/net/rail0"},
	{"run/udev/data/n7", "I:1\n"},
	{"run/udev/data/n12", "I:1\n"},
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

static struct run make_run(struct tmp *t)
{
	struct run run = {.root = &t->root};

	return run;
}

/* As a profile has it; the tests speak as the kernel does. */
static struct ynode *said(const struct field *row, const char *text, unsigned int scale)
{
	cleanup_free char *time = xasprintf("%luus", strtoul(text, NULL, 10) / (scale ? scale : 1));
	bool on = streq(text, "on") || streq(text, "up") || streq(text, "1");

	if (row->spec == &spec_bool)
		return row_value(row, on ? "true" : "false");
	return row_value(row, row->spec->units == &units_duration ? time : text);
}

static void add_part(struct change *c, const struct field *row, const char *name, const char *text,
		     const void *item)
{
	const struct link_item *link = c->on.item;
	cleanup_ynode struct ynode *value = said(row, text, link->scale);

	change_part(c, name, item, value);
}

static struct change *add(struct run *run, const char *what, const char *desired)
{
	const struct field *row = row_find("link", what);
	const struct field flag = {.spec = &spec_bool};
	cleanup_free char *target = xasprintf("link:" PF "/%s", what);
	cleanup_free char *copy = xstrdup(desired), *shown = NULL;
	struct change *c = add_change(run, &kind_netlink, PHASE_PORT, PF, target, target, desired);
	char *rest = NULL;

	change_on(c, PF, row->item);
	c->on.key = row->name;
	if (row->spec->kind == SPEC_SCALAR)
		add_part(c, row, what, desired, NULL);
	else
		for (char *name = strtok_r(copy, " ", &rest); name;
		     name = strtok_r(NULL, " ", &rest)) {
			const struct field *key =
				row->spec->kind == SPEC_MAP ? spec_field(row->spec, name) : &flag;

			add_part(c, key, name, strtok_r(NULL, " ", &rest), key->item);
		}
	shown = link_desired(c);
	assert_string_equal(shown, desired);
	return c;
}

/* One change, looked at and set if it differs; its state, and its reason or what is there. */
static void gives(struct tmp *t, const char *what, const char *desired, enum change_state want,
		  const char *text)
{
	struct run run = make_run(t);
	struct change *c = add(&run, what, desired);

	apply_devices(&run);
	if (c->now.state != want)
		fail_msg("%s %s is %s: %s; %s", what, desired, state_name(c->now.state),
			 c->now.found, reason_of(c) ? reason_of(c) : "no reason");
	if (want == CHANGE_SAME || want == CHANGE_SET)
		assert_string_equal(c->now.found, text);
	else
		assert_text(reason_of(c), text);
	run_close(&run);
}

/* Set once, with so many orders, and then it is so and nothing is sent. */
static void sets(struct tmp *t, const char *what, const char *desired, int orders)
{
	fake->orders = 0;
	gives(t, what, desired, CHANGE_SET, desired);
	assert_int_equal(fake->orders, orders);
	gives(t, what, desired, CHANGE_SAME, desired);
	assert_int_equal(fake->orders, orders);
}

static int64_t number(uint8_t get, uint16_t attr)
{
	return fake->group[get].number[attr];
}

static void test_each(void **state)
{
	struct tmp *t = *state;

	sets(t, "mtu", "9000", 1);
	sets(t, "tx_queue_len", "2000", 1);
	sets(t, "up", "up", 1);
	sets(t, "up", "down", 1);
	sets(t, "rings", "rx 8192 tx 4096", 1);
	sets(t, "channels", "combined 32", 1);
	sets(t, "coalesce", "adaptive_rx off rx_usecs 64 rx_frames 32", 1);
	sets(t, "pause", "rx off tx off", 1);
	sets(t, "features", "rx-gro off tx-nocache-copy on", 1);
	sets(t, "private_flags", "rx_cqe_moder off rx_striding_rq on", 1);
	sets(t, "gro_flush_timeout", "20000", 0);
	sets(t, "napi_defer_hard_irqs", "2", 0);
	assert_string_equal(tree_text(t, NET "gro_flush_timeout"), "20000");
	/* what was not named is as it was */
	assert_int_equal(number(ETHTOOL_MSG_COALESCE_GET, ETHTOOL_A_COALESCE_TX_USECS), 16);
	assert_true(fake->group[ETHTOOL_MSG_FEATURES_GET].flag[2].on);
}

/* Each key's own attribute, and that of its maximum: a driver that has them all. */
static void test_attributes(void **state)
{
	static const struct {
		const char *what, *key;
		uint8_t get;
		uint16_t attr, max;
	} keys[] = {
		{"rings", "rx", ETHTOOL_MSG_RINGS_GET, ETHTOOL_A_RINGS_RX, ETHTOOL_A_RINGS_RX_MAX},
		{"rings", "tx", ETHTOOL_MSG_RINGS_GET, ETHTOOL_A_RINGS_TX, ETHTOOL_A_RINGS_TX_MAX},
		{"channels", "combined", ETHTOOL_MSG_CHANNELS_GET,
		 ETHTOOL_A_CHANNELS_COMBINED_COUNT, ETHTOOL_A_CHANNELS_COMBINED_MAX},
		{"channels", "rx", ETHTOOL_MSG_CHANNELS_GET, ETHTOOL_A_CHANNELS_RX_COUNT,
		 ETHTOOL_A_CHANNELS_RX_MAX},
		{"channels", "tx", ETHTOOL_MSG_CHANNELS_GET, ETHTOOL_A_CHANNELS_TX_COUNT,
		 ETHTOOL_A_CHANNELS_TX_MAX},
		{"coalesce", "adaptive_rx", ETHTOOL_MSG_COALESCE_GET,
		 ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX, 0},
		{"coalesce", "adaptive_tx", ETHTOOL_MSG_COALESCE_GET,
		 ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX, 0},
		{"coalesce", "rx_usecs", ETHTOOL_MSG_COALESCE_GET, ETHTOOL_A_COALESCE_RX_USECS, 0},
		{"coalesce", "tx_usecs", ETHTOOL_MSG_COALESCE_GET, ETHTOOL_A_COALESCE_TX_USECS, 0},
		{"coalesce", "rx_frames", ETHTOOL_MSG_COALESCE_GET,
		 ETHTOOL_A_COALESCE_RX_MAX_FRAMES, 0},
		{"coalesce", "tx_frames", ETHTOOL_MSG_COALESCE_GET,
		 ETHTOOL_A_COALESCE_TX_MAX_FRAMES, 0},
		{"pause", "rx", ETHTOOL_MSG_PAUSE_GET, ETHTOOL_A_PAUSE_RX, 0},
		{"pause", "tx", ETHTOOL_MSG_PAUSE_GET, ETHTOOL_A_PAUSE_TX, 0},
	};
	struct tmp *t = *state;

	for (size_t i = 0; i < array_len(keys); i++) {
		const struct field *key =
			spec_field(row_find("link", keys[i].what)->spec, keys[i].key);
		bool is_switch = key->spec == &spec_bool;
		int64_t *have = fake->group[keys[i].get].number;
		cleanup_free char *one = xasprintf("%s %s", keys[i].key, is_switch ? "on" : "77");
		struct run run = make_run(t);
		struct change *c;

		have[keys[i].attr] = 0;
		gives(t, keys[i].what, one, CHANGE_SET, one);
		assert_int_equal(have[keys[i].attr], is_switch ? 1 : 77);
		if (!keys[i].max)
			continue;
		have[keys[i].max] = 76;
		c = add(&run, keys[i].what, one);
		have[keys[i].attr] = 0;
		kinds_forget(NULL);
		run_look(&run, STAGES_ALL, STAGE_DEVICES);
		assert_text(reason_of(c), "is at most 76");
		run_close(&run);
		have[keys[i].max] = 8192;
	}
}

/* Of two values only the one that differs is sent. */
static void test_only_what_differs(void **state)
{
	struct tmp *t = *state;

	fake->group[ETHTOOL_MSG_COALESCE_GET].number[ETHTOOL_A_COALESCE_RX_USECS] = 64;
	fake->round = 1000; /* a ring that is sent becomes one of its multiples */
	gives(t, "rings", "rx 1024 tx 3000", CHANGE_SET, "rx 1024 tx 3000");
	assert_int_equal(number(ETHTOOL_MSG_RINGS_GET, ETHTOOL_A_RINGS_RX), 1024);
}

/* One question for all changes of a function, and none to a representor. */
static void test_asked_once(void **state)
{
	struct tmp *t = *state;
	struct run run = make_run(t);

	add(&run, "mtu", "1500");
	add(&run, "rings", "rx 1024");
	add(&run, "pause", "rx on");
	apply_devices(&run);
	assert_int_equal(fake->asked_links, 2); /* each netdev once */
	assert_int_equal(fake->orders, 0);
	run_close(&run);
}

static void test_above_the_maximum(void **state)
{
	struct tmp *t = *state;

	gives(t, "rings", "rx 16384", CHANGE_FAILED,
	      "rings rx 16384 of rail0 (" PF
	      "): driver mlx5_core rejects the value; its maximum is "
	      "8192 (rx): Invalid argument; the kernel says: no");
	gives(t, "mtu", "10000", CHANGE_FAILED,
	      "mtu 10000 of rail0 (" PF
	      "): driver mlx5_core rejects the value; its maximum is 9978 "
	      "(mtu): Invalid argument; the kernel says: no");
	fake->group[ETHTOOL_MSG_COALESCE_GET].set_refuse = -EINVAL;
	gives(t, "coalesce", "rx_usecs 5", CHANGE_FAILED,
	      "coalesce rx_usecs 5 of rail0 (" PF "): driver mlx5_core rejects the value: Invalid "
	      "argument; the kernel says: no");
}

static void test_maximum_is_planned(void **state)
{
	struct tmp *t = *state;
	struct run run = make_run(t);
	struct change *c = add(&run, "rings", "rx 16384");

	run_look(&run, STAGES_ALL, STAGE_DEVICES);
	assert_int_equal(c->now.state, CHANGE_DIFFERS);
	assert_string_equal(c->now.found, "rx 1024");
	assert_text(reason_of(c), "rx of rail0 is at most 8192");
	run_close(&run);
}

/* A driver that takes another number than the one asked for, without a word. */
static void test_rounds(void **state)
{
	struct tmp *t = *state;

	fake->round = 8;
	gives(t, "rings", "rx 500 tx 512", CHANGE_FAILED,
	      "rings rx of rail0 (" PF "): driver mlx5_core rounded 500 to 504; set rx: 504");
	gives(t, "rings", "rx 504 tx 512", CHANGE_SAME, "rx 504 tx 512");
}

static void test_negotiated_pause(void **state)
{
	struct tmp *t = *state;
	int64_t *autoneg = &fake->group[ETHTOOL_MSG_PAUSE_GET].number[ETHTOOL_A_PAUSE_AUTONEG];

	/* as igb: with it, rx and tx are not obeyed */
	*autoneg = 1;
	fake->negotiates = true;
	sets(t, "pause", "rx off", 1);
	assert_int_equal(*autoneg, 0);
	/* as i40e: it stays, and they are */
	*autoneg = 1;
	fake->negotiates = false;
	fake->autoneg_refuse = -EOPNOTSUPP;
	sets(t, "pause", "tx off", 2);
	assert_int_equal(*autoneg, 1);
	/* with a carrier nothing is awaited */
	fake->up = true;
	tmp_write(t, NET "carrier", "1\n");
	sets(t, "pause", "tx on", 2);
	fake->up = false;
	/* neither */
	fake->negotiates = true;
	gives(t, "pause", "tx off", CHANGE_FAILED, "accepted 'off' but kept 'on'");
	fake->autoneg_refuse = -EIO;
	gives(t, "pause", "tx off", CHANGE_FAILED, "rejects the value: Input/output error");
}

/* A link that is on its way up is awaited, and no longer than the change has time. */
static void test_pause_of_a_link_to_come(void **state)
{
	struct tmp *t = *state;
	struct run run = make_run(t);
	struct change *c = add(&run, "pause", "rx off");

	fake->group[ETHTOOL_MSG_PAUSE_GET].number[ETHTOOL_A_PAUSE_AUTONEG] = 1;
	fake->up = true;
	tmp_write(t, NET "carrier", "0\n");
	c->deadline_ms = 100;
	apply_devices(&run);
	assert_int_equal(c->now.state, CHANGE_SET);
	assert_int_equal(c->duration, 100000);
	run_close(&run);
}

static void test_features(void **state)
{
	struct tmp *t = *state;
	const struct fake_flag *flag = fake->group[ETHTOOL_MSG_FEATURES_GET].flag;

	/* names of ethtool(8), one of which is of several features */
	sets(t, "features", "generic-receive-offload off", 1);
	assert_false(flag[0].on);
	sets(t, "features", "tx-checksumming on", 1);
	assert_true(flag[2].on && flag[3].on && !flag[4].on);
	sets(t, "features", "tx-checksumming off", 1);
	assert_true(!flag[2].on && !flag[3].on);
	gives(t, "features", "rx-lro off", CHANGE_SAME, "rx-lro off"); /* fixed, and so */
	gives(t, "features", "rx-lro on", CHANGE_FAILED,
	      "rail0 (" PF "): the driver mlx5_core does not allow rx-lro to be turned on");
	gives(t, "features", "rx-warp on", CHANGE_FAILED, "this kernel has no feature rx-warp");
	fake->stubborn = true;
	gives(t, "features", "rx-gro on", CHANGE_FAILED, "accepted 'on' but kept 'off'");
	gives(t, "private_flags", "rx_warp on", CHANGE_FAILED,
	      "has no private flag rx_warp (it has: rx_cqe_moder, rx_striding_rq)");
}

static void test_not_offered(void **state)
{
	struct tmp *t = *state;
	struct run run = make_run(t);
	struct change *c;

	fake->group[ETHTOOL_MSG_PAUSE_GET].get_refuse = -EOPNOTSUPP;
	gives(t, "pause", "rx off", CHANGE_FAILED,
	      "rail0 (" PF "): the driver mlx5_core, or this kernel, offers no pause.rx; leave "
	      "link.SET.pause.rx out");
	gives(t, "channels", "rx 4", CHANGE_FAILED, "offers no channels.rx");
	gives(t, "coalesce", "adaptive_tx on", CHANGE_FAILED, "offers no coalesce.adaptive_tx");
	gives(t, "threaded_napi", "1", CHANGE_FAILED, "offers no threaded_napi; leave");
	tmp_write(t, PF_DIR "net/rail0/threaded",
		  "11111111111111111111111111111111111111111111111111111111111111111111111111\n");
	gives(t, "threaded_napi", "1", CHANGE_FAILED, "offers no threaded_napi; leave");
	tmp_write(t, PF_DIR "net/rail0/threaded", "busy\n");
	gives(t, "threaded_napi", "1", CHANGE_FAILED, "threaded has 'busy', which is not a number");
	fake->group[ETHTOOL_MSG_RINGS_GET].get_refuse = -EIO;
	gives(t, "rings", "rx 4", CHANGE_FAILED,
	      "asking for rings of rail0 (" PF "): Input/output");
	assert_int_equal(fake->orders, 0);
	/* where the profile skips what is not offered, the rest is done */
	c = add(&run, "coalesce", "rx_usecs 33 adaptive_tx on");
	c->optional = true;
	for (int i = 0; i < 2; i++) {
		apply_devices(&run);
		assert_int_equal(c->now.state, CHANGE_UNSUPPORTED);
		assert_text(reason_of(c), "offers no coalesce.adaptive_tx");
		assert_int_equal(fake->orders, 1);
	}
	assert_int_equal(number(ETHTOOL_MSG_COALESCE_GET, ETHTOOL_A_COALESCE_RX_USECS), 33);
	run_close(&run);
}

/* A kernel before 5.6: what is not ethtool's is set all the same. */
static void test_old_kernel(void **state)
{
	struct tmp *t = *state;

	fake->no_family = true;
	sets(t, "mtu", "4200", 1);
	gives(t, "rings", "rx 4", CHANGE_FAILED, "or this kernel, offers no rings.rx");
	gives(t, "features", "rx-gro on", CHANGE_FAILED,
	      "or this kernel, offers no features.rx-gro");
}

static void test_silent(void **state)
{
	struct tmp *t = *state;

	fake->silent = true;
	gives(t, "mtu", "9000", CHANGE_FAILED, PF ": Connection timed out");
}

static void test_no_netdev(void **state)
{
	struct tmp *t = *state;
	struct run run = make_run(t);
	struct change *c = add(&run, "mtu", "9000");

	for (size_t i = 0; i < 2; i++) { /* in a container */
		tree_remove(t, i ? PF_DIR "net/a_rep/ifindex" : PF_DIR "net/rail0/ifindex");
		run_look(&run, STAGES_ALL, STAGE_DEVICES);
	}
	assert_int_equal(c->now.state, CHANGE_UNSUPPORTED);
	assert_text(reason_of(c), "left alone there");
	change_on(c, "0000:99:00.0", c->on.item);
	change_target(c, "link:0000:99:00.0/mtu");
	run_look(&run, STAGES_ALL, STAGE_DEVICES);
	assert_int_equal(c->now.state, CHANGE_WAITS);
	assert_text(reason_of(c), "0000:99:00.0 has no netdev (yet)");
	assert_int_equal(fake->questions,
			 2); /* the family and the representor, while it was there */
	run_close(&run);
}

/* What udev has not named yet is not touched. */
static void test_not_named(void **state)
{
	/* What the database has of the netdev; NULL: nothing. The second is being renamed. */
	static const char *const database[] = {NULL, "E:ID_RENAMING=1\nE:ID_PROCESSING=1\n"};
	struct tmp *t = *state;

	for (size_t i = 0; i < array_len(database); i++) {
		struct run run = make_run(t);
		struct change *c = add(&run, "up", "up");

		tree_remove(t, "run/udev/data/n7");
		if (database[i])
			tmp_write(t, "run/udev/data/n7", database[i]);
		c->deadline_ms = 50;
		apply_devices(&run);
		assert_int_equal(c->now.state, CHANGE_FAILED);
		assert_text(reason_of(c), "udev has not named the netdev of " PF);
		assert_int_equal(fake->orders, 0);
		run_close(&run);
		tmp_write(t, "run/udev/data/n7", "S:x\nI:1\n");
	}
}

/* What an earlier change of the same lane undid is seen in the same run. */
static int undoing_kernel(int protocol, const struct nlmsghdr *msg, struct netlink_answer *ret,
			  struct err *err)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(msg);

	if (protocol == NETLINK_GENERIC && msg->nlmsg_type == FAKE_FAMILY &&
	    genl->cmd == ETHTOOL_MSG_PRIVFLAGS_SET)
		fake->group[ETHTOOL_MSG_COALESCE_GET].number[ETHTOOL_A_COALESCE_RX_USECS] = 3;
	return fake_kernel(protocol, msg, ret, err);
}

static void test_undone_in_the_lane(void **state)
{
	struct tmp *t = *state;
	struct run run = make_run(t);
	struct change *times;

	add(&run, "private_flags", "rx_cqe_moder off");
	times = add(&run, "coalesce", "rx_usecs 8");
	test_netlink(undoing_kernel);
	apply_devices(&run);
	assert_int_equal(times->now.state, CHANGE_SET);
	assert_int_equal(number(ETHTOOL_MSG_COALESCE_GET, ETHTOOL_A_COALESCE_RX_USECS), 8);
	assert_int_equal(fake->orders, 2);
	run_close(&run);
}

/* A captured machine: what has a file is compared, and nothing is asked. */
static void test_tree(void **state)
{
	struct tmp *t = *state;
	struct run run = make_run(t);
	struct change *mtu, *rings, *gro, *up;

	t->root.live = false;
	tmp_write(t, PF_DIR "net/rail0/mtu", "9000\n");
	tmp_write(t, PF_DIR "net/a_rep/mtu", "9000\n");
	tmp_write(t, PF_DIR "net/a_rep/gro_flush_timeout", "0\n");
	mtu = add(&run, "mtu", "9000");
	rings = add(&run, "rings", "rx 1024");
	gro = add(&run, "gro_flush_timeout", "20000");
	up = add(&run, "up", "up");
	run_look(&run, STAGES_ALL, STAGE_DEVICES);
	assert_int_equal(mtu->now.state, CHANGE_SAME);
	assert_int_equal(rings->now.state, CHANGE_DIFFERS);
	assert_string_equal(rings->now.found, "unknown");
	assert_string_equal(up->now.found, "unknown"); /* no flags were captured */
	assert_string_equal(gro->now.found, "0");
	apply_devices(&run);
	assert_int_equal(rings->now.state, CHANGE_UNSUPPORTED);
	assert_int_equal(gro->now.state, CHANGE_SET);
	assert_int_equal(fake->questions, 0);
	run_close(&run);
}

/* Every row has its place in the kernel, and so has each key of a row that is a map. */
static void test_rows(void **state)
{
	const struct field *row = section_find("link")->spec->item->fields;

	(void)state;
	for (; row->class != KEY_GOVERNS; row++) {
		const struct link_item *item = row->item;

		assert_non_null(item);
		assert_true(item->how != LINK_FILE || item->file);
		/* rtnetlink's booleans are u8 */
		assert_true(item->how != LINK_ATTR || (item->attr && row->spec != &spec_bool));
		assert_int_equal(item->how == LINK_ETHTOOL, row->spec->kind != SPEC_SCALAR);
		if (row->spec->kind != SPEC_MAP)
			continue;
		for (const struct field *key = row->spec->fields; key->name; key++) {
			const struct eth_item *number = key->item;

			assert_non_null(number);
			assert_int_equal(number->group, item->group);
			assert_int_equal(number->is_switch, key->spec == &spec_bool);
			assert_true(number->attr);
		}
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_each),
		TEST(test_attributes),
		TEST(test_only_what_differs),
		TEST(test_asked_once),
		TEST(test_above_the_maximum),
		TEST(test_maximum_is_planned),
		TEST(test_rounds),
		TEST(test_negotiated_pause),
		TEST(test_pause_of_a_link_to_come),
		TEST(test_features),
		TEST(test_not_offered),
		TEST(test_old_kernel),
		TEST(test_silent),
		TEST(test_no_netdev),
		TEST(test_not_named),
		TEST(test_undone_in_the_lane),
		TEST(test_tree),
		cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
