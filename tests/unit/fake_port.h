/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel for tests of what is set of a port: two netdevs of one function (FAKE_PORT, and a
 * representor of a VF), as rtnetlink and ethtool tell of them. Its memory is shared, since looks
 * ask in children. Include after cmocka.h.
 */
#pragma once

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/mman.h>

#include "hooks.h"
#include "base/mem.h"
#include "base/str.h"
#include "sys/netlink.h"

enum { FAKE_PORT = 7, FAKE_REPRESENTOR = 12, FAKE_FAMILY = 23, FAKE_NUMBERS = 32, FAKE_FLAGS = 6 };

struct fake_flag {
	char name[32];
	bool on, fixed;
};

/* What one kind of ethtool's messages is about; numbers by their attribute, -1: not told. */
struct fake_group {
	int get_refuse, set_refuse;
	int64_t number[FAKE_NUMBERS];
	struct fake_flag flag[FAKE_FLAGS];
};

struct fake_port {
	bool up, no_family, silent;
	uint32_t mtu, max_mtu, tx_queue_len;
	struct fake_group group[256]; /* by ETHTOOL_MSG_*_GET */
	uint32_t round;		      /* rings become a multiple of it */
	bool negotiates;	      /* pause is not obeyed while autoneg is on */
	bool stubborn;		      /* features are taken and not switched */
	int autoneg_refuse;
	int questions, orders; /* how many there were */
	int asked_links;       /* ... of the questions, by RTM_GETLINK */
};

static struct fake_port *fake;

static inline int fake_says(struct err *err, int code)
{
	return err_set(err, code, "%s; the kernel says: no", strerror(-code));
}

static inline struct nlmsghdr *fake_answer(struct netlink_answer *ret, uint16_t type)
{
	struct nlmsghdr *msg;

	ret->data = xcalloc(1, 8192);
	msg = mnl_nlmsg_put_header(ret->data);
	msg->nlmsg_type = type;
	return msg;
}

static inline int fake_done(struct netlink_answer *ret)
{
	ret->len = ((struct nlmsghdr *)ret->data)->nlmsg_len;
	return 0;
}

/* --- rtnetlink ---------------------------------------------------------------------------- */

static inline int fake_getlink(const struct nlmsghdr *asked, struct netlink_answer *ret,
			       struct err *err)
{
	const struct ifinfomsg *about = mnl_nlmsg_get_payload(asked);
	struct nlmsghdr *msg;
	struct ifinfomsg *info;

	fake->asked_links++;
	if (about->ifi_index != FAKE_PORT && about->ifi_index != FAKE_REPRESENTOR)
		return fake_says(err, -ENODEV);
	msg = fake_answer(ret, RTM_NEWLINK);
	info = mnl_nlmsg_put_extra_header(msg, sizeof(*info));
	info->ifi_index = about->ifi_index;
	info->ifi_flags = fake->up ? IFF_UP : 0;
	mnl_attr_put_strz(msg, IFLA_IFNAME, about->ifi_index == FAKE_PORT ? "rail0" : "a_rep");
	mnl_attr_put_strz(msg, IFLA_PHYS_PORT_NAME,
			  about->ifi_index == FAKE_PORT ? "p0" : "c1pf0vf3");
	mnl_attr_put_u32(msg, IFLA_MTU, fake->mtu);
	mnl_attr_put_u32(msg, IFLA_MIN_MTU, 68);
	mnl_attr_put_u32(msg, IFLA_MAX_MTU, fake->max_mtu);
	mnl_attr_put_u32(msg, IFLA_TXQLEN, fake->tx_queue_len);
	return fake_done(ret);
}

static inline int fake_setlink(const struct nlmsghdr *msg, struct err *err)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(msg);
	const struct nlattr *attr;

	fake->orders++;
	assert_int_equal(info->ifi_index, FAKE_PORT);
	if (info->ifi_change & IFF_UP)
		fake->up = info->ifi_flags & IFF_UP;
	mnl_attr_for_each (attr, msg, sizeof(*info)) {
		if (mnl_attr_get_type(attr) == IFLA_TXQLEN)
			fake->tx_queue_len = mnl_attr_get_u32(attr);
		if (mnl_attr_get_type(attr) != IFLA_MTU)
			continue;
		if (mnl_attr_get_u32(attr) > fake->max_mtu)
			return fake_says(err, -EINVAL);
		fake->mtu = mnl_attr_get_u32(attr);
	}
	return 0;
}

