/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel with DCB: dcbnl's rules (net/dcb/dcbnl.c), and those of one of four drivers: mlx5
 * (en_dcbnl.c), ice (ice_dcb_nl.c), bnxt (bnxt_dcb.c), and one with dcbnl_setapptrust(). Its
 * memory is shared, since looks ask in children. Include after cmocka.h.
 */
#pragma once

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/mman.h>

#include "hooks.h"
#include "base/mem.h"
#include "sys/dcb.h"

enum fake_driver { MLX5, ICE, BNXT, TRUSTING, NONE };
enum { FAKE_APPS = 128, FAKE_CELL = 128, FAKE_PORT_BUFFER = 1 << 20, FAKE_FAMILY = 23 };

struct fake_dcb {
	enum fake_driver driver;
	struct dcb_app app[FAKE_APPS];
	size_t apps;
	uint8_t trust[8];
	size_t trusts;
	uint8_t dscp2prio[64]; /* the hardware's */
	uint8_t roce_prio;     /* of bnxt */
	bool trusts_dscp;      /* the hardware's, of mlx5 */
	int trust_flips;
	struct ieee_pfc pfc;
	struct ieee_ets ets;
	struct dcbnl_buffer buffer;
	uint8_t dcbx;
	bool no_dcbx, no_pfc, no_ets, no_buffer; /* no function to ask */
	bool deaf;				 /* ... nor to set: PFC, ETS, buffers */
	bool agent;				 /* of the firmware, for LLDP */
	bool no_dscp;				 /* bnxt: max_dscp_value is 0 */
	bool no_manager;			 /* mlx5: no vport_group_manager */
	bool pause_rx, pause_tx, no_ethtool;
	bool pause_negotiated; /* ice refuses to change it; others obey nothing else while it is */
	int bounces;	       /* of the link */
	int questions, orders;
	bool silent; /* answers nothing */
};

static struct fake_dcb *fake;

static inline int fake_says(struct err *err, int code)
{
	return err_set(err, code, "%s; the kernel says: no", strerror(-code));
}

static inline struct nlmsghdr *fake_answer(struct netlink_answer *ret, uint16_t type, size_t extra)
{
	struct nlmsghdr *msg;

	ret->data = xcalloc(1, 8192);
	msg = mnl_nlmsg_put_header(ret->data);
	msg->nlmsg_type = type;
	mnl_nlmsg_put_extra_header(msg, extra);
	return msg;
}

static inline int fake_done(struct netlink_answer *ret)
{
	ret->len = ((struct nlmsghdr *)ret->data)->nlmsg_len;
	return 0;
}

/* --- the APP table, as the core keeps it ----------------------------------------------------- */

static inline struct dcb_app *fake_find(const struct dcb_app *app)
{
	for (size_t i = 0; i < fake->apps; i++)
		if (memcmp(&fake->app[i], app, sizeof(*app)) == 0)
			return &fake->app[i];
	return NULL;
}

static inline int fake_core_add(const struct dcb_app *app)
{
	if (fake_find(app))
		return -EEXIST;
	assert_true(fake->apps < FAKE_APPS);
	fake->app[fake->apps++] = *app;
	return 0;
}

static inline int fake_core_del(const struct dcb_app *app)
{
	struct dcb_app *there = fake_find(app);

	if (!there)
		return -ENOENT;
	*there = fake->app[--fake->apps];
	return 0;
}

static inline size_t fake_of_dscp(unsigned int dscp)
{
	size_t n = 0;

	for (size_t i = 0; i < fake->apps; i++)
		n += fake->app[i].protocol == dscp;
	return n;
}

static inline void fake_trust(bool dscp)
{
	fake->trust_flips += fake->trusts_dscp != dscp;
	fake->trusts_dscp = dscp;
}

/* --- drivers ---------------------------------------------------------------------------------- */

