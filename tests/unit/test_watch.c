/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is remembered of functions, what counts as lost, and whose changes are done again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "base/str.h"
#include "engine/watch.h"
#include "plan/change.h"
#include "sys/state.h"
#include "tree.h"

#define PF "0000:41:00.0"
#define VF "0000:41:00.1"
#define DEVICES "sys/devices/"
#define NET DEVICES PF "/net/eth0"

/* A file system may give a number that is free again: what is new is made before the old goes. */
static void renew_dir(const struct tmp *t, const char *name)
{
	cleanup_free char *old = xasprintf("%s.old", name);
	cleanup_free char *from = xstrdup(tmp_path(t, name));

	assert_int_equal(rename(from, tmp_path(t, old)), 0);
	tree_dir(t, name);
}

static void renew_link(const struct tmp *t, const char *name, const char *target)
{
	cleanup_free char *old = xasprintf("%s.old", name);
	cleanup_free char *from = xstrdup(tmp_path(t, name));

	assert_int_equal(rename(from, tmp_path(t, old)), 0);
	tree_link(t, name, target);
}

static void make_tree(const struct tmp *t)
{
	tmp_write(t, NET "/ifindex", "3\n");
	tmp_write(t, "run/udev/data/n3", "I:1\n");
	tmp_write(t, DEVICES VF "/vendor", "0x15b3\n");
	tmp_write(t, "sys/bus/pci/drivers/mlx5_core/bind", "");
	tmp_write(t, "sys/bus/pci/drivers/vfio-pci/bind", "");
	tree_dir(t, "sys/bus/pci/devices");
	tree_link(t, "sys/bus/pci/devices/" PF, "../../../devices/" PF);
	tree_link(t, "sys/bus/pci/devices/" VF, "../../../devices/" VF);
	tree_link(t, DEVICES PF "/virtfn0", "../" VF);
	tree_link(t, DEVICES PF "/driver", "../../bus/pci/drivers/mlx5_core");
	tree_link(t, DEVICES VF "/driver", "../../bus/pci/drivers/mlx5_core");
}

/* Watches the PF of the tree, as the gate does. */
static int watch_begin_again(struct tmp *t)
{
	struct pci_fn fn = {.addr = PF};
	const struct pci_fn *one = &fn;
	struct selector sel = {.name = (char *)"rails"};
	struct device_set set = {.sel = &sel, .fn = {&one, 1, 1}};
	struct run run = {.root = &t->root, .sets = {.set = {&set, 1, 1}}};

	return watch_begin(&run, &t->err);
}

static int setup(void **state)
{
	int r = tmp_setup(state);

	if (r < 0)
		return r;
	make_tree(*state);
	return watch_begin_again(*state);
}

static struct watch look(const struct tmp *t)
{
	struct watch watch;

	watch_load(&t->root, &watch);
	assert_int_equal(watch.list.n, 1);
	watch_look(&t->root, &watch);
	return watch;
}

static void expect(const struct tmp *t, enum watched_state state, const char *why)
{
	struct watch watch = look(t);

	assert_int_equal(watch.list.v[0].state, state);
	assert_string_equal(watch.list.v[0].why, why);
	assert_int_equal(watch_lost(&watch), state != WATCHED_FINE);
	watch_free(&watch);
}

static void test_fine(void **state)
{
	struct tmp *t = *state;
	struct watch watch;

	assert_text(tree_text(t, "run/railhead/device-" PF), ".RAILHEAD_DEVICE=" PF "\n");
	assert_string_equal(tree_text(t, "run/railhead/vf-" VF), ".RAILHEAD_DEVICE=" PF "\n");
	expect(t, WATCHED_FINE, "");
	watch = look(t);
	assert_ptr_equal(watch_find(&watch, PF), &watch.list.v[0]);
	assert_ptr_equal(watch_find(&watch, VF), &watch.list.v[0]);
	assert_null(watch_find(&watch, "0000:41:00.2"));
	watch_free(&watch);
	watch_end(&t->root);
	assert_false(tree_has(t, "run/railhead/device-" PF));
	assert_false(tree_has(t, "run/railhead/vf-" VF));
}

/* A new name, and a netdev that is in a container's namespace, are no loss. */
static void test_no_loss(void **state)
{
	struct tmp *t = *state;
	cleanup_free char *from = xstrdup(tmp_path(t, NET));
	cleanup_free char *to = xstrdup(tmp_path(t, DEVICES PF "/net/rail0"));

	assert_int_equal(rename(from, to), 0);
	expect(t, WATCHED_FINE, "");
	assert_int_equal(rename(to, tmp_path(t, "elsewhere")), 0);
	expect(t, WATCHED_FINE, "");
}

