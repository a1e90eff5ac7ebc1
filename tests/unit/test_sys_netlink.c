/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages byte by byte, answers of kernels and of nobody, and the kernel that runs this. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/if_link.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "emulator.h"
#include "hex.h"
#include "sys/devlink.h"
#include "sys/genl.h"
#include "sys/machine.h"
#include "sys/rdma.h"
#include "sys/vfinfo.h"

#define PF "0000:3b:00.0"

static void test_link_messages(void **state)
{
	static const struct {
		const char *golden;
		struct vf_value value;
	} t[] = {
		{"set_mac", {.attr = IFLA_VF_MAC, .mac = {0x26, 0x94, 0x05, 0x1b, 0x2c, 0x3d}}},
		{"set_vlan", {.attr = IFLA_VF_VLAN, .number = 100}},
		{"set_rate", {.attr = IFLA_VF_RATE, .number = 1000, .second = 10000}},
		{"set_spoofchk", {.attr = IFLA_VF_SPOOFCHK}},
		{"set_link_state",
		 {.attr = IFLA_VF_LINK_STATE, .number = IFLA_VF_LINK_STATE_ENABLE}},
		{"set_trust", {.attr = IFLA_VF_TRUST, .number = 1}},
		{"set_node_guid", {.attr = IFLA_VF_IB_NODE_GUID, .guid = 0xbacef603061b2c3d}},
		{"set_port_guid", {.attr = IFLA_VF_IB_PORT_GUID, .guid = 0xbacef603061b2c3d}},
	};
	_Alignas(struct nlmsghdr) char buf[VF_MESSAGE_MAX];

	(void)state;
	hex_equal("getlink", pf_info_message(buf, 7));
	for (size_t i = 0; i < array_len(t); i++)
		hex_equal(t[i].golden, vf_value_message(buf, 7, 5, &t[i].value));
}

static void test_devlink_messages(void **state)
{
	_Alignas(struct nlmsghdr) char buf[DEVLINK_MESSAGE_MAX];

	(void)state;
	hex_equal("family", genl_family_message(buf, "devlink"));
	hex_equal("eswitch_get", devlink_message(buf, 21, 29, 0, PF));
	hex_equal("eswitch_set", devlink_eswitch_message(buf, 21, PF, ESWITCH_SWITCHDEV));
	hex_equal("param_get", devlink_param_message(buf, 21, PF, "total_vfs"));
}

static void test_rdma_messages(void **state)
{
	_Alignas(struct nlmsghdr) char buf[RDMA_MESSAGE_MAX];

	(void)state;
	hex_equal("rdma_get", rdma_netns_question(buf));
	hex_equal("rdma_set", rdma_netns_message(buf, false));
}

/* --- answers ------------------------------------------------------------------------------- */

static void load_pf(const char *name, struct pf_info *ret)
{
	struct hex h;
	struct err err = {0};

	hex_load(name, &h);
	if (pf_info_parse(h.data, h.len, ret, &err) < 0)
		fail_msg("%s: %s", name, err.text);
	assert_int_equal(ret->ifindex, 7);
}

/* -1: the driver does not say. */
static int64_t number(const struct vf_info *vf, uint16_t attr, bool second)
{
	uint32_t n;

	return vf_info_number(vf, attr, second, &n) ? (int64_t)n : -1;
}

static void test_ethernet_answer(void **state)
{
	uint8_t there[6];
	uint64_t guid;
	static const uint8_t permanent[6] = {0x0c, 0x42, 0xa1, 0x1b, 0x2c, 0x3d};
	static const uint8_t mac[6] = {0x26, 0x94, 0x01, 0x1b, 0x2c, 0x3d};
	struct pf_info pf;
	const struct vf_info *vf;

	(void)state;
	load_pf("answer_ethernet", &pf);
	assert_true(pf.has_vfs && pf.has_mac && !pf.infiniband);
	assert_memory_equal(pf.mac, permanent, 6);
	assert_int_equal(pf.vf.n, 3);
	vf = pf_info_vf(&pf, 1);
	assert_non_null(vf);
	assert_true(vf_info_mac(vf, there));
	assert_memory_equal(there, mac, 6);
	assert_false(vf_info_guid(vf, IFLA_VF_IB_NODE_GUID, &guid));
	assert_int_equal(number(vf, IFLA_VF_VLAN, false), 100);
	assert_int_equal(number(vf, IFLA_VF_RATE, false), 1000);
	assert_int_equal(number(vf, IFLA_VF_RATE, true), 10000);
	assert_int_equal(number(vf, IFLA_VF_SPOOFCHK, false), 1);
	assert_int_equal(number(vf, IFLA_VF_TRUST, false), 1);
	assert_int_equal(number(vf, IFLA_VF_LINK_STATE, false), IFLA_VF_LINK_STATE_ENABLE);
	assert_int_equal(number(vf, IFLA_VF_TRUST, true), -1); /* it has one number */
	vf = pf_info_vf(&pf, 2);
	assert_int_equal(number(vf, IFLA_VF_SPOOFCHK, false), -1);
	assert_int_equal(number(vf, IFLA_VF_TRUST, false), -1);
	assert_int_equal(number(vf, IFLA_VF_LINK_STATE, false), IFLA_VF_LINK_STATE_DISABLE);
	assert_null(pf_info_vf(&pf, 3));
	pf_info_free(&pf);
}

