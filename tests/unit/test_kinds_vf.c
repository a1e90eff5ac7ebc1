/* SPDX-License-Identifier: GPL-2.0-or-later */
/* VFs: when one is as wanted, and where a worker sleeps that does not come back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kinds/function.h"
#include "kinds/vf.h"
#include "node/drivers.h"
#include "tree.h"
#include "plan/change.h"

#define PF "0000:3b:00.0"
#define VF "0000:3b:00.2"

static void make_pf(struct tmp *t, const char *driver, bool rdma)
{
	struct tree_fn fn = {.addr = PF,
			     .ids = "15b3:1021",
			     .class = "0x020000",
			     .driver = driver,
			     .net = "ens1",
			     .vfs = "8"};

	tree_pci(t, &fn);
	if (rdma)
		tree_fn_file(t, PF, "infiniband/mlx5_0/node_guid", "0\n");
}

static void make_vf(struct tmp *t, const char *driver, const char *class)
{
	struct tree_fn fn = {
		.addr = VF, .ids = "15b3:101e", .class = class, .driver = driver, .physfn = PF};

	tree_pci(t, &fn);
	tree_fn_file(t, PF, "virtfn1", "->../" VF);
	tree_fn_file(t, VF, "driver_override", "(null)\n");
}

/* --- a VF and its driver ---------------------------------------------------------------------- */

static void look(struct tmp *t, const char *desired, enum change_state state, const char *observed)
{
	struct kind_ctx ctx = {.root = &t->root, .running = STAGE_DEVICES};
	struct plan plan = {0};
	struct change *c = plan_add(&plan, "sriov", &kind_vf, STAGE_DEVICES, PHASE_VF_DRIVER,
				    (struct place){0}, "vf");

	change_on(c, PF, &vf_driver);
	c->on.vf = 1;
	while (!streq(vf_driver_words[c->want.number], desired))
		c->want.number++;
	item_desired(c);
	assert_string_equal(c->desired, desired);
	assert_int_equal(kind_vf.look(&ctx, c, &t->err), 0);
	assert_string_equal(c->now.found, observed);
	assert_int_equal(c->now.state, state);
	plan_free(&plan);
}

static void test_no_such_vf(void **state)
{
	make_pf(*state, "mlx5_core", false);
	look(*state, "netdev", CHANGE_WAITS, "no such VF");
}

static void test_wanted_driver(void **state)
{
	struct tmp *t = *state;

	make_pf(t, "mlx5_core", false);
	make_vf(t, NULL, "0x020000");
	look(t, "netdev", CHANGE_DIFFERS, "none");
	look(t, "vfio-pci", CHANGE_DIFFERS, "none");
	look(t, "none", CHANGE_DIFFERS, "none, but open to any driver");
	tree_fn_file(t, VF, "driver_override", "none\n");
	look(t, "none", CHANGE_SAME, "none");
	make_vf(t, "vfio-pci", "0x020000");
	look(t, "vfio-pci", CHANGE_SAME, "vfio-pci"); /* which makes no netdev */
	look(t, "netdev", CHANGE_DIFFERS, "vfio-pci");
}

/* What its driver must have made of it, by what it is and what its PF has. */
static void test_devices_of_driver(void **state)
{
	static const struct {
		const char *pf_driver, *vf_driver, *class;
		bool pf_rdma, net, rdma;
		const char *observed; /* NULL: as wanted */
	} t[] = {
		{"igb", "igbvf", "0x020000", false, true, false, NULL},
		{"igb", "igbvf", "0x020000", false, false, false, "igbvf, no netdev"},
		{"mlx5_core", "mlx5_core", "0x020000", false, true, false, NULL},
		{"mlx5_core", "mlx5_core", "0x020000", true, true, true, NULL},
		{"mlx5_core", "mlx5_core", "0x020000", true, true, false,
		 "mlx5_core, no RDMA device"},
		{"mlx5_core", "mlx5_core", "0x020000", true, false, true, "mlx5_core, no netdev"},
		/* the PF has RDMA devices of a driver that gives its VFs none */
		{"ice", "iavf", "0x020000", true, true, false, NULL},
		/* InfiniBand: ib_ipoib need not be loaded */
		{"mlx5_core", "mlx5_core", "0x020700", true, false, true, NULL},
		{"mlx5_core", "mlx5_core", "0x020700", true, true, false,
		 "mlx5_core, no RDMA device"},
		{"mlx4_core", "mlx4_core", "0x028000", false, true, false, NULL},
		{"mlx4_core", "mlx4_core", "0x028000", false, false, false,
		 "mlx4_core, no netdev and no RDMA device"},
		{"nvme", "nvme", "0x010802", false, false, false, NULL},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		void *tmp;

		assert_int_equal(tmp_setup(&tmp), 0);
		make_pf(tmp, t[i].pf_driver, t[i].pf_rdma);
		make_vf(tmp, t[i].vf_driver, t[i].class);
		if (t[i].net)
			tree_fn_file(tmp, VF, "net/eth0/ifindex", "7\n");
		if (t[i].rdma)
			tree_fn_file(tmp, VF, "infiniband/mlx5_1/node_guid", "0\n");
		look(tmp, "netdev", t[i].observed ? CHANGE_DIFFERS : CHANGE_SAME,
		     t[i].observed ? t[i].observed : t[i].vf_driver);
		tmp_teardown(&tmp);
	}
}