static inline int fake_mlx5_app(const struct dcb_app *app, bool add)
{
	struct dcb_app old = *app;
	int r;

	if (fake->no_manager)
		return -EOPNOTSUPP;
	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP || app->protocol > 63)
		return -EINVAL;
	old.priority = fake->dscp2prio[app->protocol];
	if (add) {
		fake_trust(true);
		fake->dscp2prio[app->protocol] = app->priority;
		fake_core_del(&old);
		return fake_core_add(app);
	}
	if (!fake->apps || app->priority != fake->dscp2prio[app->protocol])
		return -ENOENT;
	r = fake_core_del(app);
	if (r == 0) {
		fake->dscp2prio[app->protocol] = 0;
		fake_trust(fake->apps > 0);
	}
	return r;
}

static inline int fake_ice_app(const struct dcb_app *app, bool add)
{
	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP || fake->agent)
		return -EINVAL;
	if (add && fake_of_dscp(app->protocol))
		return -EINVAL; /* already user mapped */
	fake->dscp2prio[app->protocol] = add ? app->priority : 0;
	return add ? fake_core_add(app) : fake_core_del(app);
}

static inline bool fake_bnxt_is_host(void)
{
	return fake->dcbx & DCB_CAP_DCBX_HOST && fake->dcbx & DCB_CAP_DCBX_VER_IEEE;
}

static inline int fake_bnxt_app(const struct dcb_app *app, bool add)
{
	int r;

	if (!fake_bnxt_is_host())
		return -EINVAL;
	if (fake->no_dscp && app->selector == IEEE_8021QAZ_APP_SEL_DSCP)
		return -524;
	r = add ? fake_core_add(app) : fake_core_del(app);
	if (r == 0 && app->selector == IEEE_8021QAZ_APP_SEL_DGRAM)
		fake->roce_prio = add ? app->priority : 0;
	else if (r == 0) /* also if another entry of that DSCP stays */
		fake->dscp2prio[app->protocol] = add ? app->priority : 0;
	return r;
}

static inline int fake_app(const struct dcb_app *app, bool add)
{
	switch (fake->driver) {
	case MLX5:
		return fake_mlx5_app(app, add);
	case ICE:
		return fake_ice_app(app, add);
	case BNXT:
		return fake_bnxt_app(app, add);
	default:
		return add ? fake_core_add(app) : fake_core_del(app);
	}
}

static inline int fake_pfc(const struct ieee_pfc *pfc)
{
	bool same = pfc->pfc_en == fake->pfc.pfc_en;

	if (fake->deaf)
		return 0;
	if ((fake->driver == BNXT && !fake_bnxt_is_host()) || (fake->driver == ICE && fake->agent))
		return -EINVAL;
	fake->bounces += fake->driver == MLX5 && !same;
	fake->pfc.pfc_en = pfc->pfc_en;
	if (fake->driver == MLX5 && pfc->delay && pfc->delay < 1000)
		fake->pfc.delay = pfc->delay;
	return fake->driver == ICE && !same ? 2 : 0; /* ICE_DCB_HW_CHG */
}

static inline int fake_ets(const struct ieee_ets *ets)
{
	unsigned int sum = 0;
	bool any = false;

	for (int i = 0; i < 8; i++)
		if (ets->tc_tsa[i] == IEEE_8021QAZ_TSA_ETS) {
			sum += ets->tc_tx_bw[i];
			any = true;
		}
	if (any && sum != 100)
		return -EINVAL;
	if (!fake->deaf)
		fake->ets = *ets;
	return 0;
}

static inline int fake_buffer(const struct dcbnl_buffer *buffer)
{
	uint32_t sum = 0;

	for (int i = 0; i < 8; i++)
		sum += buffer->buffer_size[i];
	if (sum > FAKE_PORT_BUFFER)
		return -EINVAL;
	if (fake->deaf)
		return 0;
	fake->buffer = *buffer;
	for (int i = 0; i < 8; i++)
		fake->buffer.buffer_size[i] -= fake->buffer.buffer_size[i] % FAKE_CELL;
	return 0;
}

static inline uint8_t fake_mode(uint8_t dcbx)
{
	if (fake->agent)
		return 1;
	fake->dcbx = dcbx;
	return 0;
}

