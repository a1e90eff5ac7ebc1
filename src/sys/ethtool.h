/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings of a netdev by generic netlink (family "ethtool", Linux 5.6; coalescing, pause and
 * private flags 5.7). The older ioctl is not used, because it gives no reason when it rejects a
 * setting. Documentation/networking/ethtool-netlink.rst; include/uapi/linux/ethtool_netlink.h. Each
 * SET changes only the settings that it names (net/ethtool/{rings,channels,coalesce,pause}.c read
 * the driver's present values first), so callers need no read-modify-write.
 */
#pragma once

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum eth_group {
	ETH_PRIVATE_FLAGS,
	ETH_CHANNELS,
	ETH_RINGS,
	ETH_COALESCE,
	ETH_PAUSE,
	ETH_FEATURES,
	ETH_GROUPS
};

/*
 * A number or a switch (0 or 1) of a group, by the attributes of its messages, such as
 * ETHTOOL_A_RINGS_RX. Flags of the other groups have names instead.
 */
struct eth_item {
	enum eth_group group;
	uint16_t attr, max; /* max: attribute of the device's maximum; 0: no such attribute */
	bool is_switch;	    /* u8, else u32 */
};

extern const struct eth_item eth_pause_autoneg, eth_pause_rx, eth_pause_tx;

struct eth_number {
	bool there; /* the driver reports the item, and so can set it */
	uint32_t value;
	uint32_t max; /* 0: not reported */
};

struct eth_flag {
	char name[32]; /* ETH_GSTRING_LEN */
	bool on;
	bool fixed; /* a feature that cannot be changed */
};
struct eth_flags {
	struct eth_flag *v;
	size_t n;
	size_t cap;
};

bool eth_has_flags(enum eth_group group);

/*
 * --- parsers of answers with any content -------------------------------------------------------
 */

/* The value of an item in the answer for the group of the item. */
struct eth_number eth_parse_number(const void *data, size_t len, const struct eth_item *item);
/* Flags in the answer for ETH_FEATURES or ETH_PRIVATE_FLAGS; appends. The caller frees ret->v. */
void eth_parse_flags(const void *data, size_t len, enum eth_group group, struct eth_flags *ret);

/* --- messages --------------------------------------------------------------------------------- */

enum { ETH_QUESTION_MAX = 128 };

/* Fills buf (ETH_QUESTION_MAX, aligned as struct nlmsghdr) and returns buf. */
struct nlmsghdr *eth_question(void *buf, uint16_t family, unsigned int ifindex,
			      enum eth_group group);

struct eth_setting {
	const struct eth_item *item;
	const char *flag; /* for a group of flags, instead of item */
	uint32_t value;
};
/* An order with only an acknowledgement as its answer; the caller frees the message. */
struct nlmsghdr *eth_order(uint16_t family, unsigned int ifindex, enum eth_group group,
			   const struct eth_setting *settings, size_t n);

/* Number of the family; -ENOENT if the kernel lacks the family. Never blocks. */
int eth_family(uint16_t *ret, struct err *err);
