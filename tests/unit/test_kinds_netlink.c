/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is set by netlink, against a kernel made up: what is sent, what is said, how often. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/vf_address.h"
#include "engine/run.h"
#include "fake_netlink.h"
#include "kinds/firmware.h"
#include "kind_run.h"
#include "kinds/kind.h"
#include "kinds/netlink.h"
#include "kinds/vf_address.h"
#include "profile/language.h"
#include "sys/clock.h"
#include "reason.h"
#include "row.h"
#include "tree.h"

#define PF "0000:3b:00.0"
#define PF_DIR "sys/bus/pci/devices/" PF "/"
#define VF_ADDR(n) "0000:3b:01." #n

/* A PF with four VFs; its uplink is rail0, and a representor has the first name. */
static const struct tree_file machine[] = {
	{"sys/bus/pci/drivers/mlx5_core/unbind", ""},
	{PF_DIR "driver", "->../../../../bus/pci/drivers/mlx5_core"},
	{PF_DIR "sriov_numvfs", "4\n"},
	{PF_DIR "sriov_totalvfs", "8\n"},
	{PF_DIR "net/a_rep/ifindex", "12\n"},
	{PF_DIR "net/rail0/ifindex", "7\n"},
	{PF_DIR "infiniband/mlx5_0/node_guid", "b8ce:f603:001b:2c3d\n"},
	{PF_DIR "virtfn0", "->../" VF_ADDR(0)},
	{PF_DIR "virtfn1", "->../" VF_ADDR(1)},
	{PF_DIR "virtfn2", "->../" VF_ADDR(2)},
	{PF_DIR "virtfn3", "->../" VF_ADDR(3)},
	{"sys/bus/pci/devices/" VF_ADDR(0) "/device", "0x101e\n"},
	{"sys/bus/pci/devices/" VF_ADDR(1) "/device", "0x101e\n"},
	{"sys/bus/pci/devices/" VF_ADDR(2) "/device", "0x101e\n"},
	{"sys/bus/pci/devices/" VF_ADDR(3) "/device", "0x101e\n"},
	{"sys/class/net/a_rep", "->../../bus/pci/devices/" PF "/net/a_rep"},
	{"sys/class/net/rail0", "->../../bus/pci/devices/" PF "/net/rail0"},
	{"sys/module/ib_core/initstate", "live\n"},
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

static const struct field *vf_row(const char *key)
{
	return spec_field(row_find("sriov", "vf")->spec, key);
}

/* As a profile has it: rates in Mb/s, "on" for true; derived, or one of a list. */
static struct ynode *vf_said(const struct spec *spec, const char *text)
{
	cleanup_free char *rate = xasprintf("%sMb/s", text);
	struct field row = {.spec = spec};

	if (spec == &spec_bool)
		return row_value(&row, streq(text, "on") ? "true" : "false");
	if (spec->kind == SPEC_EITHER)
		row.spec = strchr(text, ':') ? spec->list->item : spec->scalar;
	return row_value(&row, spec->units == &units_rate ? rate : text);
}

/* "mac derived trust on vlan 0" of a VF: the parts of its change. */
static void add_settings(struct change *c, const char *desired)
{
	cleanup_free char *copy = xstrdup(desired);
	char *rest = NULL;

	for (char *key = strtok_r(copy, " ", &rest); key; key = strtok_r(NULL, " ", &rest)) {
		cleanup_ynode struct ynode *value =
			vf_said(vf_row(key)->spec, strtok_r(NULL, " ", &rest));

		change_part(c, key, vf_row(key)->item, value);
	}
	item_desired(c);
	assert_string_equal(c->desired, desired);
}

static void add_mode(struct change *c, const char *desired)
{
	cleanup_ynode struct ynode *value = row_value(row_find("sriov", "mode"), desired);

	change_want(c, value);
}

/* target: "vf:PF/INDEX", "eswitch:PF", "eswitch_with_vfs:PF" */
static struct change *add(struct run *run, const char *id, const char *target, const char *desired)
{
	struct change *c =
		add_change(run, &kind_netlink, PHASE_VF_ADDRESS, id, id, target, desired);
	const char *after = strchr(target, ':') + 1, *index = strchr(after, '/');
	cleanup_free char *pf = xstrndup(after, strcspn(after, "/"));

	if (str_starts(target, "vf:")) {
		change_on(c, pf, &vf_address);
		c->on.vf = atoi(index + 1);
		add_settings(c, desired);
	} else {
		change_on(c, pf,
			  str_starts(target, "eswitch:") ? &eswitch_without_vfs
							 : &eswitch_with_vfs);
		add_mode(c, desired);
	}
	return c;
}

/* The change of a row of a section. The caller frees the value, after the run. */
static struct change *add_row(struct run *run, const char *section, const char *key,
			      const char *text, struct ynode **value)
{
	struct change *c = add_change(run, &kind_netlink, PHASE_VF_ADDRESS, "x", "x", key, text);
	const struct field *row = row_find(section, key);

	*value = row_value(row, text);
	change_on(c, PF, row->item);
	change_want(c, *value);
	return c;
}

/* Looked at, and set if it differs; its state, and its reason or what is there. */
static void comes_out(struct run *run, struct change *c, enum change_state want, const char *text)
{
	apply_devices(run);
	if (c->now.state != want)
		fail_msg("%s is %s: %s; %s", c->desired, state_name(c->now.state), c->now.found,
			 reason_of(c) ? reason_of(c) : "no reason");
	if (want == CHANGE_SAME || want == CHANGE_SET)
		assert_string_equal(c->now.found, text);
	else
		assert_text(reason_of(c), text);
	run_close(run);
}

static void gives(struct tmp *t, const char *target, const char *desired, enum change_state want,
		  const char *text)
{
	struct run run = make_run(t);

	comes_out(&run, add(&run, "x", target, desired), want, text);
}

static void looks(struct tmp *t, const char *target, const char *desired, const char *observed)
{
	struct run run = make_run(t);
	struct change *c = add(&run, "x", target, desired);

	run_look(&run, STAGES_ALL, STAGE_DEVICES);
	assert_int_equal(c->now.state, CHANGE_DIFFERS);
	assert_string_equal(c->now.found, observed);
	run_close(&run);
}

static void row_gives(struct tmp *t, const char *section, const char *key, const char *said,
		      enum change_state want, const char *text)
{
	struct run run = make_run(t);
	struct ynode *value;

	comes_out(&run, add_row(&run, section, key, said, &value), want, text);
	ynode_free(value);
}

/* --- attributes of VFs --------------------------------------------------------------------- */

static void test_all_attributes(void **state)
{
	struct tmp *t = *state;
	const char *all = "mac 02:00:00:00:00:01 vlan 100 min_rate 1000 max_rate 10000 "
			  "spoof_check on trust on link_state enable";

	gives(t, "vf:" PF "/1", all, CHANGE_SET, all);
	assert_int_equal(fake->orders, 6); /* both rates are one */
	assert_int_equal(fake->vf[1].max_rate, 10000);
	assert_int_equal(fake->vf[0].max_rate, 0);
	/* what is so is not sent again; a rate that is not asked for stays */
	fake->orders = 0;
	gives(t, "vf:" PF "/1", all, CHANGE_SAME, all);
	assert_int_equal(fake->orders, 0);
	gives(t, "vf:" PF "/1", "max_rate 400", CHANGE_SET, "max_rate 400");
	assert_int_equal(fake->vf[1].min_rate, 1000);
	gives(t, "vf:" PF "/1", "vlan 0 spoof_check off link_state disable", CHANGE_SET,
	      "vlan 0 spoof_check off link_state disable");
}

static void test_derived(void **state)
{
	struct tmp *t = *state;

	gives(t, "vf:" PF "/3", "mac derived", CHANGE_SET, "mac 26:94:03:1b:2c:3d");
	fake->guids = true;
	gives(t, "vf:" PF "/0", "mac derived", CHANGE_FAILED, "offers no mac for VFs");
	gives(t, "vf:" PF "/0", "guid derived", CHANGE_SET, "guid ba:ce:f6:03:01:1b:2c:3d");
	assert_true(fake->vf[0].port_guid == 0xbacef603011b2c3d);
	/* one of the two alone is not enough */
	fake->vf[0].port_guid = 1;
	gives(t, "vf:" PF "/0", "guid derived", CHANGE_SET, "guid ba:ce:f6:03:01:1b:2c:3d");
}

/* A refusal names the attribute, and what was sent before it stays. */
static void test_refused(void **state)
{
	struct tmp *t = *state;

	fake->refuse[IFLA_VF_TRUST] = -EOPNOTSUPP;
	gives(t, "vf:" PF "/0", "vlan 7 trust on", CHANGE_FAILED,
	      "VF 0 of " PF ": the driver mlx5_core offers no trust; leave sriov.SET.vf.trust out: "
	      "Operation not supported; the kernel says: no");
	assert_int_equal(fake->vf[0].vlan, 7);
	/* with a link, so that none is waited for */
	tmp_write(t, PF_DIR "net/rail0/carrier", "1\n");
	fake->refuse[IFLA_VF_RATE] = -EINVAL;
	gives(t, "vf:" PF "/0", "min_rate 5", CHANGE_FAILED,
	      "rejects min_rate 5: Invalid argument");
	gives(t, "vf:" PF "/0", "min_rate 5 max_rate 9", CHANGE_FAILED,
	      "rejects min_rate and max_rate 5 to 9");
	fake->refuse[IFLA_VF_MAC] = -EINVAL;
	gives(t, "vf:" PF "/0", "mac 02:00:00:00:00:09", CHANGE_FAILED, "must be unicast");
	/* a fact about one driver is told of that driver alone */
	tree_link(t, PF_DIR "driver", "../../../../bus/pci/drivers/igb");
	gives(t, "vf:" PF "/0", "min_rate 5", CHANGE_FAILED,
	      "rejects min_rate 5 (igb accepts no min_rate, and max_rate only while the PF's link "
	      "is up): Invalid argument");
}

/*
 * igb takes a rate only with a link, and loses the link for seconds when VFs come: the PF's own
 * link is waited for, whatever its representors have.
 */
static void link_comes(void *arg)
{
	if (fake->orders) {
		fake->refuse[IFLA_VF_RATE] = 0;
		tmp_write(arg, PF_DIR "net/rail0/carrier", "1\n");
	}
}

static void test_rate_waits_for_link(void **state)
{
	struct tmp *t = *state;

	tmp_write(t, PF_DIR "net/a_rep/carrier", "1\n");
	fake->refuse[IFLA_VF_RATE] = -EINVAL;
	test_clock_meanwhile(link_comes, t);
	gives(t, "vf:" PF "/0", "max_rate 9", CHANGE_SET, "max_rate 9");
}

/* What a driver does not even tell is not tried. */
static void test_not_told(void **state)
{
	struct tmp *t = *state;
	struct run run = make_run(t);
	struct change *c;

	fake->vf[0].trust = VF_UNKNOWN;
	gives(t, "vf:" PF "/0", "trust on", CHANGE_FAILED,
	      "the driver mlx5_core offers no trust for VFs; leave sriov.SET.vf.trust out");
	gives(t, "vf:" PF "/0", "guid derived", CHANGE_FAILED, "with ib_ipoib loaded");
	assert_int_equal(fake->orders, 0);
	/* where the profile skips what is not offered, the rest is done */
	c = add(&run, "x", "vf:" PF "/0", "vlan 3 trust on");
	c->optional = true;
	apply_devices(&run);
	assert_int_equal(c->now.state, CHANGE_UNSUPPORTED);
	assert_int_equal(fake->vf[0].vlan, 3);
	fake->orders = 0;
	apply_devices(&run);
	assert_int_equal(c->now.state, CHANGE_UNSUPPORTED);
	assert_int_equal(fake->orders, 0);
	fake->vfs = 0;
	gives(t, "vf:" PF "/0", "trust on", CHANGE_FAILED, "does not report VF 0");
	run_close(&run);
}

/* A driver that has read an address keeps it until it is bound again. */
static void test_bound(void **state)
{
	struct tmp *t = *state;
	const char *unbind = "sys/bus/pci/drivers/mlx5_core/unbind";
	const char *driver = "sys/bus/pci/devices/" VF_ADDR(2) "/driver";

	tree_link(t, driver, "../../../../bus/pci/drivers/mlx5_core");
	gives(t, "vf:" PF "/2", "trust on", CHANGE_SET, "trust on");
	assert_string_equal(tree_text(t, unbind), "");
	gives(t, "vf:" PF "/2", "mac derived", CHANGE_SET, "mac 26:94:02:1b:2c:3d");
	assert_string_equal(tree_text(t, unbind), VF_ADDR(2));
	tmp_write(t, unbind, "");
	/* of a guest's, the guest's own driver will read it */
	tree_link(t, driver, "../../../../bus/pci/drivers/vfio-pci");
	gives(t, "vf:" PF "/2", "mac 02:00:00:00:00:09", CHANGE_SET, "mac 02:00:00:00:00:09");
	assert_string_equal(tree_text(t, unbind), "");
	tmp_write(t, "sys/bus/pci/devices/" VF_ADDR(2) "/enable", "1\n");
	gives(t, "vf:" PF "/2", "mac derived vlan 7", CHANGE_UNSUPPORTED, "a guest uses it");
	gives(t, "eswitch:" PF, "switchdev", CHANGE_FAILED, "is in use (a guest uses it)");
	/* a container's is not taken from it, and keeps what a CNI has set */
	tree_link(t, driver, "../../../../bus/pci/drivers/mlx5_core");
	tree_dir(t, "sys/bus/pci/devices/" VF_ADDR(2) "/net");
	gives(t, "vf:" PF "/2", "mac derived", CHANGE_UNSUPPORTED, "in another network namespace");
	gives(t, "vf:" PF "/2", "trust off", CHANGE_UNSUPPORTED,
	      "keeps the values that its user has set");
	assert_int_equal(fake->vf[2].mac[5], 9);
}

/* All VFs of a PF are asked after in one process. */
static void test_asked_once(void **state)
{
	struct tmp *t = *state;
	struct run run = make_run(t);

	for (int i = 0; i < FAKE_VFS; i++) {
		cleanup_free char *id = xasprintf("vf%d", i);
		cleanup_free char *target = xasprintf("vf:" PF "/%d", i);

		add(&run, id, target, "trust off");
	}
	apply_devices(&run);
	for (size_t i = 0; i < run.plan.list.n; i++)
		assert_int_equal(run.plan.list.v[i]->now.state, CHANGE_SAME);
	assert_int_equal(fake->questions, 1);
	/* the next run sees what has changed since */
	fake->vf[2].trust = 1;
	apply_devices(&run);
	assert_int_equal(run.plan.list.v[2]->now.state, CHANGE_SET);
	assert_int_equal(fake->vf[2].trust, 0);
	run_close(&run);
}

/* Who waits for rtnl once does not wait for it again with the next PF. */
static void test_rtnl_held(void **state)
{
	struct tmp *t = *state;
	struct run run = make_run(t);
	struct change *a = add(&run, "a", "vf:" PF "/0", "trust on");
	struct change *b = add(&run, "b", "vf:0000:3b:00.1/0", "trust on");

	tree_link(t, "sys/bus/pci/devices/0000:3b:00.1/virtfn0", "../0000:3b:05.0");
	tmp_write(t, "sys/bus/pci/devices/0000:3b:00.1/net/rail1/ifindex", "8\n");
	tree_link(t, "sys/class/net/rail1", "../../bus/pci/devices/0000:3b:00.1/net/rail1");
	fake->silent = true;
	run_look(&run, STAGES_ALL, STAGE_DEVICES);
	fake->silent = false;
	assert_int_equal(a->now.state, CHANGE_FAILED);
	assert_int_equal(b->now.state, CHANGE_FAILED);
	assert_string_equal(a->now.why, b->now.why);
	assert_int_equal(fake->questions, 1);
	run_look(&run, STAGES_ALL, STAGE_DEVICES);
	assert_int_equal(a->now.state, CHANGE_DIFFERS);
	run_close(&run);
}

static void test_waits_and_missing(void **state)
{
	struct tmp *t = *state;

	gives(t, "vf:" PF "/9", "trust on", CHANGE_WAITS, "does not exist yet");
	assert_int_equal(fake->questions, 0);
	tree_remove(t, PF_DIR "net/rail0/ifindex");
	tree_remove(t, PF_DIR "net/a_rep/ifindex");
	gives(t, "vf:" PF "/0", "guid derived", CHANGE_FAILED, "load ib_ipoib");
	gives(t, "vf:" PF "/0", "trust on", CHANGE_FAILED, "no netdev in this network namespace");
}

/* --- files of the vendor's driver ---------------------------------------------------------- */

static void test_ofed(void **state)
{
	struct tmp *t = *state;

	t->root.live = false;
	tmp_write(t, PF_DIR "sriov/1/node", "00:00:00:00:00:00:00:00\n");
	tmp_write(t, PF_DIR "sriov/1/port", "00:00:00:00:00:00:00:00\n");
	tmp_write(t, PF_DIR "sriov/1/policy", "Down\n");
	tmp_write(t, PF_DIR "infiniband/mlx5_0/ports/1/link_layer", "InfiniBand\n");
	gives(t, "vf:" PF "/1", "guid derived link_state auto", CHANGE_SET,
	      "guid ba:ce:f6:03:02:1b:2c:3d link_state auto");
	assert_string_equal(tree_text(t, PF_DIR "sriov/1/node"), "ba:ce:f6:03:02:1b:2c:3d");
	assert_string_equal(tree_text(t, PF_DIR "sriov/1/port"), "ba:ce:f6:03:02:1b:2c:3d");
	assert_string_equal(tree_text(t, PF_DIR "sriov/1/policy"), "Follow");
	gives(t, "vf:" PF "/1", "link_state enable", CHANGE_SET, "link_state enable");
	assert_string_equal(tree_text(t, PF_DIR "sriov/1/policy"), "Up");
	assert_int_equal(fake->questions + fake->orders, 0);
	/* of Ethernet they say nothing */
	tmp_write(t, PF_DIR "infiniband/mlx5_0/ports/1/link_layer", "Ethernet\n");
	gives(t, "vf:" PF "/1", "link_state auto", CHANGE_UNSUPPORTED,
	      "only to the running machine");
	/* a VF without those files, and no machine to ask */
	gives(t, "vf:" PF "/0", "guid derived", CHANGE_UNSUPPORTED, "only to the running machine");
}

static void test_elsewhere(void **state)
{
	static const char *const targets[][2] = {{"vf:" PF "/0", "mac derived"},
						 {"eswitch:" PF, "switchdev"},
						 {"eswitch_with_vfs:" PF, "switchdev"}};
	struct run run = make_run(*state);
	struct tmp *t = *state;
	struct ynode *value;

	t->root.live = false;
	for (size_t i = 0; i < array_len(targets); i++)
		add(&run, targets[i][0], targets[i][0], targets[i][1]);
	add_row(&run, "rdma", "netns", "exclusive", &value);
	run_look(&run, STAGES_ALL, STAGE_COUNT);
	for (size_t i = 0; i < run.plan.list.n; i++) {
		struct change *c = run.plan.list.v[i];

		assert_int_equal(c->now.state, CHANGE_DIFFERS);
		assert_string_equal(c->now.found, "unknown");
		assert_string_equal(reason_of(c), "netlink answers only on the running machine");
	}
	apply_devices(&run);
	for (size_t i = 0; i < run.plan.list.n; i++)
		assert_int_equal(run.plan.list.v[i]->now.state, CHANGE_UNSUPPORTED);
	run_close(&run);
	ynode_free(value);
	assert_int_equal(fake->questions + fake->orders, 0);
}

/* --- eswitch ------------------------------------------------------------------------------- */

static void test_eswitch(void **state)
{
	struct tmp *t = *state;

	gives(t, "eswitch:" PF, "legacy", CHANGE_SAME, "legacy");
	gives(t, "eswitch:" PF, "switchdev", CHANGE_SET, "switchdev");
	assert_string_equal(tree_text(t, PF_DIR "sriov_numvfs"), "0\n");
	assert_int_equal(fake->eswitch, 1);
	fake->eswitch = 7;
	looks(t, "eswitch:" PF, "legacy", "another mode");
	fake->eswitch = 1;
	fake->busy = 2; /* passes by itself */
	gives(t, "eswitch:" PF, "legacy", CHANGE_SET, "legacy");
	assert_int_equal(fake->busy, 0);
}

static void test_eswitch_with_vfs(void **state)
{
	struct tmp *t = *state;

	tree_link(t, "sys/bus/pci/devices/" VF_ADDR(1) "/driver",
		  "../../../../bus/pci/drivers/mlx5_core");
	gives(t, "eswitch_with_vfs:" PF, "switchdev", CHANGE_SET, "switchdev");
	assert_string_equal(tree_text(t, PF_DIR "sriov_numvfs"), "4\n");
	assert_string_equal(tree_text(t, "sys/bus/pci/drivers/mlx5_core/unbind"), VF_ADDR(1));
}

static void test_eswitch_refused(void **state)
{
	static const struct {
		int code;
		const char *text;
	} t[] = {
		{-EPERM, "Socket Direct"},
		{-EOPNOTSUPP, "leave sriov.SET.mode out"},
		{-EINVAL, "the kernel log says why: Invalid argument; the kernel says: no"},
		{-EIO, "eswitch mode switchdev of " PF ": Input/output error"},
	};
	struct run run = make_run(*state);
	struct change *c = add(&run, "x", "eswitch_with_vfs:" PF, "switchdev");

	for (size_t i = 0; i < array_len(t); i++) {
		fake->eswitch_refuse = t[i].code;
		gives(*state, "eswitch_with_vfs:" PF, "switchdev", CHANGE_FAILED, t[i].text);
	}
	fake->busy = 1000; /* until its time is up */
	c->deadline_ms = 2500;
	apply_devices(&run);
	assert_int_equal(c->now.state, CHANGE_FAILED);
	assert_text(reason_of(c), "stays busy");
	run_close(&run);
}

/* No eswitch is legacy mode by another name. */
static void test_no_eswitch(void **state)
{
	static const int codes[] = {-ENODEV, -EOPNOTSUPP};
	struct tmp *t = *state;

	for (size_t i = 0; i < array_len(codes); i++) {
		fake->eswitch_error = codes[i];
		gives(t, "eswitch:" PF, "legacy", CHANGE_SAME, "legacy");
		gives(t, "eswitch:" PF, "switchdev", CHANGE_FAILED,
		      "the driver mlx5_core offers no eswitch modes");
	}
	fake->eswitch_error = -EIO;
	gives(t, "eswitch:" PF, "legacy", CHANGE_FAILED, "eswitch mode of " PF);
	tree_remove(t, PF_DIR "driver");
	fake->eswitch_error = -ENODEV;
	gives(t, "eswitch:" PF, "switchdev", CHANGE_WAITS, "no driver (yet)");
}

/* --- RDMA namespaces ----------------------------------------------------------------------- */

static void test_rdma_netns(void **state)
{
	struct tmp *t = *state;

	row_gives(t, "rdma", "netns", "shared", CHANGE_SAME, "shared");
	row_gives(t, "rdma", "netns", "exclusive", CHANGE_SET, "exclusive");
	fake->netns_refuse = -EBUSY;
	row_gives(t, "rdma", "netns", "shared", CHANGE_FAILED,
		  "modules: {options: {ib_core: {netns_mode: 1}}}");
}

/* --- firmware ------------------------------------------------------------------------------ */

static void lacks(struct tmp *t, uint16_t vendor, const char *wanted, unsigned int possible,
		  int code, const char *text)
{
	struct pci_fn fn = {.addr = PF, .vendor = vendor};
	struct node node = {.pci = {&fn, 1, 1}};
	struct kind_ctx ctx = {.root = &t->root, .node = &node};
	struct err err = {0};

	assert_int_equal(firmware_lacks_vfs(&ctx, PF, wanted, possible, &err), code);
	assert_string_equal(err.text, text);
}

static void test_firmware(void **state)
{
	struct tmp *t = *state;

	lacks(t, 0x15b3, "16", 0, -EOPNOTSUPP,
	      "the PF offers no SR-IOV; have its firmware offer it: run `mlxconfig -d " PF
	      " set SRIOV_EN=1 NUM_OF_VFS=16`, then power-cycle the node; SR-IOV must be enabled "
	      "in the BIOS too");
	lacks(t, 0x8086, "16", 8, -ERANGE,
	      "16 VFs requested, 8 possible; request fewer, or let the firmware offer more: with "
	      "the "
	      "adapter's own tool or in "
	      "the BIOS setup, where SR-IOV must be enabled too");
	fake->params = true;
	lacks(t, 0x15b3, "16", 0, -EOPNOTSUPP,
	      "the PF offers no SR-IOV; have its firmware offer it: it has enable_sriov false and "
	      "total_vfs 0: run "
	      "`devlink dev param set pci/" PF
	      " name enable_sriov value true cmode permanent` and `devlink dev param set pci/" PF
	      " name total_vfs value 16 cmode permanent`, then reset the firmware or power-cycle "
	      "the node");
	fake->enable_sriov = true;
	fake->total_vfs = 16;
	lacks(t, 0x15b3, "16", 8, -ERANGE,
	      "16 VFs requested, 8 possible; request fewer, or let the firmware offer more: it has "
	      "total_vfs 16 set already, "
	      "which takes effect with a power cycle");
}

/* --- derived addresses --------------------------------------------------------------------- */

static void test_formula(void **state)
{
	static const uint8_t pf[6] = {0x0c, 0x42, 0xa1, 0x1b, 0x2c, 0x3d}, zero[6];
	uint8_t mac[6];
	uint64_t guid;
	char text[GUID_TEXT];

	(void)state;
	assert_int_equal(vf_derived_mac(pf, 0, mac, NULL), 0);
	assert_string_equal(mac_format(mac_number(mac), text), "26:94:00:1b:2c:3d");
	assert_int_equal(vf_derived_mac(pf, 1023, mac, NULL), 0);
	assert_string_equal(mac_format(mac_number(mac), text), "26:97:ff:1b:2c:3d");
	assert_int_equal(vf_derived_mac(pf, 1024, mac, NULL), -ERANGE);
	assert_int_equal(vf_derived_mac(zero, 0, mac, NULL), -EINVAL);
	assert_int_equal(vf_derived_guid(0xb8cef603001b2c3d, 0, &guid, NULL), 0);
	assert_string_equal(guid_format(guid, text), "ba:ce:f6:03:01:1b:2c:3d");
	assert_int_equal(vf_derived_guid(0xb8cef603001b2c3d, 65534, &guid, NULL), 0);
	assert_int_equal(vf_derived_guid(0xb8cef603001b2c3d, 65535, &guid, NULL), -ERANGE);
	assert_int_equal(vf_derived_guid(0, 0, &guid, NULL), -EINVAL);
	assert_true(guid_parse("26:94:00:1b:2c:3d:00:01", &guid) && guid == 0x2694001b2c3d0001);
	assert_false(guid_parse("26:94:00:1b:2c:3d", &guid) || guid_parse("", &guid) ||
		     guid_parse("26:94:00:1b:2c:3d:00:01:", &guid) ||
		     guid_parse("26-94-00-1b-2c-3d-00-01", &guid));
}

/* Neighbouring cards of vendors whose cards are in such nodes: every VF has its own. */
static void test_all_differ(void **state)
{
	static const uint32_t vendors[] = {
		0x0002c9, 0x043f72, 0x08c0eb, 0x0c42a1, 0x1070fd, 0x248a07, 0x506b4b, 0x5c2573,
		0x7cfe90, 0x88e9a4, 0x946dae, 0x98039b, 0x9c0591, 0xa088c2, 0xb83fd2, 0xb8cef6,
		0xb8599f, 0xc470bd, 0xe41d2d, 0xe8ebd3, 0xec0d9a, 0xf45214, 0xfc6a1c, 0x3cfdfe,
		0x40a6b7, 0x6805ca, 0xb49691, 0x001018, 0x0010e0, 0x58a2e1};
	bool seen[4096] = {false};

	(void)state;
	for (size_t i = 0; i < array_len(vendors); i++) {
		uint8_t pf[6] = {(uint8_t)(vendors[i] >> 16),
				 (uint8_t)(vendors[i] >> 8),
				 (uint8_t)vendors[i],
				 1,
				 2,
				 3};
		uint8_t mac[6];
		unsigned int h;

		assert_int_equal(vf_derived_mac(pf, 0, mac, NULL), 0);
		h = (unsigned int)(mac[0] >> 2) << 6 | mac[1] >> 2;
		if (seen[h])
			fail_msg("vendor %06x has the h of another", vendors[i]);
		seen[h] = true;
		assert_int_equal(mac[0] & 3, 2);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	static const struct CMUnitTest tests[] = {
		TEST(test_all_attributes),
		TEST(test_derived),
		TEST(test_refused),
		TEST(test_rate_waits_for_link),
		TEST(test_not_told),
		TEST(test_bound),
		TEST(test_asked_once),
		TEST(test_rtnl_held),
		TEST(test_waits_and_missing),
		TEST(test_ofed),
		TEST(test_elsewhere),
		TEST(test_eswitch),
		TEST(test_eswitch_with_vfs),
		TEST(test_eswitch_refused),
		TEST(test_no_eswitch),
		TEST(test_rdma_netns),
		TEST(test_firmware),
		cmocka_unit_test(test_formula),
		cmocka_unit_test(test_all_differ),
	};

	return cmocka_run_group_tests_name("kinds/netlink", tests, NULL, NULL);
}
