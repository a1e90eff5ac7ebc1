/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages byte by byte, answers of nobody, and the kernel that runs this: a veth pair in a
 * network namespace of its own.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <libmnl/libmnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "emulator.h"
#include "hex.h"
#include "sys/machine.h"
#include "sys/port.h"
#include "tree.h"

/* --- messages ------------------------------------------------------------------------------ */

static void order_is(const char *golden, enum eth_group group, const struct eth_setting *settings,
		     size_t n)
{
	struct nlmsghdr *msg = NULL;

	hex_equal(golden, (free(msg), msg = eth_order(21, 7, group, settings, n)));
	free(msg);
}

static void test_messages(void **state)
{
	static const struct eth_item ring_rx = {.group = ETH_RINGS, .attr = ETHTOOL_A_RINGS_RX};
	static const struct eth_item ring_tx = {.group = ETH_RINGS, .attr = ETHTOOL_A_RINGS_TX};
	static const struct eth_setting rings[] = {{&ring_rx, NULL, 8192}, {&ring_tx, NULL, 1024}};
	static const struct eth_setting pause[] = {{&eth_pause_rx, NULL, 0},
						   {&eth_pause_tx, NULL, 1}};
	static const struct eth_setting features[] = {{0, "rx-gro", 0}, {0, "rx-all", 1}};
	_Alignas(struct nlmsghdr) char buf[ETH_QUESTION_MAX];

	(void)state;
	hex_equal("ethtool_rings_get", eth_question(buf, 21, 7, ETH_RINGS));
	order_is("ethtool_rings_set", ETH_RINGS, rings, array_len(rings));
	order_is("ethtool_pause_set", ETH_PAUSE, pause, array_len(pause));
	order_is("ethtool_features_set", ETH_FEATURES, features, array_len(features));
}

/* Every name that a profile may give, and many of them, has room. */
static void test_many_flags(void **state)
{
	struct eth_setting settings[200];
	cleanup_free struct nlmsghdr *msg = NULL;

	(void)state;
	for (size_t i = 0; i < array_len(settings); i++)
		settings[i] =
			(struct eth_setting){.flag = "a-name-of-thirty-one-characters", .value = 1};
	msg = eth_order(21, 7, ETH_PRIVATE_FLAGS, settings, array_len(settings));
	assert_true(msg->nlmsg_len > array_len(settings) * 40);
}

/* --- answers ------------------------------------------------------------------------------ */

static void test_bad_answers(void **state)
{
	_Alignas(struct nlmsghdr) char buf[256] = {0};
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buf);
	struct ports ports;
	struct err err = {0};

	(void)state;
	assert_int_equal(ports_parse(buf, 3, &ports, &err), -EBADMSG);
	msg->nlmsg_type = NLMSG_ERROR; /* before any netdev */
	assert_int_equal(ports_parse(buf, msg->nlmsg_len, &ports, &err), -EBADMSG);
	msg->nlmsg_type = RTM_NEWLINK;
	mnl_nlmsg_put_extra_header(msg, sizeof(struct ifinfomsg));
	assert_int_equal(ports_parse(buf, msg->nlmsg_len, &ports, &err), 0);
	assert_int_equal(ports.n, 1);
	ports_free(&ports);
	assert_int_equal(ports_parse(buf, msg->nlmsg_len + 5, &ports, &err), -EBADMSG);
	msg->nlmsg_len = 0x80000010; /* negative as an int */
	assert_int_equal(ports_parse(buf, 64, &ports, &err), -EBADMSG);
	msg->nlmsg_len = UINT32_MAX;
	assert_int_equal(ports_parse(buf, 64, &ports, &err), -EBADMSG);
	assert_int_equal(ports_parse(buf, 0, &ports, &err), 0);
	assert_int_equal(ports.n, 0);
}

static void test_representors(void **state)
{
	static const char *const names[] = {"pf0vf0", "pf1vf127", "c1pf0vf3", "pf0sf88", "pf0"};
	static const char *const own[] = {"", "p0", "p1", "c1p0", "0", "n0"};

	(void)state;
	for (size_t i = 0; i < array_len(names); i++)
		assert_true(port_is_representor(names[i]));
	for (size_t i = 0; i < array_len(own); i++)
		assert_false(port_is_representor(own[i]));
}

/* --- this kernel -------------------------------------------------------------------------- */

/* In a child with a namespace of its own; its exit status is the line that was not so. */
#define WANT(condition)                         \
	do {                                    \
		if (!(condition))               \
			_exit(__LINE__ & 0xff); \
	} while (0)

static int make_veth(void)
{
	_Alignas(struct nlmsghdr) char buf[512];
	struct nlmsghdr *msg = netlink_link_message(buf, sizeof(buf), RTM_NEWLINK,
						    NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, 0);
	struct netlink_answer got cleanup_answer = {0};
	struct nlattr *info, *data, *peer;
	struct ifinfomsg *other;
	struct err err = {0};

	mnl_attr_put_strz(msg, IFLA_IFNAME, "v0");
	info = mnl_attr_nest_start(msg, IFLA_LINKINFO);
	mnl_attr_put_strz(msg, IFLA_INFO_KIND, "veth");
	data = mnl_attr_nest_start(msg, IFLA_INFO_DATA);
	peer = mnl_attr_nest_start(msg, VETH_INFO_PEER);
	other = mnl_nlmsg_put_extra_header(msg, sizeof(*other));
	(void)other;
	mnl_attr_put_strz(msg, IFLA_IFNAME, "v1");
	mnl_attr_nest_end(msg, peer);
	mnl_attr_nest_end(msg, data);
	mnl_attr_nest_end(msg, info);
	return netlink_talk(NETLINK_ROUTE, msg, &got, &err);
}

