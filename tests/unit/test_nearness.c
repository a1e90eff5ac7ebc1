/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which GPU goes with which NIC. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "node/nearness.h"
#include "tree.h"

#define ROOT0 "pci0000:10/0000:10:01.0/"
#define ROOT1 "pci0000:20/0000:20:01.0/"
#define SWITCH0 ROOT0 "0000:11:00.0/"
#define SWITCH1 ROOT1 "0000:21:00.0/"

enum { GPU = 0x030200, NIC = 0x020000 };

static struct pci_fn function(struct tmp *t, const char *above, const char *addr, uint32_t class,
			      int numa)
{
	struct pci_fn fn = {.class = class, .numa = numa, .vendor = 0x10de};
	cleanup_free char *name = xasprintf("sys/bus/pci/devices/%s", addr);
	cleanup_free char *target = xasprintf("../../../devices/%s%s", above, addr);

	snprintf(fn.addr, sizeof(fn.addr), "%s", addr);
	tree_link(t, name, target);
	return fn;
}

static void expect_pair(const struct pairs *pairs, size_t i, const struct pci_fn *gpu,
			enum nearness how)
{
	assert_true(i < pairs->n);
	assert_ptr_equal(pairs->v[i].gpu, gpu);
	assert_string_equal(nearness_name(pairs->v[i].how), nearness_name(how));
}

/* Of a switch each port has a bridge of its own; the bridge up is what both have above them. */
static void test_below_switches(void **state)
{
	struct tmp *t = *state;
	struct pci_fn nics[] = {
		function(t, SWITCH0 "0000:12:00.0/", "0000:13:00.0", NIC, 0),
		function(t, SWITCH1 "0000:22:00.0/", "0000:23:00.0", NIC, 1),
	};
	struct pci_fn gpus[] = {
		function(t, SWITCH1 "0000:22:01.0/", "0000:24:00.0", GPU, 1),
		function(t, SWITCH0 "0000:12:01.0/", "0000:14:00.0", GPU, 0),
	};
	const struct pci_fn *n[] = {&nics[0], &nics[1]}, *g[] = {&gpus[0], &gpus[1]};
	struct pairs pairs = {0};

	pairs_find(&t->root, &(struct node){0}, n, 2, g, 2, &pairs);
	expect_pair(&pairs, 0, &gpus[1], NEAR_SWITCH);
	expect_pair(&pairs, 1, &gpus[0], NEAR_SWITCH);
	vec_free(&pairs);
}

/* The nearer pair is made first, although the other NIC comes first. */
static void test_nearest_first(void **state)
{
	struct tmp *t = *state;
	struct pci_fn nics[] = {
		function(t, ROOT1, "0000:23:00.0", NIC, 0),
		function(t, SWITCH0 "0000:12:00.0/", "0000:33:00.0", NIC, 0),
	};
	struct pci_fn gpus[] = {
		function(t, SWITCH0 "0000:12:01.0/", "0000:14:00.0", GPU, 0),
		function(t, "pci0000:30/0000:30:01.0/", "0000:34:00.0", GPU, 1),
	};
	const struct pci_fn *n[] = {&nics[0], &nics[1]}, *g[] = {&gpus[0], &gpus[1]};
	struct pairs pairs = {0};

	pairs_find(&t->root, &(struct node){0}, n, 2, g, 2, &pairs);
	expect_pair(&pairs, 0, &gpus[1], NEAR_NOT);
	assert_ptr_equal(pairs.v[0].nearest, &gpus[0]); /* another's */
	assert_int_equal(pairs.v[0].nearest_how, NEAR_NUMA);
	expect_pair(&pairs, 1, &gpus[0], NEAR_SWITCH);
	vec_free(&pairs);
}

