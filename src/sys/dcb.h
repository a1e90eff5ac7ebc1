/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data Center Bridging of a netdev, by rtnetlink (RTM_GETDCB, RTM_SETDCB; net/dcb/dcbnl.c): its
 * settings, and the messages of machine_dcb.c. Priorities are bits: bit 3 is priority 3.
 */
#pragma once

#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "sys/netlink.h"

/* Linux 6.2 added both, and the headers of Debian 12 lack them. */
enum {
	DCB_TRUST_TABLE = 11, /* DCB_ATTR_DCB_APP_TRUST_TABLE, a nest of attributes of one byte */
	DCB_APP_OF_DCB = 2,   /* DCB_ATTR_DCB_APP: the attribute of non-standard selectors */
	DCB_SELECTOR_PCP = 24,
};

enum { DCB_PRIORITIES = 8, DCB_DSCPS = 64, DCB_MESSAGE_MAX = 512 };

/*
 * The answer of the kernel leaves out parts for which the driver has no function: their has_ is
 * false.
 */
struct dcb_info {
	bool has_ets, has_pfc, has_buffer, has_dcbx;
	bool has_trust; /* only such a driver accepts an order of trust (dcbnl_setapptrust) */
	uint8_t dcbx;	/* DCB_CAP_DCBX_* */
	struct ieee_ets ets;
	struct ieee_pfc pfc;
	struct dcbnl_buffer buffer;
	VEC(struct dcb_app) app; /* entries with standard selectors */
	VEC(uint8_t) trust;	 /* selectors; the first wins */
};

void dcb_info_free(struct dcb_info *info);
#define cleanup_dcb __attribute__((__cleanup__(dcb_info_free)))

/*
 * A question for netlink_ask_apart(); arg: the netdev's name. -EOPNOTSUPP: the netdev has no DCB.
 */
int dcb_question(const void *arg, struct netlink_answer *ret, struct err *err);
/* -EBADMSG if data is not an answer to dcb_question(). The caller frees *ret in any case. */
int dcb_parse(const void *data, size_t len, struct dcb_info *ret, struct err *err);

/* --- orders; buf: DCB_MESSAGE_MAX bytes ---------------------------------------------------- */

/*
 * type: DCB_ATTR_IEEE_ETS, _PFC or DCB_ATTR_DCB_BUFFER, with the matching struct of `size` bytes.
 */
struct nlmsghdr *dcb_message(void *buf, const char *netdev, uint16_t type, const void *data,
			     size_t size);
/* Adds or deletes an entry. */
struct nlmsghdr *dcb_app_message(void *buf, const char *netdev, const struct dcb_app *app,
				 bool add);
struct nlmsghdr *dcb_trust_message(void *buf, const char *netdev, const uint8_t *selectors,
				   size_t n);
struct nlmsghdr *dcb_mode_message(void *buf, const char *netdev, uint8_t dcbx);
/*
 * Reads the kernel's reply to an order: a signed byte in the attribute of the answer. The errno of
 * netlink is 0 in any case. A positive byte reports the driver's action (ice: 2). -EBADMSG if the
 * byte is missing. *ret: the byte, unchanged.
 */
int dcb_parse_reply(const void *data, size_t len, int *ret, struct err *err);
