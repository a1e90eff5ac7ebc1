/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/pause.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include "sys/devlink.h"

static struct nlmsghdr *begin(void *buf, uint16_t family, uint8_t cmd, uint16_t flags,
			      unsigned int ifindex)
{
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;
	struct nlattr *header;

	msg->nlmsg_type = family;
	msg->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	genl = mnl_nlmsg_put_extra_header(msg, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = ETHTOOL_GENL_VERSION;
	header = mnl_attr_nest_start(msg, ETHTOOL_A_PAUSE_HEADER);
	mnl_attr_put_u32(msg, ETHTOOL_A_HEADER_DEV_INDEX, ifindex);
	mnl_attr_nest_end(msg, header);
	return msg;
}

struct nlmsghdr *pause_off_message(void *buf, uint16_t family, unsigned int ifindex, bool autoneg)
{
	struct nlmsghdr *msg = begin(buf, family, ETHTOOL_MSG_PAUSE_SET, NLM_F_ACK, ifindex);

	if (autoneg)
		mnl_attr_put_u8(msg, ETHTOOL_A_PAUSE_AUTONEG, 0);
	mnl_attr_put_u8(msg, ETHTOOL_A_PAUSE_RX, 0);
	mnl_attr_put_u8(msg, ETHTOOL_A_PAUSE_TX, 0);
	return msg;
}

int pause_family(uint16_t *ret, struct err *err)
{
	_Alignas(struct nlmsghdr) char buf[PAUSE_MESSAGE_MAX];
	struct netlink_answer got cleanup_answer = {0};
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;
	int r;

	msg->nlmsg_type = GENL_ID_CTRL;
	msg->nlmsg_flags = NLM_F_REQUEST;
	genl = mnl_nlmsg_put_extra_header(msg, sizeof(*genl));
	genl->cmd = CTRL_CMD_GETFAMILY;
	genl->version = 1;
	mnl_attr_put_strz(msg, CTRL_ATTR_FAMILY_NAME, ETHTOOL_GENL_NAME);
	r = netlink_talk(NETLINK_GENERIC, msg, &got, err);
	if (r == -ENOENT)
		return err_set(err, -EOPNOTSUPP, "this kernel has no ethtool by netlink");
	return r < 0 ? r : devlink_parse_family(got.data, got.len, ret, err);
}

int pause_question(const void *arg, struct netlink_answer *ret, struct err *err)
{
	_Alignas(struct nlmsghdr) char buf[PAUSE_MESSAGE_MAX];
	uint16_t family;
	int r = pause_family(&family, err);

	return r < 0 ? r
		     : netlink_talk(NETLINK_GENERIC,
				    begin(buf, family, ETHTOOL_MSG_PAUSE_GET, 0,
					  *(const unsigned int *)arg),
				    ret, err);
}

int pause_parse(const void *data, size_t len, struct pause_info *ret, struct err *err)
{
	const struct nlattr *attr;
	size_t size;
	const void *attrs = netlink_attrs(data, len, GENL_HDRLEN, &size);

	if (attrs == data)
		return err_set(err, -EBADMSG, "the kernel's answer is not about pause frames");
	*ret = (struct pause_info){.rx = false};
	mnl_attr_for_each_payload (attrs, size) {
		if (mnl_attr_get_payload_len(attr) < 1)
			continue;
		if (mnl_attr_get_type(attr) == ETHTOOL_A_PAUSE_RX)
			ret->rx = mnl_attr_get_u8(attr) != 0;
		else if (mnl_attr_get_type(attr) == ETHTOOL_A_PAUSE_TX)
			ret->tx = mnl_attr_get_u8(attr) != 0;
		else if (mnl_attr_get_type(attr) == ETHTOOL_A_PAUSE_AUTONEG)
			ret->autoneg = mnl_attr_get_u8(attr) != 0;
	}
	return 0;
}
