/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the sriov, qos and rdma sections emit: which changes, in which order, of which VFs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "planned.h"

#define MLX "0000:3b:00.0"
#define IB "0000:5e:00.0"
#define ICE "0000:81:00.0"
#define BNXT "0000:91:00.0"
#define DEVICES                                                                                 \
	"devices: {mlx: {pci: \"15b3:1021\", link: ethernet}, ib: {pci: \"15b3:1021\", "        \
	"link: infiniband}, all: {pci: \"15b3:1021\"}, ice: {pci: \"8086:1592\"}, bnxt: {pci: " \
	"\"14e4:1750\"}}\n"

static const struct tree_file machine[] = {
	{"proc/cpuinfo", "vendor_id : GenuineIntel\n"}, {"proc/meminfo", "MemTotal: 33554432 kB\n"},
	{"sys/devices/system/cpu/present", "0-7\n"},	{"sys/devices/system/node/online", "0\n"},
	{"sys/devices/system/node/has_cpu", "0\n"},
};

static const struct tree_fn functions[] = {
	{MLX, "15b3:1021", "0x020000", "0", "mlx5_core", "eth0", .vfs = "4"},
	{IB, "15b3:1021", "0x020700", "0", "mlx5_core", NULL, .vfs = "4"},
	{ICE, "8086:1592", "0x020000", "0", "ice", "eth2", .vfs = "4"},
	{BNXT, "14e4:1750", "0x020000", "0", "bnxt_en", "eth3", .vfs = "4"},
};

static int setup(void **state)
{
	int r = tmp_setup(state);

	if (r < 0)
		return r;
	tree_write(*state, machine, array_len(machine));
	for (size_t i = 0; i < array_len(functions); i++)
		tree_pci(*state, &functions[i]);
	return 0;
}

static void plan_it(struct tmp *t, const char *text, struct planned *p)
{
	cleanup_free char *all = xasprintf("%s%s", DEVICES, text);

	planned_make(t, all, p);
	assert_int_equal(p->result, 0);
}

static struct change *get(const struct planned *p, const char *id)
{
	struct change *c = plan_find(&p->plan, id);

	if (!c)
		fail_msg("no change %s", id);
	return c;
}

/* What it waits for makes its target anew. */
static void waits(const struct planned *p, const char *id, const char *on)
{
	struct change *c = get(p, id);

	assert_non_null(c->waits_for);
	assert_string_equal(c->waits_for, on);
	assert_true(c->remade);
}

/* A change can only wait for one that was looked at before it. */
static void assert_in_order(const struct plan *plan)
{
	for (size_t i = 0; i < plan->list.n; i++) {
		size_t j = 0;

		if (!plan->list.v[i]->waits_for)
			continue;
		while (j < i && !streq(plan->list.v[j]->id, plan->list.v[i]->waits_for))
			j++;
		if (j == i)
			fail_msg("%s comes before %s", plan->list.v[i]->id,
				 plan->list.v[i]->waits_for);
		assert_true(plan->list.v[j]->phase <= plan->list.v[i]->phase);
	}
}

static void test_attributes(void **state)
{
	struct planned p;
	struct change *c;

	plan_it(*state,
		"sriov: {mlx: {vfs: 2, vf: {driver: netdev, mac: [\"02:00:00:00:00:01\", "
		"\"02:00:00:00:00:02\"], trust: true, spoof_check: false, vlan: 5, link_state: "
		"enable, min_rate: 1Gb/s, max_rate: 10Gb/s}}}\n",
		&p);
	c = get(&p, "sriov/" MLX "/vf1/address");
	assert_string_equal(c->target, "vf:" MLX "/1");
	assert_string_equal(c->desired, "mac 02:00:00:00:00:02 vlan 5 min_rate 1000 max_rate 10000 "
					"spoof_check off trust on link_state enable");
	assert_string_equal(c->lane, MLX "/vf1");
	assert_int_equal(c->phase, PHASE_VF_ADDRESS);
	assert_int_equal(c->stage, STAGE_DEVICES);
	assert_false(c->optional);
	waits(&p, "sriov/" MLX "/vf1/address", "sriov/" MLX "/numvfs");
	waits(&p, "sriov/" MLX "/vf1/driver", "sriov/" MLX "/vf1/address");
	assert_null(get(&p, "sriov/" MLX "/numvfs")->waits_for);
	assert_in_order(&p.plan);
	planned_free(&p);
}