static void ask(const struct root *root, struct ports *ret)
{
	static const struct strv none;
	struct port_question q = {.root = root, .files = &none};
	struct netlink_answer got cleanup_answer = {0};

	vec_push(&q.netdevs.list, if_nametoindex("v0"));
	WANT(ports_question(&q, &got, NULL) == 0);
	WANT(ports_parse(got.data, got.len, ret, NULL) == 0 && ret->n == 1);
	vec_free(&q.netdevs.list);
}

static const struct eth_flag *flag(const struct port *port, const char *name)
{
	for (size_t i = 0; i < port->features.n; i++)
		if (streq(port->features.v[i].name, name))
			return &port->features.v[i];
	return NULL;
}

static uint32_t number(const struct port *port, uint16_t attr)
{
	uint32_t n = 0;

	WANT(port_attr(port, attr, &n));
	return n;
}

static void talk_of_veth(const struct root *root)
{
	static const struct eth_setting gro = {.flag = "rx-gro", .value = 1},
					no_gro = {.flag = "rx-gro"};
	static const struct eth_item rx = {.group = ETH_CHANNELS,
					   .attr = ETHTOOL_A_CHANNELS_RX_COUNT,
					   .max = ETHTOOL_A_CHANNELS_RX_MAX};
	static const struct eth_setting lots = {.item = &rx, .value = 8000};
	struct ports ports cleanup_ports = {0};
	const struct port *p;
	unsigned int v0;
	bool had_gro;
	struct err err = {0};

	WANT(make_veth() == 0);
	v0 = if_nametoindex("v0");
	ask(root, &ports);
	p = &ports.v[0];
	WANT(p->ifindex == v0 && streq(p->name, "v0") && !p->up && number(p, IFLA_MTU) == 1500);
	WANT(number(p, IFLA_MAX_MTU) == 65535 && number(p, IFLA_TXQLEN) == 1000);
	WANT(p->result[ETH_CHANNELS] == 0 && port_number(p, &rx).there);
	WANT(port_number(p, &rx).value == 1 && port_number(p, &rx).max >= 1);
	WANT(p->result[ETH_PAUSE] == -EOPNOTSUPP && p->result[ETH_PRIVATE_FLAGS] == -EOPNOTSUPP);
	WANT(p->features.n > 30 && flag(p, "rx-gro") && !flag(p, "rx-gro")->fixed);
	WANT(flag(p, "rx-lro") && flag(p, "rx-lro")->fixed);
	WANT(flag(p, "highdma") && flag(p, "highdma")->on);
	/* each order, and what it made */
	WANT(machine_link_number(v0, IFLA_MTU, 9000, &err) == 0);
	WANT(machine_link_number(v0, IFLA_TXQLEN, 77, &err) == 0);
	WANT(machine_link_up(v0, true, &err) == 0);
	WANT(machine_ethtool_set(v0, ETH_FEATURES, flag(p, "rx-gro")->on ? &no_gro : &gro, 1,
				 &err) == 0);
	had_gro = flag(p, "rx-gro")->on;
	ports_free(&ports);
	ask(root, &ports);
	p = &ports.v[0];
	WANT(number(p, IFLA_MTU) == 9000 && number(p, IFLA_TXQLEN) == 77 && p->up);
	WANT(flag(p, "rx-gro") && flag(p, "rx-gro")->on == !had_gro);
	/* refusals, with the kernel's own words */
	WANT(machine_link_number(v0, IFLA_MTU, 70000, &err) == -EINVAL);
	WANT(strstr(err.text, "the kernel says: mtu greater than device maximum"));
	WANT(machine_ethtool_set(v0, ETH_CHANNELS, &lots, 1, &err) == -EINVAL);
	WANT(strstr(err.text, "the kernel says: requested channel count exceeds maximum"));
}

static void test_this_kernel(void **state)
{
	struct tmp *t = *state;
	int status;
	pid_t pid;

	NEEDS_GENERIC_NETLINK();
	pid = fork();
	if (pid == 0) {
		if (unshare(CLONE_NEWNET) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
			_exit(0xff);
		talk_of_veth(&t->root);
		_exit(0);
	}
	assert_true(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	if (WEXITSTATUS(status) == 0xff)
		skip();
	if (WEXITSTATUS(status))
		fail_msg("line %d or one that is a multiple of 256 more", WEXITSTATUS(status));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_many_flags),
		cmocka_unit_test(test_bad_answers),
		cmocka_unit_test(test_representors),
		cmocka_unit_test_setup_teardown(test_this_kernel, tmp_setup, tmp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