/* --- ethtool ---------------------------------------------------------------------------------- */

static inline bool fake_is_switch(uint8_t get, uint16_t attr)
{
	return get == ETHTOOL_MSG_PAUSE_GET ||
	       (get == ETHTOOL_MSG_COALESCE_GET && (attr == ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX ||
						    attr == ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX));
}

static inline void fake_put_numbers(struct nlmsghdr *msg, uint8_t get)
{
	const struct fake_group *g = &fake->group[get];

	for (uint16_t a = 2; a < FAKE_NUMBERS; a++) {
		if (g->number[a] < 0)
			continue;
		if (fake_is_switch(get, a))
			mnl_attr_put_u8(msg, a, (uint8_t)g->number[a]);
		else
			mnl_attr_put_u32(msg, a, (uint32_t)g->number[a]);
	}
}

enum fake_bits { FAKE_ON, FAKE_CHANGEABLE };

/* A list of all with their values, or of those that are on. */
static inline void fake_put_bits(struct nlmsghdr *msg, uint16_t attr, const struct fake_flag *flag,
				 enum fake_bits what, bool mask)
{
	struct nlattr *set = mnl_attr_nest_start(msg, attr), *bits;

	if (!mask)
		mnl_attr_put(msg, ETHTOOL_A_BITSET_NOMASK, 0, NULL);
	mnl_attr_put_u32(msg, ETHTOOL_A_BITSET_SIZE, FAKE_FLAGS);
	bits = mnl_attr_nest_start(msg, ETHTOOL_A_BITSET_BITS);
	for (uint32_t i = 0; i < FAKE_FLAGS; i++) {
		bool value = what == FAKE_ON ? flag[i].on : !flag[i].fixed;
		struct nlattr *bit;

		if (!flag[i].name[0] || (!mask && !value))
			continue;
		bit = mnl_attr_nest_start(msg, ETHTOOL_A_BITSET_BITS_BIT);
		mnl_attr_put_u32(msg, ETHTOOL_A_BITSET_BIT_INDEX, i);
		mnl_attr_put_strz(msg, ETHTOOL_A_BITSET_BIT_NAME, flag[i].name);
		if (mask && value)
			mnl_attr_put(msg, ETHTOOL_A_BITSET_BIT_VALUE, 0, NULL);
		mnl_attr_nest_end(msg, bit);
	}
	mnl_attr_nest_end(msg, bits);
	mnl_attr_nest_end(msg, set);
}

static inline int fake_get(uint8_t get, struct netlink_answer *ret, struct err *err)
{
	const struct fake_group *g = &fake->group[get];
	struct nlmsghdr *msg;

	if (g->get_refuse)
		return fake_says(err, g->get_refuse);
	msg = fake_answer(ret, FAKE_FAMILY);
	mnl_nlmsg_put_extra_header(msg, GENL_HDRLEN);
	if (get == ETHTOOL_MSG_FEATURES_GET) {
		fake_put_bits(msg, ETHTOOL_A_FEATURES_HW, g->flag, FAKE_CHANGEABLE, true);
		fake_put_bits(msg, ETHTOOL_A_FEATURES_ACTIVE, g->flag, FAKE_ON, false);
	} else if (get == ETHTOOL_MSG_PRIVFLAGS_GET) {
		fake_put_bits(msg, ETHTOOL_A_PRIVFLAGS_FLAGS, g->flag, FAKE_ON, true);
	} else {
		fake_put_numbers(msg, get);
	}
	return fake_done(ret);
}

static inline const struct nlattr *fake_nested(const struct nlattr *in, uint16_t type)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested (attr, in)
		if (mnl_attr_get_type(attr) == type)
			return attr;
	return NULL;
}