/* Nothing is said of addresses: nothing is asked of the kernel. */
static void test_nothing_asked(void **state)
{
	struct planned p;

	plan_it(*state, "sriov: {mlx: {vfs: 2, vf: {driver: netdev, mac: driver}}}\n", &p);
	for (size_t i = 0; i < p.plan.list.n; i++)
		assert_int_not_equal(p.plan.list.v[i]->kind, &kind_netlink);
	waits(&p, "sriov/" MLX "/vf1/driver", "sriov/" MLX "/numvfs");
	planned_free(&p);
}

/* A set with ports of both sorts: each port has the address of its own sort. */
static void test_both_sorts(void **state)
{
	struct planned p;

	plan_it(*state,
		"sriov: {all: {vfs: 1, optional: [vf], vf: {mac: derived, guid: derived}}}\n", &p);
	assert_string_equal(get(&p, "sriov/" MLX "/vf0/address")->desired, "mac derived");
	assert_string_equal(get(&p, "sriov/" IB "/vf0/address")->desired, "guid derived");
	/* what a driver does not offer is skipped, but not the VFs themselves */
	assert_true(get(&p, "sriov/" IB "/vf0/address")->optional);
	assert_false(get(&p, "sriov/" IB "/numvfs")->optional);
	planned_free(&p);
}

/* mlx5 has its VFs first, all others have none when the mode changes. */
static void test_eswitch_order(void **state)
{
	struct planned p;
	struct change *c;

	plan_it(*state,
		"sriov: {mlx: {vfs: 1, mode: switchdev, vf: {mac: derived}}, ice: {vfs: 1, mode: "
		"legacy, vf: {driver: none}}}\n",
		&p);
	c = get(&p, "sriov/" MLX "/eswitch");
	assert_string_equal(c->target, "eswitch_with_vfs:" MLX);
	assert_string_equal(c->desired, "switchdev");
	assert_int_equal(c->phase, PHASE_VF_ESWITCH);
	waits(&p, "sriov/" MLX "/eswitch", "sriov/" MLX "/numvfs");
	waits(&p, "sriov/" MLX "/vf0/address", "sriov/" MLX "/eswitch");
	waits(&p, "sriov/" MLX "/vf0/driver", "sriov/" MLX "/vf0/address");
	c = get(&p, "sriov/" ICE "/eswitch");
	assert_string_equal(c->target, "eswitch:" ICE);
	assert_int_equal(c->phase, PHASE_ESWITCH);
	assert_null(c->waits_for);
	waits(&p, "sriov/" ICE "/numvfs", "sriov/" ICE "/eswitch");
	waits(&p, "sriov/" ICE "/vf0/driver", "sriov/" ICE "/numvfs");
	assert_in_order(&p.plan);
	planned_free(&p);
}

/* Each set has its time, and what its PF or driver makes anew says so. */
static void test_times(void **state)
{
	struct planned p;

	plan_it(*state,
		"sriov: {bnxt: {vfs: 1, timeout: 7s, mode: legacy, workers: 3,\n"
		"  vf: {mac: derived, mtu: 9000, msix: 16, timeout: 9s}}}\n",
		&p);
	for (size_t i = 0; i < p.plan.list.n; i++) {
		const struct change *c = p.plan.list.v[i];

		if (streq(c->section, "sriov") && c->kind != &kind_attr)
			assert_true(c->deadline_ms >= 7000);
	}
	assert_int_equal(get(&p, "sriov/" BNXT "/numvfs")->deadline_ms, 7000);
	assert_true(get(&p, "sriov/" BNXT "/numvfs")->queues);
	assert_int_equal(get(&p, "sriov/" BNXT "/vf0/driver")->deadline_ms, 9000);
	assert_int_equal(get(&p, "sriov/" BNXT "/vf0/driver")->parallel, 3);
	assert_true(get(&p, "sriov/" BNXT "/vf0/msix")->remade);
	assert_true(get(&p, "sriov/" BNXT "/vf0/mtu")->remade);
	assert_true(get(&p, "sriov/" BNXT "/autoprobe")->steady);
	assert_string_equal(get(&p, "sriov/" BNXT "/link")->desired, "up");
	planned_free(&p);
}