static void test_driver(void **state)
{
	struct tmp *t = *state;

	renew_link(t, DEVICES PF "/driver", "../../bus/pci/drivers/mlx5_core");
	expect(t, WATCHED_BACK, "its driver was bound again");
	tree_remove(t, DEVICES PF "/driver");
	expect(t, WATCHED_AWAY, "it has no driver");
	tree_remove(t, "sys/bus/pci/devices/" PF);
	expect(t, WATCHED_AWAY, "it is gone from the bus");
}

static void test_removed_and_found(void **state)
{
	struct tmp *t = *state;

	renew_dir(t, DEVICES PF);
	expect(t, WATCHED_AWAY, "it was gone from the bus"); /* and its driver is still to come */
	tree_link(t, DEVICES PF "/driver", "../../bus/pci/drivers/mlx5_core");
	expect(t, WATCHED_COMING, "it was gone from the bus");
	tmp_write(t, NET "/ifindex", "4\n");
	expect(t, WATCHED_COMING, "it was gone from the bus"); /* udev has not named it */
	tmp_write(t, "run/udev/data/n4", "I:1\n");
	expect(t, WATCHED_BACK, "it was gone from the bus");
}

static void test_netdev(void **state)
{
	struct tmp *t = *state;

	renew_dir(t, NET);
	tmp_write(t, NET "/ifindex", "3\n");
	tree_remove(t, NET ".old/ifindex");
	tree_remove(t, NET ".old");
	expect(t, WATCHED_BACK, "its netdev went away or was made again");
}

/* A driver that comes after the verdict makes its first devices, and others join them. */
static void test_gains(void **state)
{
	struct tmp *t = *state;
	struct watch watch;

	tree_remove(t, NET "/ifindex");
	tree_remove(t, NET);
	tree_remove(t, DEVICES PF "/driver");
	assert_int_equal(watch_begin_again(t), 0);
	tree_link(t, DEVICES PF "/driver", "../../bus/pci/drivers/mlx5_core");
	tmp_write(t, NET "/ifindex", "3\n");
	tree_dir(t, DEVICES PF "/infiniband/mlx5_0");
	expect(t, WATCHED_FINE, "");

	watch = look(t);
	assert_true(watch.list.v[0].gained);
	assert_int_equal(watch_store_gained(&t->root, &watch.list.v[0], &t->err), 0);
	watch_free(&watch);
	watch = look(t);
	assert_false(watch.list.v[0].gained);
	watch_free(&watch);

	tree_dir(t, DEVICES PF "/net/representor");
	expect(t, WATCHED_FINE, "");
	tree_remove(t, DEVICES PF "/infiniband/mlx5_0");
	tree_remove(t, DEVICES PF "/infiniband");
	expect(t, WATCHED_COMING, "its RDMA device went away or was made again");
	tree_remove(t, DEVICES PF "/driver");
	expect(t, WATCHED_AWAY, "it has no driver");
}

static void test_vfs(void **state)
{
	struct tmp *t = *state;
	struct change vf = {.lane = (char *)PF "/vf0"}, other = {.lane = (char *)PF "/vf1"},
		      pf = {.lane = (char *)PF};
	cleanup_free char *first = NULL;
	struct watch watch;

	/* Given to a guest: left alone. */
	renew_link(t, DEVICES VF "/driver", "../../bus/pci/drivers/vfio-pci");
	expect(t, WATCHED_FINE, "");
	watch = look(t);
	assert_true(watch_spares(&watch, &vf));
	assert_false(watch_spares(&watch, &other)); /* one that was not there */
	assert_false(watch_spares(&watch, &pf));
	watch_free(&watch);

	/* Given back. */
	first = xstrdup(tmp_path(t, DEVICES VF "/driver.first"));
	assert_int_equal(rename(tmp_path(t, DEVICES VF "/driver.old"), first), 0);
	renew_link(t, DEVICES VF "/driver", "../../bus/pci/drivers/mlx5_core");
	expect(t, WATCHED_BACK, "a driver was bound again to its VFs");
	watch = look(t);
	assert_false(watch_spares(&watch, &vf));
	watch_free(&watch);
	assert_int_equal(watch_begin_again(t), 0);

	tree_remove(t, DEVICES PF "/virtfn0");
	expect(t, WATCHED_BACK, "its VFs went away or were made again");
	watch = look(t);
	assert_false(watch_spares(&watch, &vf));
	watch_free(&watch);
}