/* --- dcbnl ------------------------------------------------------------------------------------ */

static inline int fake_get(struct netlink_answer *ret)
{
	struct nlmsghdr *msg = fake_answer(ret, RTM_GETDCB, sizeof(struct dcbmsg));
	struct nlattr *ieee, *table;

	mnl_attr_put_strz(msg, DCB_ATTR_IFNAME, "rail0");
	ieee = mnl_attr_nest_start(msg, DCB_ATTR_IEEE);
	if (!fake->no_ets)
		mnl_attr_put(msg, DCB_ATTR_IEEE_ETS, sizeof(fake->ets), &fake->ets);
	if (!fake->no_pfc)
		mnl_attr_put(msg, DCB_ATTR_IEEE_PFC, sizeof(fake->pfc), &fake->pfc);
	if (!fake->no_buffer)
		mnl_attr_put(msg, DCB_ATTR_DCB_BUFFER, sizeof(fake->buffer), &fake->buffer);
	table = mnl_attr_nest_start(msg, DCB_ATTR_IEEE_APP_TABLE);
	for (size_t i = 0; i < fake->apps; i++)
		mnl_attr_put(msg, DCB_ATTR_IEEE_APP, sizeof(fake->app[i]), &fake->app[i]);
	mnl_attr_nest_end(msg, table);
	if (fake->driver == TRUSTING) {
		table = mnl_attr_nest_start(msg, DCB_TRUST_TABLE);
		for (size_t i = 0; i < fake->trusts; i++)
			mnl_attr_put_u8(msg, DCB_ATTR_IEEE_APP, fake->trust[i]);
		mnl_attr_nest_end(msg, table);
	}
	mnl_attr_nest_end(msg, ieee);
	if (!fake->no_dcbx)
		mnl_attr_put_u8(msg, DCB_ATTR_DCBX, fake->dcbx);
	return fake_done(ret);
}

static inline int fake_set_attr(const struct nlattr *attr, bool add)
{
	const void *data = mnl_attr_get_payload(attr);
	const struct nlattr *item;
	int r = 0;

	switch (mnl_attr_get_type(attr)) {
	case DCB_ATTR_IEEE_ETS:
		assert_int_equal(mnl_attr_get_payload_len(attr), 59);
		return fake->no_ets ? 0 : fake_ets(data);
	case DCB_ATTR_IEEE_PFC:
		assert_int_equal(mnl_attr_get_payload_len(attr), 136);
		return fake->no_pfc ? 0 : fake_pfc(data);
	case DCB_ATTR_DCB_BUFFER:
		assert_int_equal(mnl_attr_get_payload_len(attr), 44);
		return fake->no_buffer ? 0 : fake_buffer(data);
	case DCB_ATTR_IEEE_APP_TABLE:
		mnl_attr_for_each_nested (item, attr) {
			assert_int_equal(mnl_attr_get_payload_len(item), 4);
			if (r == 0)
				r = fake_app(mnl_attr_get_payload(item), add);
		}
		return r;
	case DCB_TRUST_TABLE:
		if (fake->driver != TRUSTING)
			return -EOPNOTSUPP;
		fake->trusts = 0;
		mnl_attr_for_each_nested (item, attr)
			fake->trust[fake->trusts++] = mnl_attr_get_u8(item);
		return 0;
	}
	return 0;
}

/* The driver's word goes into one byte, whatever it is. */
static inline int fake_set(const struct nlmsghdr *asked, struct netlink_answer *ret)
{
	const struct dcbmsg *dcb = mnl_nlmsg_get_payload(asked);
	struct nlmsghdr *msg = fake_answer(ret, RTM_SETDCB, sizeof(*dcb));
	const struct nlattr *attr, *inner;
	int r = 0;

	fake->orders++;
	mnl_attr_for_each (attr, asked, sizeof(*dcb)) {
		if (mnl_attr_get_type(attr) == DCB_ATTR_IFNAME)
			assert_string_equal(mnl_attr_get_str(attr), "rail0");
		if (mnl_attr_get_type(attr) == DCB_ATTR_DCBX)
			mnl_attr_put_u8(msg, DCB_ATTR_DCBX, fake_mode(mnl_attr_get_u8(attr)));
		if (mnl_attr_get_type(attr) != DCB_ATTR_IEEE)
			continue;
		mnl_attr_for_each_nested (inner, attr)
			if (r == 0)
				r = fake_set_attr(inner, dcb->cmd == DCB_CMD_IEEE_SET);
		mnl_attr_put_u8(msg, DCB_ATTR_IEEE, (uint8_t)r);
	}
	return fake_done(ret);
}