static void test_levels(void **state)
{
	struct tmp *t = *state;
	struct pci_fn nic = function(t, SWITCH0 "0000:12:00.0/", "0000:13:00.0", NIC, 0);
	struct pci_fn gpus[] = {
		function(t, "pci0000:40/0000:40:01.0/", "0000:41:00.0", GPU, 1),
		function(t, "pci0000:10/0000:10:02.0/", "0000:18:00.0", GPU, 0),
		function(t, ROOT0, "0000:19:00.0", GPU, 0),
		function(t, SWITCH0 "0000:12:01.0/", "0000:14:00.0", GPU, 0),
		function(t, SWITCH0 "0000:12:00.0/", "0000:13:00.1", GPU, 0),
	};
	static const enum nearness how[] = {NEAR_NOT, NEAR_NUMA, NEAR_ROOT_PORT, NEAR_SWITCH,
					    NEAR_SWITCH};
	const struct pci_fn *n[] = {&nic}, *g[5];

	/* With each more there is a nearer one. */
	for (size_t i = 0; i < array_len(gpus); i++) {
		struct pairs pairs = {0};

		g[i] = &gpus[i];
		pairs_find(&t->root, &(struct node){0}, n, 1, g, i + 1, &pairs);
		expect_pair(&pairs, 0, &gpus[i], how[i]);
		vec_free(&pairs);
	}
}

/* On a root bus, as in guests; nodes that the firmware does not name are no common one. */
static void test_no_bridges(void **state)
{
	struct tmp *t = *state;
	struct pci_fn nics[] = {function(t, "pci0000:00/", "0000:00:05.0", NIC, -1),
				function(t, "pci0001:00/", "0001:00:00.0", NIC, 1)};
	struct pci_fn gpus[] = {function(t, "pci0000:00/", "0000:00:06.0", GPU, -1),
				function(t, "pci0002:00/", "0002:00:00.0", GPU, 1)};
	const struct pci_fn *n[] = {&nics[0], &nics[1]}, *g[] = {&gpus[0], &gpus[1]};
	struct pairs pairs = {0};

	pairs_find(&t->root, &(struct node){0}, n, 2, g, 2, &pairs);
	expect_pair(&pairs, 0, &gpus[0], NEAR_NOT);
	expect_pair(&pairs, 1, &gpus[1], NEAR_NUMA);
	vec_free(&pairs);
}

static void test_too_few(void **state)
{
	struct tmp *t = *state;
	struct pci_fn nics[] = {function(t, ROOT0, "0000:13:00.0", NIC, 0),
				function(t, ROOT0, "0000:13:00.1", NIC, 0)};
	struct pci_fn gpu = function(t, ROOT0, "0000:14:00.0", GPU, 0);
	const struct pci_fn *n[] = {&nics[0], &nics[1]}, *g[] = {&gpu};
	struct pairs pairs = {0};

	pairs_find(&t->root, &(struct node){0}, n, 2, g, 1, &pairs);
	expect_pair(&pairs, 0, &gpu, NEAR_ROOT_PORT);
	expect_pair(&pairs, 1, NULL, NEAR_NOT);
	assert_ptr_equal(pairs.v[1].nearest, &gpu);
	vec_free(&pairs);
	pairs_find(&t->root, &(struct node){0}, n, 2, NULL, 0, &pairs);
	expect_pair(&pairs, 0, NULL, NEAR_NOT);
	assert_null(pairs.v[0].nearest);
	vec_free(&pairs);
}

/* Of a whole node: no VFs, and no little screen of a BMC. */
static void test_of_node(void **state)
{
	struct tmp *t = *state;
	struct node node = {0};
	struct pci_fn nic = function(t, ROOT0, "0000:13:00.0", NIC, 0);
	struct pci_fn vf = function(t, ROOT0, "0000:13:00.1", NIC, 0);
	struct pci_fn bmc = function(t, ROOT0, "0000:14:00.0", 0x030000, 0);
	struct pci_fn amd = function(t, ROOT1, "0000:24:00.0", 0x120000, 0);
	struct pairs pairs = {0};

	bmc.vendor = 0x1a03;
	amd.vendor = 0x1002;
	snprintf(vf.physfn, sizeof(vf.physfn), "%s", nic.addr);
	vec_push(&node.pci, nic);
	vec_push(&node.pci, vf);
	vec_push(&node.pci, bmc);
	pairs_of_node(&t->root, &node, &pairs);
	assert_int_equal(pairs.n, 0);
	vec_push(&node.pci, amd);
	pairs_of_node(&t->root, &node, &pairs);
	assert_int_equal(pairs.n, 1);
	assert_string_equal(pairs.v[0].nic->addr, nic.addr);
	assert_string_equal(pairs.v[0].gpu->addr, amd.addr);
	vec_free(&pairs);
	vec_free(&node.pci);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_below_switches, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_nearest_first, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_levels, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_no_bridges, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_too_few, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_of_node, tmp_setup, tmp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