/* A loss is remembered, whatever is found later, until the function is as it should be. */
static void test_lost_and_back(void **state)
{
	struct tmp *t = *state;
	struct watch watch;
	struct watched *w;

	renew_link(t, DEVICES PF "/driver", "../../bus/pci/drivers/mlx5_core");
	watch = look(t);
	w = &watch.list.v[0];
	assert_int_equal(watch_store_lost(&t->root, w, &t->err), 0);
	assert_false(tree_has(t, "run/railhead/vf-" VF)); /* they start nothing now */
	assert_true(tree_has(t, "run/railhead/device-" PF));
	for (int n = 0; n < 5; n++) {
		assert_false(watch_flaps(w));
		assert_int_equal(watch_store_back(&t->root, w, &t->err), 0);
	}
	watch_free(&watch);
	assert_true(tree_has(t, "run/railhead/vf-" VF));
	expect(t, WATCHED_FINE, "");

	watch = look(t);
	w = &watch.list.v[0];
	assert_int_equal(w->returned.n, 5);
	assert_true(watch_flaps(w));
	w->lost_at = 1;
	w->flapping = true;
	snprintf(w->why, sizeof(w->why), "because of this");
	assert_int_equal(watch_store_lost(&t->root, w, &t->err), 0);
	watch_free(&watch);
	assert_false(tree_has(t, "run/railhead/device-" PF));
	expect(t, WATCHED_BACK, "because of this");
	watch = look(t);
	assert_true(watch.list.v[0].flapping);
	watch_free(&watch);
}

/* A file of a newer railhead, or half a line, is no reason to fail. */
static void test_strange_file(void **state)
{
	struct tmp *t = *state;
	struct watch watch;

	tmp_write(t, "run/railhead/device-0000:00:01.0",
		  "\n#\n#dir\n#vf 1\n#vf x y z\n#lost\n#lost 5\n#new 7 8\ngarbage\n#net -\n");
	watch_load(&t->root, &watch);
	assert_int_equal(watch.list.n, 2);
	assert_int_equal(watch.list.v[0].vf.n, 0);
	watch_look(&t->root, &watch);
	watch_free(&watch);
}

static void test_whose_changes(void **state)
{
	static const struct {
		const char *id, *lane, *target;
		enum stage stage;
		bool late, kept;
	} all[] = {
		{"numvfs", PF, "numvfs:" PF, STAGE_DEVICES, false, true},
		{"vf", PF "/vf0", "driver:" PF "/0", STAGE_DEVICES, false, false},
		{"new vf", PF "/vf3", "driver:" PF "/3", STAGE_DEVICES, false, true},
		{"other", "0000:81:00.0", "numvfs:0000:81:00.0", STAGE_DEVICES, false, false},
		{"check", PF, "x", STAGE_GATE, false, false},
		{"file", "", "/run/x", STAGE_DEVICES, false, false},
		{"kargs", "", "x", STAGE_INITRD, false, false},
		{"rp_filter", "", "/proc/sys/net/ipv4/conf/eth0/rp_filter", STAGE_EARLY, true,
		 true},
		{"queue", "", "/sys/class/net/eth0/queues/x", STAGE_EARLY, true, true},
		{"swappiness", "", "/proc/sys/vm/swappiness", STAGE_EARLY, true, false},
		{"early", "", "/sys/kernel/x", STAGE_EARLY, false, false},
	};
	struct place nowhere = {0};
	struct plan plan = {0};
	struct tmp *t = *state;
	struct watch watch;
	size_t kept = 0;

	for (size_t i = 0; i < array_len(all); i++) {
		struct change *c = plan_add(&plan, "x", &kind_attr, all[i].stage, PHASE_FILES,
					    nowhere, "%s", all[i].id);

		change_lane(c, "%s", all[i].lane);
		change_target(c, "%s", all[i].target);
		change_desired(c, "1");
		c->late = all[i].late;
		kept += all[i].kept;
	}
	renew_dir(t, NET);
	tmp_write(t, NET "/ifindex", "3\n");
	tree_remove(t, NET ".old/ifindex");
	tree_remove(t, NET ".old");
	watch = look(t);
	assert_int_equal(watch.list.v[0].state, WATCHED_BACK);
	watch_keep_back(&watch, &plan);
	assert_int_equal(plan.list.n, kept);
	for (size_t i = 0; i < array_len(all); i++)
		if ((plan_find(&plan, all[i].id) != NULL) != all[i].kept)
			fail_msg("%s", all[i].id);
	plan_free(&plan);
	watch_free(&watch);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, tmp_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_fine),	 TEST(test_no_loss),
		TEST(test_driver),	 TEST(test_removed_and_found),
		TEST(test_gains),	 TEST(test_netdev),
		TEST(test_vfs),		 TEST(test_lost_and_back),
		TEST(test_strange_file), TEST(test_whose_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
