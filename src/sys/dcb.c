/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/dcb.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <string.h>

void dcb_info_free(struct dcb_info *info)
{
	vec_free(&info->app);
	vec_free(&info->trust);
}

/* --- messages -------------------------------------------------------------------------- */

/* Every command has an answer of its own, so the message asks for no acknowledgement. */
static struct nlmsghdr *begin(void *buf, uint16_t type, uint8_t cmd, const char *netdev)
{
	struct nlmsghdr *msg = netlink_message(buf, DCB_MESSAGE_MAX, type, NLM_F_REQUEST);
	struct dcbmsg *dcb;

	dcb = mnl_nlmsg_put_extra_header(msg, sizeof(*dcb));
	dcb->cmd = cmd;
	mnl_attr_put_strz(msg, DCB_ATTR_IFNAME, netdev);
	return msg;
}

struct nlmsghdr *dcb_message(void *buf, const char *netdev, uint16_t type, const void *data,
			     size_t size)
{
	struct nlmsghdr *msg = begin(buf, RTM_SETDCB, DCB_CMD_IEEE_SET, netdev);
	struct nlattr *ieee = mnl_attr_nest_start(msg, DCB_ATTR_IEEE);

	mnl_attr_put(msg, type, size, data);
	mnl_attr_nest_end(msg, ieee);
	return msg;
}

struct nlmsghdr *dcb_app_message(void *buf, const char *netdev, const struct dcb_app *app, bool add)
{
	struct nlmsghdr *msg =
		begin(buf, RTM_SETDCB, add ? DCB_CMD_IEEE_SET : DCB_CMD_IEEE_DEL, netdev);
	struct nlattr *ieee = mnl_attr_nest_start(msg, DCB_ATTR_IEEE);
	struct nlattr *table = mnl_attr_nest_start(msg, DCB_ATTR_IEEE_APP_TABLE);

	mnl_attr_put(msg, DCB_ATTR_IEEE_APP, sizeof(*app), app);
	mnl_attr_nest_end(msg, table);
	mnl_attr_nest_end(msg, ieee);
	return msg;
}

struct nlmsghdr *dcb_trust_message(void *buf, const char *netdev, const uint8_t *selectors,
				   size_t n)
{
	struct nlmsghdr *msg = begin(buf, RTM_SETDCB, DCB_CMD_IEEE_SET, netdev);
	struct nlattr *ieee = mnl_attr_nest_start(msg, DCB_ATTR_IEEE);
	struct nlattr *table = mnl_attr_nest_start(msg, DCB_TRUST_TABLE);

	for (size_t i = 0; i < n; i++)
		mnl_attr_put_u8(
			msg, selectors[i] == DCB_SELECTOR_PCP ? DCB_APP_OF_DCB : DCB_ATTR_IEEE_APP,
			selectors[i]);
	mnl_attr_nest_end(msg, table);
	mnl_attr_nest_end(msg, ieee);
	return msg;
}

struct nlmsghdr *dcb_mode_message(void *buf, const char *netdev, uint8_t dcbx)
{
	struct nlmsghdr *msg = begin(buf, RTM_SETDCB, DCB_CMD_SDCBX, netdev);

	mnl_attr_put_u8(msg, DCB_ATTR_DCBX, dcbx);
	return msg;
}

int dcb_question(const void *arg, struct netlink_answer *ret, struct err *err)
{
	_Alignas(struct nlmsghdr) char buf[DCB_MESSAGE_MAX];

	return netlink_talk(NETLINK_ROUTE, begin(buf, RTM_GETDCB, DCB_CMD_IEEE_GET, arg), ret, err);
}

/* --- answers --------------------------------------------------------------------------- */

/* The attribute's payload as a structure; false if the payload is shorter. */
static bool get_struct(const struct nlattr *attr, void *ret, size_t size)
{
	if (mnl_attr_get_payload_len(attr) < size)
		return false;
	memcpy(ret, mnl_attr_get_payload(attr), size);
	return true;
}

static void get_apps(const struct nlattr *table, struct dcb_info *ret)
{
	const struct nlattr *attr;
	struct dcb_app app;

	mnl_attr_for_each_nested (attr, table)
		if (mnl_attr_get_type(attr) == DCB_ATTR_IEEE_APP &&
		    get_struct(attr, &app, sizeof(app)))
			vec_push(&ret->app, app);
}

static void get_trust(const struct nlattr *table, struct dcb_info *ret)
{
	const struct nlattr *attr;

	ret->has_trust = true;
	mnl_attr_for_each_nested (attr, table)
		if (mnl_attr_get_payload_len(attr) >= 1)
			vec_push(&ret->trust, mnl_attr_get_u8(attr));
}

static void get_ieee(const struct nlattr *ieee, struct dcb_info *ret)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested (attr, ieee)
		switch (mnl_attr_get_type(attr)) {
		case DCB_ATTR_IEEE_ETS:
			ret->has_ets = get_struct(attr, &ret->ets, sizeof(ret->ets));
			break;
		case DCB_ATTR_IEEE_PFC:
			ret->has_pfc = get_struct(attr, &ret->pfc, sizeof(ret->pfc));
			break;
		case DCB_ATTR_DCB_BUFFER:
			ret->has_buffer = get_struct(attr, &ret->buffer, sizeof(ret->buffer));
			break;
		case DCB_ATTR_IEEE_APP_TABLE:
			get_apps(attr, ret);
			break;
		case DCB_TRUST_TABLE:
			get_trust(attr, ret);
			break;
		}
}

int dcb_parse(const void *data, size_t len, struct dcb_info *ret, struct err *err)
{
	const struct nlmsghdr *msg = data;
	const struct nlattr *attr;
	bool ieee = false;
	size_t size;
	const void *attrs = netlink_attrs(data, len, sizeof(struct dcbmsg), &size);

	memset(ret, 0, sizeof(*ret));
	if (attrs == data || msg->nlmsg_type != RTM_GETDCB)
		return err_set(err, -EBADMSG, "the kernel's answer is not about DCB");
	mnl_attr_for_each_payload (attrs, size) {
		if (mnl_attr_get_type(attr) == DCB_ATTR_IEEE && !ieee) {
			get_ieee(attr, ret);
			ieee = true;
		} else if (mnl_attr_get_type(attr) == DCB_ATTR_DCBX &&
			   mnl_attr_get_payload_len(attr) >= 1) {
			ret->dcbx = mnl_attr_get_u8(attr);
			ret->has_dcbx = true;
		}
	}
	return ieee ? 0 : err_set(err, -EBADMSG, "the kernel's answer about DCB has no IEEE part");
}

int dcb_parse_reply(const void *data, size_t len, int *ret, struct err *err)
{
	const struct nlmsghdr *msg = data;
	const struct nlattr *attr;
	size_t size;
	const void *attrs = netlink_attrs(data, len, sizeof(struct dcbmsg), &size);

	if (attrs != data && msg->nlmsg_type == RTM_SETDCB)
		mnl_attr_for_each_payload (attrs, size) {
			uint16_t type = mnl_attr_get_type(attr);

			if ((type != DCB_ATTR_IEEE && type != DCB_ATTR_DCBX) ||
			    mnl_attr_get_payload_len(attr) < 1)
				continue;
			*ret = (int8_t)mnl_attr_get_u8(attr);
			return 0;
		}
	return err_set(err, -EBADMSG, "the kernel's answer to an order about DCB has no result");
}
