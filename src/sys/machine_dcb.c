/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "sys/dcb.h"
#include "sys/machine.h"
#include "sys/netlink.h"

/* Netlink's own error is about the message; the driver's error is in the answer. */
static int order(struct nlmsghdr *msg, struct err *err)
{
	struct netlink_answer got cleanup_answer = {0};
	int says, r = netlink_talk(NETLINK_ROUTE, msg, &got, err);

	if (r == 0)
		r = dcb_parse_reply(got.data, got.len, &says, err);
	if (r < 0)
		return r;
	return says < 0 ? err_set(err, says, "%s", strerror(-says)) : 0;
}

int machine_dcb_ets(const char *netdev, const struct ieee_ets *ets, struct err *err)
{
	_Alignas(struct nlmsghdr) char buf[DCB_MESSAGE_MAX];

	return order(dcb_message(buf, netdev, DCB_ATTR_IEEE_ETS, ets, sizeof(*ets)), err);
}

int machine_dcb_pfc(const char *netdev, const struct ieee_pfc *pfc, struct err *err)
{
	_Alignas(struct nlmsghdr) char buf[DCB_MESSAGE_MAX];

	return order(dcb_message(buf, netdev, DCB_ATTR_IEEE_PFC, pfc, sizeof(*pfc)), err);
}

int machine_dcb_buffer(const char *netdev, const struct dcbnl_buffer *buffer, struct err *err)
{
	_Alignas(struct nlmsghdr) char buf[DCB_MESSAGE_MAX];

	return order(dcb_message(buf, netdev, DCB_ATTR_DCB_BUFFER, buffer, sizeof(*buffer)), err);
}

int machine_dcb_app(const char *netdev, const struct dcb_app *app, bool add, struct err *err)
{
	_Alignas(struct nlmsghdr) char buf[DCB_MESSAGE_MAX];

	return order(dcb_app_message(buf, netdev, app, add), err);
}

int machine_dcb_trust(const char *netdev, const uint8_t *selectors, size_t n, struct err *err)
{
	_Alignas(struct nlmsghdr) char buf[DCB_MESSAGE_MAX];

	return order(dcb_trust_message(buf, netdev, selectors, n), err);
}

/*
 * The answer is not an errno: any value except 0 is a rejection (setdcbx() of include/net/dcbnl.h).
 */
int machine_dcb_mode(const char *netdev, uint8_t dcbx, struct err *err)
{
	_Alignas(struct nlmsghdr) char buf[DCB_MESSAGE_MAX];
	struct netlink_answer got cleanup_answer = {0};
	int says, r = netlink_talk(NETLINK_ROUTE, dcb_mode_message(buf, netdev, dcbx), &got, err);

	if (r == 0)
		r = dcb_parse_reply(got.data, got.len, &says, err);
	if (r < 0)
		return r;
	return says ? err_set(err, -EPERM, "the driver rejects it") : 0;
}