static inline int fake_ethtool(const struct nlmsghdr *asked, struct netlink_answer *ret,
			       struct err *err)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(asked);
	const struct nlattr *attr;
	struct nlmsghdr *msg;

	if (fake->no_ethtool)
		return fake_says(err, -ENOENT);
	if (asked->nlmsg_type == GENL_ID_CTRL) {
		msg = fake_answer(ret, GENL_ID_CTRL, GENL_HDRLEN);
		mnl_attr_put_u16(msg, CTRL_ATTR_FAMILY_ID, FAKE_FAMILY);
		return fake_done(ret);
	}
	assert_int_equal(asked->nlmsg_type, FAKE_FAMILY);
	if (genl->cmd == ETHTOOL_MSG_PAUSE_GET) {
		msg = fake_answer(ret, FAKE_FAMILY, GENL_HDRLEN);
		mnl_attr_put_u8(msg, ETHTOOL_A_PAUSE_AUTONEG, fake->pause_negotiated);
		mnl_attr_put_u8(msg, ETHTOOL_A_PAUSE_RX, fake->pause_rx);
		mnl_attr_put_u8(msg, ETHTOOL_A_PAUSE_TX, fake->pause_tx);
		return fake_done(ret);
	}
	assert_int_equal(genl->cmd, ETHTOOL_MSG_PAUSE_SET);
	fake->orders++;
	mnl_attr_for_each (attr, asked, GENL_HDRLEN) {
		/* ice refuses a change of it, so it must not even be there for nothing */
		if (mnl_attr_get_type(attr) == ETHTOOL_A_PAUSE_AUTONEG) {
			assert_true(fake->pause_negotiated);
			if (fake->driver == ICE)
				return fake_says(err, -EOPNOTSUPP);
			fake->pause_negotiated = mnl_attr_get_u8(attr);
		}
		if (mnl_attr_get_type(attr) == ETHTOOL_A_PAUSE_RX &&
		    (!fake->pause_negotiated || fake->driver == ICE))
			fake->pause_rx = mnl_attr_get_u8(attr);
		if (mnl_attr_get_type(attr) == ETHTOOL_A_PAUSE_TX &&
		    (!fake->pause_negotiated || fake->driver == ICE))
			fake->pause_tx = mnl_attr_get_u8(attr);
	}
	return 0;
}

static inline int fake_kernel(int protocol, const struct nlmsghdr *msg, struct netlink_answer *ret,
			      struct err *err)
{
	if (fake->silent) {
		fake->questions++;
		return fake_says(err, -ETIMEDOUT);
	}
	if (protocol == NETLINK_GENERIC)
		return fake_ethtool(msg, ret, err);
	if (fake->driver == NONE)
		return fake_says(err, -EOPNOTSUPP);
	if (msg->nlmsg_type == RTM_SETDCB)
		return fake_set(msg, ret);
	assert_int_equal(msg->nlmsg_type, RTM_GETDCB);
	fake->questions++;
	return fake_get(ret);
}

static inline void fake_begin(void)
{
	fake = mmap(NULL, sizeof(*fake), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(fake != MAP_FAILED);
	fake->dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
	fake->pfc.pfc_cap = 8;
	fake->pfc.mbc = 1;
	fake->pfc.delay = 7;
	test_netlink(fake_kernel);
}

static inline void fake_end(void)
{
	test_netlink(NULL);
	munmap(fake, sizeof(*fake));
	fake = NULL;
}
