/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/genl.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>

#include "sys/netlink.h"

struct nlmsghdr *genl_message(void *buf, size_t size, uint16_t family, uint8_t cmd, uint8_t version,
			      uint16_t flags)
{
	struct nlmsghdr *msg = netlink_message(buf, size, family, flags);
	struct genlmsghdr *genl;

	genl = mnl_nlmsg_put_extra_header(msg, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = version;
	return msg;
}

struct nlmsghdr *genl_family_message(void *buf, const char *name)
{
	struct nlmsghdr *msg = genl_message(buf, GENL_FAMILY_MESSAGE_MAX, GENL_ID_CTRL,
					    CTRL_CMD_GETFAMILY, 1, NLM_F_REQUEST);

	mnl_attr_put_strz(msg, CTRL_ATTR_FAMILY_NAME, name);
	return msg;
}

const struct nlattr *genl_find(const void *data, size_t len, uint16_t type)
{
	size_t size;
	const void *attrs = netlink_attrs(data, len, GENL_HDRLEN, &size);
	const struct nlattr *attr;

	mnl_attr_for_each_payload (attrs, size)
		if (mnl_attr_get_type(attr) == type)
			return attr;
	return NULL;
}

const struct nlattr *genl_find_nested(const struct nlattr *in, uint16_t type)
{
	const struct nlattr *attr;

	if (in)
		mnl_attr_for_each_nested (attr, in)
			if (mnl_attr_get_type(attr) == type)
				return attr;
	return NULL;
}

int genl_parse_u16(const void *data, size_t len, uint16_t type, uint16_t *ret, struct err *err)
{
	const struct nlattr *attr = genl_find(data, len, type);

	if (!attr || mnl_attr_get_payload_len(attr) < sizeof(*ret))
		return err_set(err, -EBADMSG, "the kernel's answer by netlink has no attribute %u",
			       (unsigned int)type);
	*ret = mnl_attr_get_u16(attr);
	return 0;
}

int genl_parse_family(const void *data, size_t len, uint16_t *ret, struct err *err)
{
	return genl_parse_u16(data, len, CTRL_ATTR_FAMILY_ID, ret, err);
}

int genl_family(const char *name, uint16_t *ret, struct err *err)
{
	_Alignas(struct nlmsghdr) char buf[GENL_FAMILY_MESSAGE_MAX];
	struct netlink_answer got cleanup_answer = {0};
	int r = netlink_talk(NETLINK_GENERIC, genl_family_message(buf, name), &got, err);

	return r < 0 ? r : genl_parse_family(got.data, got.len, ret, err);
}