static inline void fake_take_bits(const struct nlattr *set, struct fake_group *g)
{
	const struct nlattr *bits = fake_nested(set, ETHTOOL_A_BITSET_BITS), *bit;

	assert_null(fake_nested(set, ETHTOOL_A_BITSET_NOMASK)); /* it would switch all others off */
	mnl_attr_for_each_nested (bit, bits)
		for (size_t i = 0; i < FAKE_FLAGS; i++) {
			const char *name =
				mnl_attr_get_str(fake_nested(bit, ETHTOOL_A_BITSET_BIT_NAME));

			if (!streq(g->flag[i].name, name))
				continue;
			assert_false(g->flag[i].fixed);
			if (!fake->stubborn)
				g->flag[i].on = fake_nested(bit, ETHTOOL_A_BITSET_BIT_VALUE);
		}
}

static inline int fake_take_number(const struct nlattr *attr, uint8_t get, struct fake_group *g,
				   struct err *err)
{
	uint16_t type = mnl_attr_get_type(attr);
	bool rings = get == ETHTOOL_MSG_RINGS_GET;
	int64_t value = fake_is_switch(get, type) ? mnl_attr_get_u8(attr) : mnl_attr_get_u32(attr);

	if (rings && value > g->number[type - ETHTOOL_A_RINGS_RX + ETHTOOL_A_RINGS_RX_MAX])
		return fake_says(err, -EINVAL);
	if (get == ETHTOOL_MSG_PAUSE_GET && type == ETHTOOL_A_PAUSE_AUTONEG && fake->autoneg_refuse)
		return fake_says(err, fake->autoneg_refuse);
	if (get == ETHTOOL_MSG_PAUSE_GET && type != ETHTOOL_A_PAUSE_AUTONEG && fake->negotiates &&
	    g->number[ETHTOOL_A_PAUSE_AUTONEG] == 1)
		return 0;
	if (rings && fake->round)
		value = (value + fake->round - 1) / fake->round * fake->round;
	g->number[type] = value;
	return 0;
}

static inline int fake_set(const struct nlmsghdr *asked, uint8_t get, struct err *err)
{
	struct fake_group *g = &fake->group[get];
	bool bits = get == ETHTOOL_MSG_FEATURES_GET || get == ETHTOOL_MSG_PRIVFLAGS_GET;
	const struct nlattr *attr;
	int r = g->set_refuse ? fake_says(err, g->set_refuse) : 0;

	fake->orders++;
	/* autoneg first, as the drivers look at it before the rest */
	for (int turn = 0; turn < 2; turn++)
		mnl_attr_for_each (attr, asked, GENL_HDRLEN) {
			uint16_t type = mnl_attr_get_type(attr);
			bool first =
				get == ETHTOOL_MSG_PAUSE_GET && type == ETHTOOL_A_PAUSE_AUTONEG;

			if (r < 0 || type == 1 || first == (turn == 1))
				continue;
			if (bits)
				fake_take_bits(attr, g);
			else
				r = fake_take_number(attr, get, g, err);
		}
	return r;
}

static inline uint32_t fake_index(const struct nlmsghdr *asked)
{
	const struct nlattr *attr;

	mnl_attr_for_each (attr, asked, GENL_HDRLEN)
		if (mnl_attr_get_type(attr) == 1)
			return mnl_attr_get_u32(fake_nested(attr, ETHTOOL_A_HEADER_DEV_INDEX));
	return 0;
}

static inline int fake_generic(const struct nlmsghdr *asked, struct netlink_answer *ret,
			       struct err *err)
{
	/* of the groups that are set, each _SET is one more than its _GET */
	static const uint8_t gets[] = {ETHTOOL_MSG_FEATURES_GET, ETHTOOL_MSG_PRIVFLAGS_GET,
				       ETHTOOL_MSG_RINGS_GET,	 ETHTOOL_MSG_CHANNELS_GET,
				       ETHTOOL_MSG_COALESCE_GET, ETHTOOL_MSG_PAUSE_GET};
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(asked);
	struct nlmsghdr *msg;

