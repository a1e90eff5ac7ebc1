/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of queues on a machine that says it is the real one: they are read apart, once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kind_run.h"
#include "kinds/link.h"
#include "row.h"

#define FN "0000:41:00.0"
#define NET "sys/devices/pci0000:00/" FN "/net/"

static int setup(void **state)
{
	static const struct tree_file files[] = {
		{"sys/devices/system/cpu/present", "0-3\n"},
		{"sys/devices/system/cpu/online", "0-3\n"},
		{"sys/devices/system/node/online", "0\n"},
		{"proc/cpuinfo", "vendor\n"},
		{NET "eth0/ifindex", "2\n"},
		{NET "eth0/phys_port_name", "p0\n"},
		{NET "eth0/queues/rx-0/rps_cpus", "0000000f\n"},
		{NET "eth0/queues/tx-0/xps_cpus", "00000003\n"},
		{NET "eth0/queues/tx-1/xps_cpus", "0000000c\n"},
		/* a representor, which is none of the function's own */
		{NET "eth1/ifindex", "3\n"},
		{NET "eth1/phys_port_name", "pf0vf1\n"},
		{NET "eth1/queues/rx-0/rps_cpus", "00000000\n"},
		{"sys/class/net/eth0", "->../../devices/pci0000:00/" FN "/net/eth0"},
		{"sys/class/net/eth1", "->../../devices/pci0000:00/" FN "/net/eth1"},
	};
	struct tree_fn fn = {
		.addr = FN, .ids = "15b3:1021", .class = "0x020000", .driver = "mlx5_core"};

	if (live_setup(state, files, array_len(files)) < 0)
		return -1;
	tree_pci(*state, &fn);
	return 0;
}

struct trial {
	struct ynode *value;
	struct plan plan;
	struct change *c;
	struct node node;
	struct kind_ctx ctx;
};

static int look(struct trial *x, struct tmp *t, const char *key, const char *value)
{
	const struct field *row = row_find("link", key);

	*x = (struct trial){.ctx = {.root = &t->root, .running = STAGE_DEVICES}};
	assert_int_equal(node_survey(&t->root, &x->node, &t->err), 0);
	x->ctx.node = &x->node;
	x->c = plan_add(&x->plan, "link", &kind_netlink, STAGE_DEVICES, PHASE_PORT,
			(struct place){0}, "link");
	x->value = row_value(row, value);
	change_on(x->c, FN, row->item);
	x->c->on.key = row->name;
	change_part(x->c, row->name, NULL, x->value);
	return queues_look(&x->ctx, x->c, &t->err);
}

static void end(struct trial *x)
{
	plan_free(&x->plan);
	node_free(&x->node);
	ynode_free(x->value);
}

static void expect(struct tmp *t, const char *key, const char *value, enum change_state state,
		   const char *observed)
{
	struct trial x;

	assert_int_equal(look(&x, t, key, value), 0);
	assert_string_equal(x.c->now.found, observed);
	assert_int_equal(x.c->now.state, state);
	end(&x);
}

static void test_each_queue(void **state)
{
	kinds_forget(NULL);
	expect(*state, "rps", "local_node", CHANGE_SAME, "1 queue on node 0");
	expect(*state, "rps", "none", CHANGE_DIFFERS,
	       "0 of 1 queues on no CPU; rx-0 of eth0 has 0000000f");
	expect(*state, "xps", "0-3", CHANGE_DIFFERS,
	       "0 of 2 queues on CPUs 0-3; tx-0 of eth0 has 00000003");
}

/* Until it is forgotten: no second child for another key of the function. */
static void test_asked_once(void **state)
{
	struct tmp *t = *state;

	kinds_forget(NULL);
	expect(t, "rps", "0-3", CHANGE_SAME, "1 queue on CPUs 0-3");
	tmp_write(t, NET "eth0/queues/tx-0/xps_cpus", "00000005\n");
	tmp_write(t, NET "eth0/queues/tx-1/xps_cpus", "0000000a\n");
	expect(t, "xps", "0-3", CHANGE_DIFFERS,
	       "0 of 2 queues on CPUs 0-3; tx-0 of eth0 has 00000003");
	kinds_forget(NULL);
	expect(t, "xps", "0-3", CHANGE_SAME, "2 queues on CPUs 0-3");
}

/* A kernel without CONFIG_RFS_ACCEL or CONFIG_RPS has no such file. */
static void test_not_offered(void **state)
{
	struct tmp *t = *state;
	struct trial x;

	kinds_forget(NULL);
	assert_int_equal(look(&x, t, "rps_flows", "4096"), -EOPNOTSUPP);
	assert_text(t->err.text, "eth0 (" FN ") has no rps_flow_cnt for its 1 rx queue: ");
	end(&x);
}

static void test_no_netdev(void **state)
{
	struct tmp *t = *state;
	struct trial x;

	tree_remove(t, NET "eth0/ifindex");
	tree_remove(t, NET "eth1/ifindex");
	kinds_forget(NULL);
	assert_int_equal(look(&x, t, "rps", "none"), 0);
	assert_int_equal(x.c->now.state,
			 CHANGE_UNSUPPORTED); /* its netdevs are in another namespace */
	end(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_each_queue, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_asked_once, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_not_offered, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_no_netdev, setup, tmp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
