/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include "sys/machine.h"
#include "sys/netlink.h"
#include "sys/rdma.h"

/* One that nothing but an acknowledgement answers. */
static int order(int protocol, struct nlmsghdr *msg, struct err *err)
{
	struct netlink_answer got cleanup_answer = {0};

	return netlink_talk(protocol, msg, &got, err);
}

int machine_link_up(unsigned int ifindex, struct err *err)
{
	_Alignas(struct nlmsghdr) char buf[256];
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buf);
	struct ifinfomsg *ifi;
	int r;

	msg->nlmsg_type = RTM_NEWLINK;
	msg->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	ifi = mnl_nlmsg_put_extra_header(msg, sizeof(*ifi));
	ifi->ifi_index = (int)ifindex;
	ifi->ifi_change = IFF_UP;
	ifi->ifi_flags = IFF_UP;
	r = order(NETLINK_ROUTE, msg, err);
	if (r < 0)
		err_wrap(err, "setting the link up");
	return r;
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
