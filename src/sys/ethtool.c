/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/ethtool.h"

#include <libmnl/libmnl.h>
#include <linux/ethtool_netlink.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/vec.h"
#include "sys/genl.h"

/* The header is attribute 1 in the messages of every group. */
enum { HEADER = 1 };

static const struct group {
	uint8_t get, set;
	uint16_t flags; /* a bitset; 0: numbers */
} groups[ETH_GROUPS] = {
	[ETH_PRIVATE_FLAGS] = {ETHTOOL_MSG_PRIVFLAGS_GET, ETHTOOL_MSG_PRIVFLAGS_SET,
			       ETHTOOL_A_PRIVFLAGS_FLAGS},
	[ETH_CHANNELS] = {ETHTOOL_MSG_CHANNELS_GET, ETHTOOL_MSG_CHANNELS_SET, 0},
	[ETH_RINGS] = {ETHTOOL_MSG_RINGS_GET, ETHTOOL_MSG_RINGS_SET, 0},
	[ETH_COALESCE] = {ETHTOOL_MSG_COALESCE_GET, ETHTOOL_MSG_COALESCE_SET, 0},
	[ETH_PAUSE] = {ETHTOOL_MSG_PAUSE_GET, ETHTOOL_MSG_PAUSE_SET, 0},
	[ETH_FEATURES] = {ETHTOOL_MSG_FEATURES_GET, ETHTOOL_MSG_FEATURES_SET,
			  ETHTOOL_A_FEATURES_WANTED},
};

const struct eth_item eth_pause_autoneg = {
	.group = ETH_PAUSE, .attr = ETHTOOL_A_PAUSE_AUTONEG, .is_switch = true};
const struct eth_item eth_pause_rx = {
	.group = ETH_PAUSE, .attr = ETHTOOL_A_PAUSE_RX, .is_switch = true};
const struct eth_item eth_pause_tx = {
	.group = ETH_PAUSE, .attr = ETHTOOL_A_PAUSE_TX, .is_switch = true};

bool eth_has_flags(enum eth_group group)
{
	return groups[group].flags != 0;
}

/* --- answers --------------------------------------------------------------------------------- */

static bool get_number(const void *data, size_t len, uint16_t type, bool is_switch, uint32_t *ret)
{
	const struct nlattr *attr = type ? genl_find(data, len, type) : NULL;

	if (!attr || mnl_attr_get_payload_len(attr) < (is_switch ? sizeof(uint8_t) : sizeof(*ret)))
		return false;
	*ret = is_switch ? mnl_attr_get_u8(attr) != 0 : mnl_attr_get_u32(attr);
	return true;
}

struct eth_number eth_parse_number(const void *data, size_t len, const struct eth_item *item)
{
	struct eth_number n = {0};

	n.there = get_number(data, len, item->attr, item->is_switch, &n.value);
	get_number(data, len, item->max, false, &n.max);
	return n;
}

/* A list with a mask has all bits; a list without a mask has only the bits that are set. */
static void parse_bits(const struct nlattr *set, struct eth_flags *ret)
{
	const struct nlattr *bits = genl_find_nested(set, ETHTOOL_A_BITSET_BITS);
	bool all_on = genl_find_nested(set, ETHTOOL_A_BITSET_NOMASK);
	const struct nlattr *bit;

	if (!bits)
		return;
	mnl_attr_for_each_nested (bit, bits) {
		const struct nlattr *name = genl_find_nested(bit, ETHTOOL_A_BITSET_BIT_NAME);
		struct eth_flag flag = {0};

		if (!name || mnl_attr_validate(name, MNL_TYPE_NUL_STRING) < 0)
			continue;
		snprintf(flag.name, sizeof(flag.name), "%s", mnl_attr_get_str(name));
		flag.on = all_on || genl_find_nested(bit, ETHTOOL_A_BITSET_BIT_VALUE);
		vec_push(ret, flag);
	}
}

static bool is_on(const struct eth_flags *flags, const char *name)
{
	for (size_t i = 0; i < flags->n; i++)
		if (streq(flags->v[i].name, name))
			return flags->v[i].on;
	return false;
}

