/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scalars keep their meaning beside their text, in base units, and so do copies of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fragment.h"
#include "base/units.h"

static const char sku[] =
	"priority: -3\n"
	"devices: {rails: {pci: '15b3:1021', expect: '>=8', ports: 0x1}}\n"
	"expect: {memory: '>=2T', cpus: 96}\n"
	"kernel_args: {isolate_cpus: '2-3,5'}\n"
	"hugepages: [{size: 2M, nodes: {1: 512}}]\n"
	"sriov: {rails: {vfs: max, vf: {max_rate: 10Gb/s, trust: true, mtu: 9001}}}\n"
	"link: {rails: {coalesce: {rx_usecs: 8ms}, mtu: '9000'}}\n"
	"qos: {rails: {ets: {bandwidth: {0: 101%}}, cable_length: 5m}}\n"
	"sysctl: {vm.swappiness: 10}\n"
	"gate:\n"
	"  wait: 5m\n"
	"  checks:\n"
	"    bw: {run: rdma_loopback, on: rails, min: 92% of line, max: 5us}\n"
	"    mem: {run: memory_bandwidth, min: 180GB/s}\n"
	"    width: {run: pcie_link, on: rails, speed: 2.5GT/s}\n"
	"    port: {run: carrier, on: rails, speed: 400Gb/s}\n";

static const struct {
	const char *path;
	enum value_type type;
	int64_t number;
	bool at_least;
	const char *text; /* what `of` or the set says */
} wanted[] = {
	{"priority", VALUE_NUMBER, -3, false, NULL},
	{"devices.rails.pci", VALUE_ID, 0x15b31021, false, NULL},
	{"devices.rails.expect", VALUE_NUMBER, 8, true, NULL},
	{"devices.rails.ports", VALUE_TEXT, 0, false, NULL}, /* rejected */
	{"expect.memory", VALUE_NUMBER, INT64_C(2) << 40, true, NULL},
	{"expect.cpus", VALUE_NUMBER, 96, false, NULL},
	{"kernel_args.isolate_cpus", VALUE_SET, 0, false, "2-3,5"},
	{"sriov.rails.vfs", VALUE_WORD, 0, false, NULL},
	{"sriov.rails.vf.max_rate", VALUE_NUMBER, 1250000000, false, NULL},
	{"sriov.rails.vf.trust", VALUE_BOOL, 1, false, NULL},
	{"link.rails.coalesce.rx_usecs", VALUE_NUMBER, 8000, false, NULL},
	{"link.rails.mtu", VALUE_NUMBER, 9000, false, NULL},
	{"qos.rails.ets.bandwidth.0", VALUE_TEXT, 0, false, NULL}, /* rejected */
	{"qos.rails.cable_length", VALUE_NUMBER, 5, false, NULL},
	{"sysctl.vm\\.swappiness", VALUE_TEXT, 0, false, NULL}, /* text passed verbatim */
	{"gate.wait", VALUE_NUMBER, 300000000, false, NULL},
	{"gate.checks.bw.min", VALUE_SHARE, 92, false, "line"},
	{"gate.checks.bw.max", VALUE_NUMBER, 5000, false, NULL},
	{"gate.checks.mem.min", VALUE_NUMBER, 180000000000, false, NULL},
	{"gate.checks.width.speed", VALUE_GTS, 25, false, NULL},
	{"gate.checks.port.speed", VALUE_NUMBER, 50000000000, false, NULL},
};

/* A path whose keys may have dots behind backslashes. */
static const struct ynode *at(const struct ynode *doc, const char *path)
{
	while (doc && *path) {
		struct str key = {0};

		for (; *path && *path != '.'; path++) {
			path += *path == '\\';
			str_addn(&key, path, 1);
		}
		path += *path == '.';
		doc = ynode_get(doc, str_get(&key));
		str_free(&key);
	}
	return doc;
}

static void check_values(const struct ynode *doc)
{
	for (size_t i = 0; i < array_len(wanted); i++) {
		const struct ynode *n = at(doc, wanted[i].path);
		cleanup_free char *set = NULL;

		if (!n)
			fail_msg("%s is not there", wanted[i].path);
		if (n->value.type != wanted[i].type || n->value.number != wanted[i].number ||
		    n->value.at_least != wanted[i].at_least)
			fail_msg("%s: type %d, number %lld, %s", wanted[i].path, n->value.type,
				 (long long)n->value.number,
				 n->value.at_least ? "at least" : "exact");
		if (ynode_cpus(n))
			set = cpus_format(ynode_cpus(n));
		if (wanted[i].text)
			assert_string_equal(set ? set : n->value.of, wanted[i].text);
	}
}

static void test_values(void **state)
{
	cleanup_ynode struct ynode *doc = fragment(sku), *copy = ynode_copy(doc);
	const struct ynode *pool = ynode_get(doc, "hugepages")->items.v[0];

	(void)state;
	check_values(doc);
	check_values(copy);
	assert_ptr_not_equal(ynode_cpus(at(doc, "kernel_args.isolate_cpus")),
			     ynode_cpus(at(copy, "kernel_args.isolate_cpus")));
	assert_int_equal(ynode_number_of(pool, "size", 0), 2 << 20);
	assert_int_equal(ynode_get(pool, "nodes")->keys.v[0]->value.number, 1);
}

/* Each accessor answers for its own type alone, and for nothing at all. */
static void test_accessors(void **state)
{
	cleanup_ynode struct ynode *doc = fragment(sku);
	uint64_t n = 7;

	(void)state;
	assert_false(ynode_number(NULL, &n));
	assert_false(ynode_number(at(doc, "priority"), &n)); /* negative */
	assert_false(ynode_number(at(doc, "sriov.rails.vfs"), &n));
	assert_false(ynode_number(at(doc, "gate.checks.bw.min"), &n));
	assert_false(ynode_number(at(doc, "gate"), &n));
	assert_false(ynode_exact(at(doc, "devices.rails.expect"), &n));
	assert_int_equal(n, 7);
	assert_true(ynode_number(at(doc, "devices.rails.expect"), &n));
	assert_int_equal(n, 8);
	assert_true(ynode_exact(at(doc, "expect.cpus"), &n));
	assert_int_equal(n, 96);
	assert_null(ynode_cpus(NULL));
	assert_null(ynode_cpus(at(doc, "expect.cpus")));
	assert_int_equal(ynode_number_of(NULL, "wait", 5), 5);
	assert_int_equal(ynode_number_of(at(doc, "gate"), "budget", 60), 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_accessors),
	};

	return cmocka_run_group_tests_name("profile/values", tests, NULL, NULL);
}
