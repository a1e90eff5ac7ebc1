/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data Center Bridging of one netdev, by rtnetlink (RTM_GETDCB, RTM_SETDCB; net/dcb/dcbnl.c):
 * what it says, and the messages of machine_dcb.c. Bits of priorities: bit 3 is priority 3.
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

/* Newer than the headers of Debian 12: both came with Linux 6.2. */
enum {
	DCB_TRUST_TABLE = 11, /* DCB_ATTR_DCB_APP_TRUST_TABLE, a nest of one byte each */
	DCB_APP_OF_DCB = 2, /* DCB_ATTR_DCB_APP: the attribute of selectors that no standard has */
	DCB_SELECTOR_PCP = 24,
};

enum { DCB_PRIORITIES = 8, DCB_DSCPS = 64, DCB_MESSAGE_MAX = 512 };

/* What the driver has no function for is not in its answer: has_ is false then. */
struct dcb_info {
	bool has_ets, has_pfc, has_buffer, has_dcbx;
	bool has_trust; /* only such a driver takes an order of trust (dcbnl_setapptrust) */
	uint8_t dcbx;	/* DCB_CAP_DCBX_* */
	struct ieee_ets ets;
	struct ieee_pfc pfc;
	struct dcbnl_buffer buffer;
	VEC(struct dcb_app) app; /* of standard selectors */
	VEC(uint8_t) trust;	 /* selectors, the first wins */
};

void dcb_info_free(struct dcb_info *info);
#define cleanup_dcb __attribute__((__cleanup__(dcb_info_free)))

/* A question for netlink_ask_apart(); arg: the netdev's name. -EOPNOTSUPP: it has no DCB. */
int dcb_question(const void *arg, struct netlink_answer *ret, struct err *err);
/* -EBADMSG if it is no answer to that. The caller frees *ret, filled or not. */
int dcb_parse(const void *data, size_t len, struct dcb_info *ret, struct err *err);

/* --- orders; buf: DCB_MESSAGE_MAX bytes ---------------------------------------------------- */

/* type: DCB_ATTR_IEEE_ETS, _PFC, DCB_ATTR_DCB_BUFFER with its struct of size bytes. */
struct nlmsghdr *dcb_message(void *buf, const char *netdev, uint16_t type, const void *data,
			     size_t size);
/* Adds an entry, or deletes it. */
struct nlmsghdr *dcb_app_message(void *buf, const char *netdev, const struct dcb_app *app,
				 bool add);
struct nlmsghdr *dcb_trust_message(void *buf, const char *netdev, const uint8_t *selectors,
				   size_t n);
struct nlmsghdr *dcb_mode_message(void *buf, const char *netdev, uint8_t dcbx);
/*
 * What the kernel says to an order: not an errno of netlink, which is 0 all the same, but one
 * byte in the answer's attribute, signed. Positive is a driver's way to say what it did
 * (ice: 2). -EBADMSG if there is none. *ret: the byte as it is.
 */
int dcb_parse_reply(const void *data, size_t len, int *ret, struct err *err);
