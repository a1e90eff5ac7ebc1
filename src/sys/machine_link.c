/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include "base/mem.h"
#include "sys/machine.h"
#include "sys/netlink.h"
#include "sys/rdma.h"

/* Sends an order with only an acknowledgement as its answer. */
static int order(int protocol, struct nlmsghdr *msg, struct err *err)
{
	struct netlink_answer got cleanup_answer = {0};

	return netlink_talk(protocol, msg, &got, err);
}

int machine_link_up(unsigned int ifindex, bool up, struct err *err)
{
	_Alignas(struct nlmsghdr) char buf[128];
	struct nlmsghdr *msg =
		netlink_link_message(buf, sizeof(buf), RTM_NEWLINK, NLM_F_ACK, ifindex);
	struct ifinfomsg *ifi = mnl_nlmsg_get_payload(msg);
	int r;

	ifi->ifi_change = IFF_UP;
	ifi->ifi_flags = up ? IFF_UP : 0;
	r = order(NETLINK_ROUTE, msg, err);
	if (r < 0)
		err_wrap(err, "setting the link %s", up ? "up" : "down");
	return r;
}

int machine_link_number(unsigned int ifindex, uint16_t attr, uint32_t value, struct err *err)
{
	_Alignas(struct nlmsghdr) char buf[128];
	struct nlmsghdr *msg =
		netlink_link_message(buf, sizeof(buf), RTM_SETLINK, NLM_F_ACK, ifindex);

	mnl_attr_put_u32(msg, attr, value);
	return order(NETLINK_ROUTE, msg, err);
}

int machine_ethtool_set(unsigned int ifindex, enum eth_group group,
			const struct eth_setting *settings, size_t n, struct err *err)
{
	cleanup_free struct nlmsghdr *msg = NULL;
	uint16_t family;
	int r = eth_family(&family, err);

	if (r == -ENOENT)
		return err_set(err, -EOPNOTSUPP,
			       "this kernel has no ethtool by netlink (Linux 5.6 has)");
	if (r < 0)
		return r;
	msg = eth_order(family, ifindex, group, settings, n);
	return order(NETLINK_GENERIC, msg, err);
}

int machine_vf_set(unsigned int ifindex, unsigned int vf, const struct vf_value *value,
		   struct err *err)
{
	_Alignas(struct nlmsghdr) char buf[VF_MESSAGE_MAX];

	return order(NETLINK_ROUTE, vf_value_message(buf, ifindex, vf, value), err);
}

int machine_eswitch_mode(const char *addr, enum eswitch_mode mode, struct err *err)
{
	_Alignas(struct nlmsghdr) char buf[DEVLINK_MESSAGE_MAX];
	uint16_t family;
	int r = devlink_family(&family, err);

	if (r < 0)
		return r;
	return order(NETLINK_GENERIC, devlink_eswitch_message(buf, family, addr, mode), err);
}

int machine_rdma_netns(bool shared, struct err *err)
{
	_Alignas(struct nlmsghdr) char buf[RDMA_MESSAGE_MAX];

	return order(NETLINK_RDMA, rdma_netns_message(buf, shared), err);
}
