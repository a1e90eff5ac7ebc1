/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/rdma.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <rdma/rdma_netlink.h>

#include "sys/netlink.h"

static struct nlmsghdr *message(void *buf, unsigned int cmd, uint16_t flags)
{
	return netlink_message(buf, RDMA_MESSAGE_MAX,
			       (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, cmd), flags);
}

struct nlmsghdr *rdma_netns_question(void *buf)
{
	return message(buf, RDMA_NLDEV_CMD_SYS_GET, NLM_F_REQUEST);
}

struct nlmsghdr *rdma_netns_message(void *buf, bool shared)
{
	struct nlmsghdr *msg = message(buf, RDMA_NLDEV_CMD_SYS_SET, NLM_F_REQUEST | NLM_F_ACK);

	mnl_attr_put_u8(msg, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, shared);
	return msg;
}

int rdma_parse_netns(const void *data, size_t len, bool *ret_shared, struct err *err)
{
	size_t size;
	const void *attrs = netlink_attrs(data, len, 0, &size);
	const struct nlattr *attr;

	mnl_attr_for_each_payload (attrs, size)
		if (mnl_attr_get_type(attr) == RDMA_NLDEV_SYS_ATTR_NETNS_MODE &&
		    mnl_attr_get_payload_len(attr) >= 1) {
			*ret_shared = mnl_attr_get_u8(attr);
			return 0;
		}
	return err_set(err, -EBADMSG,
		       "this kernel does not report which network namespaces see RDMA devices "
		       "(Linux 5.2 and later do)");
}

static int question(const void *arg, struct netlink_answer *ret, struct err *err)
{
	_Alignas(struct nlmsghdr) char buf[RDMA_MESSAGE_MAX];

	(void)arg;
	return netlink_talk(NETLINK_RDMA, rdma_netns_question(buf), ret, err);
}

int rdma_netns_shared(bool *ret, struct err *err)
{
	struct netlink_answer got cleanup_answer = {0};
	int r = netlink_ask_apart(question, NULL, "a lock of ib_core", NETLINK_APART_MS, &got, err);

	return r < 0 ? r : rdma_parse_netns(got.data, got.len, ret, err);
}