/* With max nobody has counted the addresses of a list. */
static void test_short_list(void **state)
{
	struct planned p;

	plan_it(*state, "sriov: {ice: {vfs: max, vf: {mac: [\"02:00:00:00:00:01\"], vlan: 7}}}\n",
		&p);
	assert_string_equal(get(&p, "sriov/" ICE "/vf0/address")->desired,
			    "mac 02:00:00:00:00:01 vlan 7");
	assert_string_equal(get(&p, "sriov/" ICE "/vf3/address")->desired, "vlan 7");
	planned_free(&p);
}

/* "ID ID ..." of section qos, without the address. */
static char *qos_of(const struct planned *p)
{
	struct str ids = {0};

	for (size_t i = 0; i < p->plan.list.n; i++) {
		const struct change *c = p->plan.list.v[i];
		const char *id = c->id + strlen("qos/");

		if (!streq(c->section, "qos"))
			continue;
		if (c->kind == &kind_netlink && c->on.name)
			assert_int_equal(c->parallel, 1);
		str_addf(&ids, "%s ", c->on.name ? id + strlen(c->on.name) + 1 : id);
	}
	return str_take(&ids);
}

static void test_qos(void **state)
{
	cleanup_free char *ids = NULL, *none = NULL;
	struct planned p;

	plan_it(*state,
		"qos:\n  bnxt:\n    dcqcn: {rp: {rpg_gd: 11}, priorities: [3]}\n"
		"    traffic_class: 106\n    trust: dscp\n    pfc: [3]\n"
		"    dscp_map: {26: 3}\n    ets: {priorities: {}, bandwidth: {0: 100%}}\n",
		&p);
	ids = qos_of(&p);
	assert_string_equal(ids, "lldpad dcbx ets pfc roce_priority dscp_map trust dcqcn/rp/rpg_gd "
				 "dcqcn/priorities traffic_class ");
	assert_true(get(&p, "qos/lldpad")->optional);
	assert_string_equal(get(&p, "qos/" BNXT "/ets")->desired, "bandwidth 0:100");
	assert_string_equal(get(&p, "qos/" BNXT "/dcqcn/rp/rpg_gd")->file,
			    "/sys/bus/pci/devices/" BNXT "/net/*/ecn/roce_rp/rpg_gd");
	/* who decides is asked where the first of its keys stands: trust */
	assert_int_equal(get(&p, "qos/" BNXT "/dcbx")->origin.line,
			 get(&p, "qos/" BNXT "/trust")->origin.line);
	planned_free(&p);
	plan_it(*state, "qos: {bnxt: {ets: {priorities: {}}, roce_tos: 106}}\n", &p);
	none = qos_of(&p);
	assert_string_equal(none, "lldpad dcbx roce_tos ");
	planned_free(&p);
}

static void test_rdma(void **state)
{
	struct planned p;
	struct change *c;

	plan_it(*state, "rdma: {netns: exclusive}\n", &p);
	c = get(&p, "rdma/netns");
	assert_string_equal(c->target, "rdma_netns");
	assert_string_equal(c->desired, "exclusive");
	assert_int_equal(c->stage, STAGE_EARLY);
	assert_true(c->late && c->phase > PHASE_MODULES);
	planned_free(&p);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, tmp_teardown)
	static const struct CMUnitTest tests[] = {
		TEST(test_attributes),	  TEST(test_nothing_asked), TEST(test_both_sorts),
		TEST(test_eswitch_order), TEST(test_times),	    TEST(test_short_list),
		TEST(test_qos),		  TEST(test_rdma),
	};

	return cmocka_run_group_tests_name("sections/sriov", tests, NULL, NULL);
}