static void test_other_answers(void **state)
{
	struct pf_info pf;
	uint64_t guid;

	(void)state;
	load_pf("answer_infiniband", &pf);
	assert_true(pf.has_vfs && !pf.has_mac && pf.infiniband);
	assert_true(vf_info_guid(&pf.vf.v[0], IFLA_VF_IB_NODE_GUID, &guid));
	assert_true(guid == 0xbacef603011b2c3d);
	assert_true(vf_info_guid(&pf.vf.v[0], IFLA_VF_IB_PORT_GUID, &guid));
	assert_true(guid == 0xbacef603011b2c3d);
	assert_true(vf_info_guid(&pf.vf.v[1], IFLA_VF_IB_NODE_GUID, &guid));
	assert_true(guid == 0);
	pf_info_free(&pf);
	load_pf("answer_plain", &pf);
	assert_true(!pf.has_vfs && pf.has_mac);
	assert_int_equal(pf.mac[5], 0x3e);
	pf_info_free(&pf);
}

static void test_devlink_answers(void **state)
{
	enum eswitch_mode mode = ESWITCH_LEGACY;
	uint16_t family = 0;
	uint32_t value = 0;
	bool shared = true;
	struct hex h;

	(void)state;
	hex_load("answer_family", &h);
	assert_int_equal(genl_parse_family(h.data, h.len, &family, NULL), 0);
	assert_int_equal(family, 21);
	hex_load("answer_eswitch", &h);
	assert_int_equal(devlink_parse_eswitch(h.data, h.len, &mode, NULL), 0);
	assert_int_equal(mode, ESWITCH_SWITCHDEV);
	assert_int_equal(genl_parse_family(h.data, 15, &family, NULL), -EBADMSG);
	hex_load("answer_total_vfs", &h);
	assert_int_equal(devlink_parse_param(h.data, h.len, &value, NULL), 0);
	assert_int_equal(value, 16);
	hex_load("answer_enable_sriov", &h);
	assert_int_equal(devlink_parse_param(h.data, h.len, &value, NULL), 0);
	assert_int_equal(value, 0);
	hex_load("answer_rdma", &h);
	assert_int_equal(rdma_parse_netns(h.data, h.len, &shared, NULL), 0);
	assert_false(shared);
	hex_load("rdma_get", &h);
	assert_int_equal(rdma_parse_netns(h.data, h.len, &shared, NULL), -EBADMSG);
}

static void says(const char *name, int code, const char *text)
{
	struct err err = {0};
	struct hex h;

	hex_load(name, &h);
	assert_int_equal(netlink_error((const void *)h.data, h.len, &err), code);
	assert_string_equal(err.text, text);
}

static void test_errors(void **state)
{
	(void)state;
	says("error_words", -EOPNOTSUPP,
	     "Operation not supported; the kernel says: VF trust is not supported");
	says("error_whole", -EINVAL, "Invalid argument; the kernel says: bad");
	says("error_bare", -EBUSY, "Device or resource busy");
	says("error_none", 0, "");
}

/* However an answer is cut, it is refused or read as far as it goes; ASan watches. */
static void test_cut_answers(void **state)
{
	static const char *const names[] = {
		"answer_ethernet", "answer_infiniband", "answer_total_vfs", "answer_eswitch",
		"answer_family",   "answer_rdma",	"error_words",	    "error_whole"};

	(void)state;
	for (size_t i = 0; i < array_len(names); i++) {
		struct hex h;

		hex_load(names[i], &h);
		for (size_t len = 0; len < h.len; len++) {
			char *cut = xcalloc(1, len ? len : 1);
			struct nlmsghdr *head = (void *)cut;
			struct pf_info pf = {0};
			enum eswitch_mode mode;
			uint32_t value;
			uint16_t family;
			bool shared;

			memcpy(cut, h.data, len);
			assert_true(pf_info_parse(cut, len, &pf, NULL) < 0);
			if (len >= sizeof(*head)) /* a message that says it is as long */
				head->nlmsg_len = (uint32_t)len;
			if (pf_info_parse(cut, len, &pf, NULL) == 0)
				pf_info_free(&pf);
			genl_parse_family(cut, len, &family, NULL);
			devlink_parse_eswitch(cut, len, &mode, NULL);
			devlink_parse_param(cut, len, &value, NULL);
			rdma_parse_netns(cut, len, &shared, NULL);
			if (len >= sizeof(*head))
				netlink_error(head, len, NULL);
			free(cut);
		}
	}
}