	if (asked->nlmsg_type == GENL_ID_CTRL) {
		if (fake->no_family)
			return fake_says(err, -ENOENT);
		msg = fake_answer(ret, GENL_ID_CTRL);
		mnl_nlmsg_put_extra_header(msg, GENL_HDRLEN);
		mnl_attr_put_u16(msg, CTRL_ATTR_FAMILY_ID, FAKE_FAMILY);
		return fake_done(ret);
	}
	assert_int_equal(asked->nlmsg_type, FAKE_FAMILY);
	assert_int_equal(fake_index(asked), FAKE_PORT); /* never a representor */
	for (size_t i = 0; i < array_len(gets); i++) {
		if (genl->cmd == gets[i])
			return fake_get(gets[i], ret, err);
		if (genl->cmd == gets[i] + 1)
			return fake_set(asked, gets[i], err);
	}
	return fake_says(err, -EOPNOTSUPP);
}

static inline int fake_kernel(int protocol, const struct nlmsghdr *msg, struct netlink_answer *ret,
			      struct err *err)
{
	fake->questions++;
	if (fake->silent)
		return fake_says(err, -ETIMEDOUT);
	if (protocol == NETLINK_GENERIC)
		return fake_generic(msg, ret, err);
	return msg->nlmsg_type == RTM_GETLINK ? fake_getlink(msg, ret, err)
					      : fake_setlink(msg, err);
}

static inline void fake_flags(uint8_t get, const struct fake_flag *flags, size_t n)
{
	memcpy(fake->group[get].flag, flags, n * sizeof(*flags));
}

static inline void fake_begin(void)
{
	static const struct fake_flag features[] = {
		{"rx-gro", true, false},	   {"rx-lro", false, true},
		{"tx-checksum-ipv4", true, false}, {"tx-checksum-ipv6", false, false},
		{"tx-checksum-sctp", false, true}, {"tx-nocache-copy", false, false},
	};
	static const struct fake_flag private_flags[] = {{"rx_cqe_moder", true, false},
							 {"rx_striding_rq", false, false}};
	int64_t(*n)[FAKE_NUMBERS];

	fake = mmap(NULL, sizeof(*fake), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(fake != MAP_FAILED);
	fake->mtu = 1500;
	fake->max_mtu = 9978;
	fake->tx_queue_len = 1000;
	for (size_t g = 0; g < 256; g++)
		memset(fake->group[g].number, 0xff, sizeof(fake->group[g].number));
	n = &fake->group[ETHTOOL_MSG_RINGS_GET].number;
	(*n)[ETHTOOL_A_RINGS_RX] = (*n)[ETHTOOL_A_RINGS_TX] = 1024;
	(*n)[ETHTOOL_A_RINGS_RX_MAX] = (*n)[ETHTOOL_A_RINGS_TX_MAX] = 8192;
	n = &fake->group[ETHTOOL_MSG_CHANNELS_GET].number;
	(*n)[ETHTOOL_A_CHANNELS_COMBINED_COUNT] = 8;
	(*n)[ETHTOOL_A_CHANNELS_COMBINED_MAX] = 63;
	n = &fake->group[ETHTOOL_MSG_COALESCE_GET].number;
	(*n)[ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX] = 1;
	(*n)[ETHTOOL_A_COALESCE_RX_USECS] = 8;
	(*n)[ETHTOOL_A_COALESCE_RX_MAX_FRAMES] = 128;
	(*n)[ETHTOOL_A_COALESCE_TX_USECS] = 16;
	n = &fake->group[ETHTOOL_MSG_PAUSE_GET].number;
	(*n)[ETHTOOL_A_PAUSE_AUTONEG] = 0;
	(*n)[ETHTOOL_A_PAUSE_RX] = (*n)[ETHTOOL_A_PAUSE_TX] = 1;
	fake_flags(ETHTOOL_MSG_FEATURES_GET, features, array_len(features));
	fake_flags(ETHTOOL_MSG_PRIVFLAGS_GET, private_flags, array_len(private_flags));
	test_netlink(fake_kernel);
}

static inline void fake_end(void)
{
	test_netlink(NULL);
	munmap(fake, sizeof(*fake));
	fake = NULL;
}
