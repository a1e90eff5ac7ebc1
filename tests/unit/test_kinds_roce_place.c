/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What belongs to a function whose RDMA device or DCQCN is not the usual driver's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kinds/roce.h"
#include "tree.h"

#define PF "0000:3b:00.0"
#define PF1 "0000:3b:00.1"
#define PF_DIR "sys/bus/pci/devices/" PF "/"

static const struct tree_file machine[] = {
	{PF_DIR "driver", "->../../../../bus/pci/drivers/igb"},
	{PF_DIR "net/rail0/ifindex", "7\n"},
	{"sys/class/net/rail0/ifindex", "7\n"},
	{"sys/class/infiniband/other0/parent", "rail00\n"},
	{"sys/class/infiniband/without/node_type", "1: CA\n"},
};

static int setup(void **state)
{
	int r = tmp_setup(state);

	if (r == 0)
		tree_write(*state, machine, array_len(machine));
	return r;
}

/* rxe and siw have no device, and say whose netdev they are on. */
static void software_by_its_netdev(void **state)
{
	struct tmp *t = *state;
	static const struct tree_file rxe[] = {
		{"sys/class/infiniband/rxe0/parent", "rail0\n"},
	};
	static const struct tree_file own[] = {
		{PF_DIR "infiniband/roce3b/node_type", "1: CA\n"},
	};
	struct cc_place place;

	cc_place_find(&t->root, PF, &place);
	assert_string_equal(place.netdev, "rail0");
	assert_null(place.ibdev);
	cc_place_free(&place);
	tree_write(t, rxe, array_len(rxe));
	cc_place_find(&t->root, PF, &place);
	assert_string_equal(place.ibdev, "rxe0");
	cc_place_free(&place);
	tree_write(t, own, array_len(own));
	cc_place_find(&t->root, PF, &place);
	assert_string_equal(place.ibdev, "roce3b");
	cc_place_free(&place);
}

static void files_by_their_being_there(void **state)
{
	struct tmp *t = *state;
	static const struct tree_file ecn[] = {
		{"sys/class/net/rail0/ecn/roce_np/cnp_dscp", "48\n"},
	};
	struct cc_place place;

	cc_place_find(&t->root, PF, &place);
	assert_null(cc_vendor(&place));
	tree_write(t, ecn, array_len(ecn));
	assert_non_null(cc_vendor(&place));
	assert_string_equal(cc_vendor(&place)->dir, "/sys/class/net/{netdev}/ecn");
	cc_place_free(&place);
}

/* RoCE LAG: what is set of the second port is set of the one device that both have. */
static void a_bond_by_the_other_port(void **state)
{
	struct tmp *t = *state;
	static const struct tree_file bonded[] = {
		{"sys/class/net/bond0/bonding/slaves", "rail1 rail0\n"},
		{"sys/class/net/rail0/master", "->../bond0"},
		{"sys/class/net/rail0/device", "->../../../bus/pci/devices/" PF},
		{"sys/class/net/rail1/device", "->../../../bus/pci/devices/" PF1},
		{"sys/bus/pci/devices/" PF1 "/infiniband/mlx5_bond_0/node_type", "1: CA\n"},
	};
	struct cc_place place;

	cc_place_find(&t->root, PF, &place);
	assert_false(place.bonded);
	assert_string_equal(place.owner, PF);
	cc_place_free(&place);
	tree_write(t, bonded, array_len(bonded));
	cc_place_find(&t->root, PF, &place);
	assert_true(place.bonded);
	assert_string_equal(place.ibdev, "mlx5_bond_0");
	assert_string_equal(place.owner, PF1);
	cc_place_free(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(software_by_its_netdev, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(a_bond_by_the_other_port, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(files_by_their_being_there, setup, tmp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