/* HW lists all features of the kernel, and marks those that the driver can change. */
static void parse_features(const void *data, size_t len, struct eth_flags *ret)
{
	struct eth_flags active = {0}, never = {0};
	size_t first = ret->n;

	parse_bits(genl_find(data, len, ETHTOOL_A_FEATURES_HW), ret);
	parse_bits(genl_find(data, len, ETHTOOL_A_FEATURES_ACTIVE), &active);
	parse_bits(genl_find(data, len, ETHTOOL_A_FEATURES_NOCHANGE), &never);
	for (size_t i = first; i < ret->n; i++) {
		ret->v[i].fixed = !ret->v[i].on || is_on(&never, ret->v[i].name);
		ret->v[i].on = is_on(&active, ret->v[i].name);
	}
	vec_free(&active);
	vec_free(&never);
}

void eth_parse_flags(const void *data, size_t len, enum eth_group group, struct eth_flags *ret)
{
	if (group == ETH_FEATURES)
		parse_features(data, len, ret);
	else
		parse_bits(genl_find(data, len, groups[group].flags), ret);
}

/* --- messages ----------------------------------------------------------------------------- */

int eth_family(uint16_t *ret, struct err *err)
{
	return genl_family(ETHTOOL_GENL_NAME, ret, err);
}

static struct nlmsghdr *begin(void *buf, uint16_t family, uint8_t cmd, uint16_t flags,
			      unsigned int ifindex, uint32_t header_flags)
{
	struct nlmsghdr *msg =
		genl_message(buf, ETH_QUESTION_MAX, family, cmd, ETHTOOL_GENL_VERSION,
			     (uint16_t)(NLM_F_REQUEST | flags));
	struct nlattr *header = mnl_attr_nest_start(msg, HEADER);

	mnl_attr_put_u32(msg, ETHTOOL_A_HEADER_DEV_INDEX, ifindex);
	if (header_flags)
		mnl_attr_put_u32(msg, ETHTOOL_A_HEADER_FLAGS, header_flags);
	mnl_attr_nest_end(msg, header);
	return msg;
}

struct nlmsghdr *eth_question(void *buf, uint16_t family, unsigned int ifindex,
			      enum eth_group group)
{
	return begin(buf, family, groups[group].get, 0, ifindex, 0);
}

/* A bitset with a mask leaves bits unchanged that it does not name. */
static void put_flags(struct nlmsghdr *msg, uint16_t type, const struct eth_setting *settings,
		      size_t n)
{
	struct nlattr *set = mnl_attr_nest_start(msg, type);
	struct nlattr *bits = mnl_attr_nest_start(msg, ETHTOOL_A_BITSET_BITS);

	for (size_t i = 0; i < n; i++) {
		struct nlattr *bit = mnl_attr_nest_start(msg, ETHTOOL_A_BITSET_BITS_BIT);

		mnl_attr_put_strz(msg, ETHTOOL_A_BITSET_BIT_NAME, settings[i].flag);
		if (settings[i].value)
			mnl_attr_put(msg, ETHTOOL_A_BITSET_BIT_VALUE, 0, NULL);
		mnl_attr_nest_end(msg, bit);
	}
	mnl_attr_nest_end(msg, bits);
	mnl_attr_nest_end(msg, set);
}

static void put_numbers(struct nlmsghdr *msg, const struct eth_setting *settings, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct eth_item *item = settings[i].item;

		if (item->is_switch)
			mnl_attr_put_u8(msg, item->attr, settings[i].value != 0);
		else
			mnl_attr_put_u32(msg, item->attr, settings[i].value);
	}
}

struct nlmsghdr *eth_order(uint16_t family, unsigned int ifindex, enum eth_group group,
			   const struct eth_setting *settings, size_t n)
{
	/* at most a name and the heads of three attributes for each setting */
	void *buf = xcalloc(2 + n, ETH_QUESTION_MAX);
	struct nlmsghdr *msg =
		begin(buf, family, groups[group].set, NLM_F_ACK, ifindex, ETHTOOL_FLAG_OMIT_REPLY);

	if (groups[group].flags)
		put_flags(msg, groups[group].flags, settings, n);
	else
		put_numbers(msg, settings, n);
	return msg;
}
