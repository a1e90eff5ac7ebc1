/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a netdev pauses all traffic (IEEE 802.3 Annex 31B), by netlink family "ethtool"
 * (net/ethtool/pause.c): beside PFC it must be off.
 */
#pragma once

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sys/netlink.h"

struct pause_info {
	bool rx, tx;
	bool autoneg; /* negotiated with the other end */
};

enum { PAUSE_MESSAGE_MAX = 128 };

/* A question for netlink_ask_apart(); arg: const unsigned int *, the netdev's index. -EOPNOTSUPP:
 * this kernel (before 5.6) or driver does not say. */
int pause_question(const void *arg, struct netlink_answer *ret, struct err *err);
int pause_parse(const void *data, size_t len, struct pause_info *ret, struct err *err);

int pause_family(uint16_t *ret, struct err *err);
/* buf: PAUSE_MESSAGE_MAX bytes. The order turns both ways off; autoneg: and that it is negotiated
 * with the other end. */
struct nlmsghdr *pause_off_message(void *buf, uint16_t family, unsigned int ifindex, bool autoneg);