/* --- asking apart -------------------------------------------------------------------------- */

static int long_answer(const void *arg, struct netlink_answer *ret, struct err *err)
{
	size_t len = *(const size_t *)arg;

	(void)err;
	ret->data = xcalloc(1, len);
	ret->data[len - 1] = 'z';
	ret->len = len;
	return 0;
}

static int no_answer(const void *arg, struct netlink_answer *ret, struct err *err)
{
	(void)ret;
	return err_set(err, *(const int *)arg, "no");
}

static int hang(const void *arg, struct netlink_answer *ret, struct err *err)
{
	(void)arg;
	(void)ret;
	(void)err;
	while (pause() != 0)
		;
	return 0;
}

static void test_apart(void **state)
{
	struct netlink_answer got = {0};
	size_t len = 300000, huge = NETLINK_ANSWER_MAX + 1;
	int code = -ENODEV;
	struct err err = {0};

	(void)state;
	assert_int_equal(netlink_ask_apart(long_answer, &len, "rtnl", 5000, &got, &err), 0);
	assert_int_equal(got.len, len);
	assert_int_equal(got.data[len - 1], 'z');
	netlink_answer_free(&got);
	assert_int_equal(netlink_ask_apart(no_answer, &code, "rtnl", 5000, &got, &err), -ENODEV);
	assert_string_equal(err.text, "no");
	assert_int_equal(netlink_ask_apart(long_answer, &huge, "rtnl", 5000, &got, &err), -EFBIG);
	assert_int_equal(netlink_ask_apart(hang, NULL, "rtnl", 100, &got, &err), -ETIMEDOUT);
	assert_string_equal(
		err.text, "the kernel does not answer (rtnl is held) within 0.1 s: a driver hangs; "
			  "the kernel log and the tasks in state D show which driver");
	assert_null(got.data);
}

/* --- the kernel of this host --------------------------------------------------------------- */

/* lo, in a network namespace of its own: it tells of no VFs, and has no attribute of any. */
static int ask_this_kernel(void)
{
	struct ifindexes netdevs = {0};
	struct netlink_answer got = {0};
	struct vf_value trust = {.attr = IFLA_VF_TRUST, .number = 1};
	struct pf_info pf = {0};
	struct err err = {0};
	int bad = 0;

	vec_push(&netdevs.list, 1);
	if (pf_info_question(&netdevs, &got, &err) < 0 ||
	    pf_info_parse(got.data, got.len, &pf, &err) < 0)
		bad = 1;
	else if (pf.ifindex != 1 || pf.has_vfs || pf.has_mac)
		bad = 2;
	else if (machine_vf_set(1, 0, &trust, &err) != -EOPNOTSUPP)
		bad = 3;
	else if (machine_link_up(1, true, &err) != 0)
		bad = 4;
	else if (machine_link_up(99, true, &err) != -ENODEV)
		bad = 5;
	fprintf(stderr, bad ? "%d: %s\n" : "", bad, err.text);
	vec_free(&netdevs.list);
	netlink_answer_free(&got);
	pf_info_free(&pf);
	return bad;
}

static void test_this_kernel(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		if (unshare(CLONE_NEWNET) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
			_exit(77);
		_exit(ask_this_kernel());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip(); /* neither root nor user namespaces: the build of a package */
	assert_int_equal(status, 0);
}

/* Whatever kernel this is, a device that is not there has neither eswitch nor parameters. */
static void test_no_such_device(void **state)
{
	enum eswitch_mode mode;
	struct devlink_sriov sriov;
	struct err err = {0};
	int r;

	(void)state;
	NEEDS_GENERIC_NETLINK();
	r = devlink_eswitch("ffff:ff:1f.7", &mode, &err);
	if (r != -ENODEV && r != -EPERM)
		fail_msg("%d: %s", r, err.text);
	assert_int_equal(devlink_sriov("ffff:ff:1f.7", &sriov, NULL), r == -EPERM ? -ENODEV : r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_link_messages),  cmocka_unit_test(test_devlink_messages),
		cmocka_unit_test(test_rdma_messages),  cmocka_unit_test(test_ethernet_answer),
		cmocka_unit_test(test_other_answers),  cmocka_unit_test(test_devlink_answers),
		cmocka_unit_test(test_errors),	       cmocka_unit_test(test_cut_answers),
		cmocka_unit_test(test_apart),	       cmocka_unit_test(test_this_kernel),
		cmocka_unit_test(test_no_such_device),
	};

	return cmocka_run_group_tests_name("sys/netlink", tests, NULL, NULL);
}
