/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Carrier and speed of ports, on machines that are trees; and how long they may take. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check_change.h"
#include "engine/run.h"
#include "kinds/kind.h"
#include "sys/clock.h"
#include "reason.h"
#include "tree.h"

#define NIC "0000:3b:00.0"
#define NET "sys/bus/pci/devices/" NIC "/net/rail0/"
#define VIRTIO "0000:01:00.0"
#define VNET "sys/bus/pci/devices/" VIRTIO "/virtio0/net/eth0/"

static const struct tree_file machine[] = {
	{NET "ifindex", "7\n"},
	{NET "carrier", "1\n"},
	{NET "speed", "400000\n"},
	{"sys/bus/pci/devices/" NIC "/net/a_rep/ifindex", "12\n"},
	{"sys/bus/pci/devices/" NIC "/net/a_rep/carrier", "0\n"},
	{"sys/bus/pci/devices/" NIC "/net/a_rep/phys_port_name", "pf0vf3\n"},
	{"sys/bus/pci/devices/" NIC "/virtfn0", "->../0000:3b:00.2"},
	{"sys/bus/pci/devices/0000:3b:00.2/net/vf0/ifindex", "13\n"},
	{"sys/bus/pci/devices/0000:3b:00.2/net/vf0/carrier", "1\n"},
	{"sys/class/net/vf0", "->../../bus/pci/devices/0000:3b:00.2/net/vf0"},
	{VNET "ifindex", "3\n"},
	{VNET "carrier", "1\n"},
	{VNET "speed", "-1\n"},
	{"sys/class/net/rail0", "->../../bus/pci/devices/" NIC "/net/rail0"},
	{"sys/class/net/a_rep", "->../../bus/pci/devices/" NIC "/net/a_rep"},
	{"sys/class/net/eth0", "->../../bus/pci/devices/" VIRTIO "/virtio0/net/eth0"},
};

static int setup(void **state)
{
	int r = tmp_setup(state);

	if (r == 0)
		tree_write(*state, machine, array_len(machine));
	return r;
}

static struct change *add(struct run *run, const char *target, const char *desired)
{
	static const struct place nowhere;
	struct change *c = plan_add(&run->plan, "gate", &kind_check, STAGE_GATE, PHASE_CHECK,
				    nowhere, "%s", target);

	check_about(c, target, desired);
	c->settles = true;
	return c;
}

/* reason: NULL if it holds */
static void gives(struct tmp *t, const char *target, const char *desired, const char *observed,
		  const char *reason)
{
	struct run run = {.root = &t->root};
	struct change *c = add(&run, target, desired);

	run_look(&run, STAGES_ALL, STAGE_GATE);
	assert_string_equal(c->now.found, observed);
	assert_int_equal(c->now.state, reason ? CHANGE_DIFFERS : CHANGE_SAME);
	if (reason)
		assert_text(reason_of(c), reason);
	run_close(&run);
}

/* A tree, and the machine itself, where the files are read apart. */
static void test_carrier(void **state)
{
	struct tmp *t = *state;

	for (int live = 0; live < 2; live++) {
		t->root.live = live;
		tmp_write(t, NET "carrier", "1\n");
		gives(t, "carrier:" NIC, "up", "up", NULL);
		gives(t, "carrier:" VIRTIO, "up", "up", NULL);
		tmp_write(t, NET "carrier", "0\n");
		gives(t, "carrier:" NIC, "up", "no carrier",
		      "rail0 of " NIC " is up, and has no carrier");
		tree_remove(t, NET "carrier"); /* as unreadable as one that is down */
		gives(t, "carrier:" NIC, "up", "down", "rail0 of " NIC " is switched off");
		gives(t, "carrier:" NIC "/0", "up", "up", NULL);
		gives(t, "carrier:" NIC "/1", "up", "no netdev", "has no netdev");
		gives(t, "carrier:0000:99:00.0", "up", "no netdev", "has no netdev");
	}
}

static void test_speed(void **state)
{
	struct tmp *t = *state;

	gives(t, "speed:" NIC, "400Gb/s", "400Gb/s", NULL);
	gives(t, "speed:" NIC, "200Gb/s", "400Gb/s", NULL);
	gives(t, "speed:" NIC, "800Gb/s", "400Gb/s", "rail0 of " NIC " trained to a lower speed");
	tmp_write(t, NET "speed", "2500\n");
	gives(t, "speed:" NIC, "2500Mb/s", "2500Mb/s", NULL);
	gives(t, "speed:" NIC, "3Gb/s", "2500Mb/s", "trained to a lower speed");
	gives(t, "speed:" VIRTIO, "1Gb/s", "unknown", "the driver reports no speed for eth0");
	tmp_write(t, NET "speed", "4294967295\n"); /* -1 of kernels that print it so */
	gives(t, "speed:" NIC, "1Gb/s", "unknown", "leave speed: out");
	tmp_write(t, NET "carrier", "0\n");
	gives(t, "speed:" NIC, "1Gb/s", "no carrier", "rail0 of " NIC " has no link");
}

/* Each waits its own time, and no longer. */
static void test_settles(void **state)
{
	struct tmp *t = *state;
	struct run run = {.root = &t->root};
	struct change *c, *other;
	uint64_t begin;

	t->root.live = true;
	tmp_write(t, NET "carrier", "0\n");
	c = add(&run, "carrier:" NIC, "up");
	other = add(&run, "carrier:" VIRTIO, "up");
	c->deadline_ms = 30;
	run_look(&run, STAGES_ALL, STAGE_GATE);
	begin = clock_usec();
	run_wait_checks(&run, 20000);
	assert_int_equal(c->now.state, CHANGE_DIFFERS);
	assert_int_equal(other->now.state, CHANGE_SAME);
	assert_true(clock_usec() - begin >= 30000);
	tmp_write(t, NET "carrier", "1\n");
	c->deadline_ms = 600000;
	run_wait_checks(&run, 0);
	assert_int_equal(c->now.state, CHANGE_SAME);
	assert_null(reason_of(c));
	run_close(&run);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, tmp_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_carrier),
		TEST(test_speed),
		TEST(test_settles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