static void test_names(void **state)
{
	struct tmp *t = *state;

	make_pf(t, "mlx5_core", false);
	make_vf(t, "mlx5_core", "0x020000");
	assert_false(function_named(&t->root, VF)); /* no netdev */
	tree_fn_file(t, VF, "net/eth0/ifindex", "7\n");
	assert_false(function_named(&t->root, VF));
	tmp_write(t, "run/udev/data/n7", "I:1\n");
	assert_true(function_named(&t->root, VF));
	tree_fn_file(t, VF, "net/eth1/ifindex", "8\n");
	assert_false(function_named(&t->root, VF)); /* all of them */
}

/* What a numvfs write without a file comes to: no driver, another driver, no PF. */
static void test_no_maker(void **state)
{
	struct tmp *t = *state;
	struct kind_ctx ctx = {.root = &t->root, .running = STAGE_DEVICES, .waited = 30000000};
	struct plan plan = {0};
	struct change *c = plan_add(&plan, "sriov", &kind_vf, STAGE_DEVICES, PHASE_NUMVFS,
				    (struct place){0}, "numvfs");

	change_on(c, PF, &vf_numvfs);
	c->want.number = 4;
	assert_int_equal(kind_vf.set(&ctx, c, &t->err), -ENODEV);
	assert_text(t->err.text, PF " is gone from the bus");
	make_pf(t, NULL, false);
	tree_remove(t, "sys/devices/pci0000:00/" PF "/sriov_numvfs");
	assert_int_equal(kind_vf.set(&ctx, c, &t->err), -ENOENT);
	assert_text(t->err.text, PF " has no driver after 30 s; is its module in modules.load");
	make_pf(t, "pci-stub", false);
	tree_remove(t, "sys/devices/pci0000:00/" PF "/sriov_numvfs");
	assert_int_equal(kind_vf.set(&ctx, c, &t->err), -ENOENT);
	assert_text(t->err.text, "pci-stub, the driver of " PF ", creates no VFs");
	plan_free(&plan);
}

/* Each name has one row, and an unknown driver no facts. */
static void test_drivers(void **state)
{
	(void)state;
	for (const struct driver *d = drivers; d->name; d++)
		assert_ptr_equal(driver_find(d->name), d);
	assert_string_equal(driver_find("igb")->vf, "igbvf");
	assert_string_equal(driver_find("mlx5_core")->vf, "mlx5_core");
	assert_null(driver_find("unheard_of")->vf);
	assert_null(driver_find(NULL)->vf);
}

/* --- where a worker sleeps -------------------------------------------------------------------- */

#define STORE                                       \
	"[<0>] sriov_numvfs_store+0x9c/0x180\n"     \
	"[<0>] kernfs_fop_write_iter+0x14e/0x200\n" \
	"[<0>] entry_SYSCALL_64_after_hwframe+0x76/0x7e\n"

static void test_where(void **state)
{
	static const struct {
		const char *stack; /* NULL: there is none */
		enum whereabouts where;
		const char *in;
	} t[] = {
		{NULL, WHERE_UNKNOWN, ""},
		{"", WHERE_UNKNOWN, ""}, /* it has ended */
		{STORE, WHERE_IN_LINE, ""},
		{"[<0>] pci_lock_rescan_remove+0x15/0x20\n" STORE, WHERE_IN_LINE, ""},
		{"[<0>] __mutex_lock.constprop.0+0x3a5/0x740\n" STORE, WHERE_IN_LINE, ""},
		{"[<0>] mlx5_cmd_exec+0x25/0x50 [mlx5_core]\n"
		 "[<0>] mlx5_core_sriov_configure+0x8c/0x1a0 [mlx5_core]\n" STORE,
		 WHERE_AT_WORK, "mlx5_cmd_exec"},
		/* a lock of the driver's own is work */
		{"[<0>] mutex_lock+0x12/0x30\n"
		 "[<0>] mlx5_core_sriov_configure+0x8c/0x1a0 [mlx5_core]\n" STORE,
		 WHERE_AT_WORK, "mlx5_core_sriov_configure"},
		{"[<0>] hrtimer_nanosleep+0x74/0xf0\n"
		 "[<0>] entry_SYSCALL_64_after_hwframe+0x76/0x7e\n",
		 WHERE_AT_WORK, "hrtimer_nanosleep"},
		{"not as expected\n", WHERE_UNKNOWN, ""},
	};
	struct tmp *tmp = *state;

	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_str struct str in = {0};

		if (t[i].stack)
			tmp_write(tmp, "proc/4242/stack", t[i].stack);
		assert_int_equal(vf_where(&tmp->root, 4242, &in), t[i].where);
		assert_string_equal(str_get(&in), t[i].in);
		assert_int_equal(vf_where(&tmp->root, 4242, NULL), t[i].where);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_no_such_vf, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_wanted_driver, tmp_setup, tmp_teardown),
		cmocka_unit_test(test_devices_of_driver),
		cmocka_unit_test_setup_teardown(test_names, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_no_maker, tmp_setup, tmp_teardown),
		cmocka_unit_test(test_drivers),
		cmocka_unit_test_setup_teardown(test_where, tmp_setup, tmp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
