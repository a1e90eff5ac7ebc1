/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The section link in, changes out: which, of what value, in what order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "planned.h"

#define DEVICES \
	"devices: {nics: {pci: \"15b3:1021\"}, one: {in: nics, address: \"0000:3b:00.1\"}}\n"

static const struct tree_fn functions[] = {
	{"0000:3b:00.0", "15b3:1021", "0x20000", "0", "igb", "eth0", .vfs = "4"},
	{"0000:3b:00.1", "15b3:1021", "0x20000", "0", "mlx5_core", "eth1", .vfs = "4"},
};

static int setup(void **state)
{
	int r = tmp_setup(state);

	if (r < 0)
		return r;
	tmp_write(*state, "proc/meminfo", "MemTotal: 33554432 kB\n");
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

/* "ID = DESIRED" of the changes of section link, in their order. */
static void gives(struct tmp *t, const char *text, const char *want)
{
	cleanup_str struct str got = {0};
	struct planned p;

	plan_it(t, text, &p);
	for (size_t i = 0; i < p.plan.list.n; i++) {
		const struct change *c = p.plan.list.v[i];

		if (!streq(c->section, "link"))
			continue;
		str_addf(&got, "%s = %s\n", c->id, c->desired);
		assert_int_equal(c->phase, PHASE_PORT);
		assert_int_equal(c->stage, STAGE_DEVICES);
		assert_true(strstr(c->id, c->lane) && strstr(c->target, c->lane));
		assert_true(str_starts(c->target, "link:") && c->deadline_ms && c->parallel == 1);
		assert_true(streq(strrchr(c->target, '/'), strrchr(c->id, '/')));
	}
	assert_string_equal(str_get(&got), want);
	planned_free(&p);
}

#define A "link/0000:3b:00.0/"
#define B "link/0000:3b:00.1/"

/* What resets others first, up last; values as the kernel has them. */
static void test_order_and_values(void **state)
{
	gives(*state,
	      "link:\n  one:\n    up: true\n    threaded_napi: true\n    napi_defer_hard_irqs: 2\n"
	      "    gro_flush_timeout: 20us\n    tx_queue_len: 2000\n"
	      "    features: {rx-gro: false, tx-nocache-copy: true}\n"
	      "    pause: {rx: false, tx: true}\n"
	      "    coalesce: {tx_frames: 7, rx_frames: 6, tx_usecs: 1ms, rx_usecs: 8us,\n"
	      "      adaptive_tx: true, adaptive_rx: false}\n"
	      "    mtu: 9000\n    rings: {tx: 1024, rx: 8192}\n"
	      "    channels: {combined: 32, rx: 1, tx: 2}\n    private_flags: {rx_cqe_moder: "
	      "true}\n",
	      B "private_flags = rx_cqe_moder on\n" B "channels = combined 32 rx 1 tx 2\n" B
		"rings = rx 8192 tx 1024\n" B "mtu = 9000\n" B
		"coalesce = adaptive_rx off adaptive_tx on rx_usecs 8 tx_usecs 1000 rx_frames 6 "
		"tx_frames 7\n" B "pause = rx off tx on\n" B
		"features = rx-gro off tx-nocache-copy on\n" B "tx_queue_len = 2000\n" B
		"napi_defer_hard_irqs = 2\n" B "gro_flush_timeout = 20000\n" B
		"threaded_napi = 1\n" B "up = up\n");
}

static void test_down_is_first(void **state)
{
	gives(*state, "link: {one: {mtu: 9000, up: false, threaded_napi: false}}\n",
	      B "up = down\n" B "mtu = 9000\n" B "threaded_napi = 0\n");
}

/* A narrower set wins value by value, and also among names that a profile gives. */
static void test_narrower(void **state)
{
	gives(*state,
	      "link:\n  nics: {mtu: 9000, rings: {rx: 512, tx: 512}, features: {rx-gro: false, "
	      "rx-lro: false}}\n  one: {rings: {rx: 1024}, features: {rx-lro: true, rx-all: "
	      "true}}\n",
	      A "rings = rx 512 tx 512\n" A "mtu = 9000\n" A "features = rx-gro off rx-lro off\n" B
		"rings = rx 1024 tx 512\n" B "mtu = 9000\n" B
		"features = rx-lro on rx-all on rx-gro off\n");
}

static void test_vfs_wait(void **state)
{
	struct planned p;
	const struct change *c;

	plan_it(*state,
		"sriov: {nics: {vfs: 2, vf: {driver: netdev, mtu: 4200}}}\n"
		"link: {one: {mtu: 9000}}\n",
		&p);
	c = plan_find(&p.plan, "sriov/0000:3b:00.1/vf1/mtu");
	assert_string_equal(c->needs, B "mtu");
	assert_string_equal(c->waits_for, "sriov/0000:3b:00.1/vf1/driver");
	assert_null(plan_find(&p.plan, "sriov/0000:3b:00.0/vf1/mtu")->needs);
	planned_free(&p);
}

/* VFs of igb come up faster when the PF is up: not against what the profile says. */
static void test_not_up_and_down(void **state)
{
	struct planned p;

	plan_it(*state, "sriov: {nics: {vfs: 2}}\nlink: {nics: {mtu: 9000}}\n", &p);
	assert_non_null(plan_find(&p.plan, "sriov/0000:3b:00.0/link"));
	planned_free(&p);
	plan_it(*state, "sriov: {nics: {vfs: 2}}\nlink: {nics: {up: false}}\n", &p);
	assert_null(plan_find(&p.plan, "sriov/0000:3b:00.0/link"));
	planned_free(&p);
}

static void test_optional(void **state)
{
	static const struct {
		const char *link;
		bool mtu, rings;
	} t[] = {
		{"one: {mtu: 9000, rings: {rx: 512}}", false, false},
		{"one: {mtu: 9000, rings: {rx: 512}, optional: true}", true, true},
		{"one: {mtu: 9000, rings: {rx: 512}, optional: false}", false, false},
		{"one: {mtu: 9000, rings: {rx: 512}, optional: [rings]}", false, true},
		{"one: {mtu: 9000, rings: {rx: 512}, optional: []}", false, false},
		{"nics: {mtu: 9000, optional: [mtu]}, one: {rings: {rx: 512}}", true, false},
		{"nics: {mtu: 9000, optional: true}, one: {rings: {rx: 512}, optional: [rings]}",
		 true, true},
		{"nics: {mtu: 9000, optional: [mtu]}, one: {rings: {rx: 512}, optional: [rings]}",
		 true, true},
		{"nics: {mtu: 9000, optional: [mtu]}, one: {rings: {rx: 512}, optional: false}",
		 false, false},
	};

	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_free char *text = xasprintf("link: {%s}\n", t[i].link);
		struct planned p;

		plan_it(*state, text, &p);
		assert_int_equal(plan_find(&p.plan, B "mtu")->optional, t[i].mtu);
		assert_int_equal(plan_find(&p.plan, B "rings")->optional, t[i].rings);
		planned_free(&p);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, tmp_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_order_and_values), TEST(test_down_is_first),	 TEST(test_narrower),
		TEST(test_vfs_wait),	     TEST(test_not_up_and_down), TEST(test_optional),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
