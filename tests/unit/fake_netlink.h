/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel for tests of what speaks netlink: one PF's netdev with VFs, its eswitch, its
 * permanent parameters, the RDMA namespace mode. Its memory is shared, since looks ask in
 * children. Include after cmocka.h.
 */
#pragma once

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>
#include <rdma/rdma_netlink.h>
#include <string.h>
#include <sys/mman.h>

#include "hooks.h"
#include "base/mem.h"
#include "sys/netlink.h"
#include "sys/vfinfo.h"

enum { FAKE_VFS = 4, FAKE_UPLINK = 7 };

#define VF_UNKNOWN UINT32_MAX /* the driver does not say */

struct fake_vf {
	uint32_t index;
	uint8_t mac[6];
	uint64_t node_guid, port_guid;
	uint32_t vlan, min_rate, max_rate, spoof_check, trust, link_state;
};

struct fake_kernel {
	struct fake_vf vf[FAKE_VFS];
	size_t vfs;
	bool guids;
	uint8_t permanent[6];
	int refuse[IFLA_VF_IB_PORT_GUID + 1]; /* by IFLA_VF_*: what setting it says */
	int questions, orders;		      /* how many there were */
	bool silent;			      /* answers nothing */

	int eswitch_error; /* of asking */
	uint16_t eswitch;
	int busy; /* so many changes of its mode are EBUSY first */
	int eswitch_refuse;
	bool params;
	bool enable_sriov;
	uint32_t total_vfs;

	uint8_t shared;
	int netns_refuse;
};

static struct fake_kernel *fake;

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

static inline void fake_put_vf(struct nlmsghdr *msg, const struct fake_vf *vf)
{
	uint32_t i = vf->index;
	struct ifla_vf_mac mac = {.vf = i};
	struct ifla_vf_vlan vlan = {i, vf->vlan, 0};
	struct ifla_vf_rate rate = {i, vf->min_rate, vf->max_rate};
	struct ifla_vf_trust spoof = {i, vf->spoof_check}, trust = {i, vf->trust},
			     state = {i, vf->link_state};
	struct ifla_vf_guid node = {i, vf->node_guid}, port = {i, vf->port_guid};
	struct nlattr *nest = mnl_attr_nest_start(msg, IFLA_VF_INFO);

	memcpy(mac.mac, vf->mac, 6);
	mnl_attr_put(msg, IFLA_VF_MAC, sizeof(mac), &mac);
	mnl_attr_put(msg, IFLA_VF_VLAN, sizeof(vlan), &vlan);
	mnl_attr_put(msg, IFLA_VF_RATE, sizeof(rate), &rate);
	mnl_attr_put(msg, IFLA_VF_SPOOFCHK, sizeof(spoof), &spoof);
	mnl_attr_put(msg, IFLA_VF_LINK_STATE, sizeof(state), &state);
	mnl_attr_put(msg, IFLA_VF_TRUST, sizeof(trust), &trust);
	if (fake->guids) {
		mnl_attr_put(msg, IFLA_VF_IB_NODE_GUID, sizeof(node), &node);
		mnl_attr_put(msg, IFLA_VF_IB_PORT_GUID, sizeof(port), &port);
	}
	mnl_attr_nest_end(msg, nest);
}

static inline int fake_getlink(const struct nlmsghdr *asked, struct netlink_answer *ret)
{
	const struct ifinfomsg *about = mnl_nlmsg_get_payload(asked);
	struct nlmsghdr *msg = fake_answer(ret, RTM_NEWLINK);
	struct ifinfomsg *info = mnl_nlmsg_put_extra_header(msg, sizeof(*info));
	struct nlattr *list;

	info->ifi_index = about->ifi_index;
	info->ifi_type = fake->guids ? ARPHRD_INFINIBAND : ARPHRD_ETHER;
	mnl_attr_put(msg, IFLA_PERM_ADDRESS, 6, fake->permanent);
	if (about->ifi_index != FAKE_UPLINK) /* a representor */
		return fake_done(ret);
	list = mnl_attr_nest_start(msg, IFLA_VFINFO_LIST);
	for (size_t i = 0; i < fake->vfs; i++)
		fake_put_vf(msg, &fake->vf[i]);
	mnl_attr_nest_end(msg, list);
	return fake_done(ret);
}

static inline void fake_take(struct fake_vf *vf, const struct nlattr *attr)
{
	const void *data = mnl_attr_get_payload(attr);
	uint32_t setting = ((const struct ifla_vf_trust *)data)->setting;

	switch (mnl_attr_get_type(attr)) {
	case IFLA_VF_MAC:
		memcpy(vf->mac, ((const struct ifla_vf_mac *)data)->mac, 6);
		break;
	case IFLA_VF_VLAN:
		vf->vlan = ((const struct ifla_vf_vlan *)data)->vlan;
		break;
	case IFLA_VF_RATE:
		vf->min_rate = ((const struct ifla_vf_rate *)data)->min_tx_rate;
		vf->max_rate = ((const struct ifla_vf_rate *)data)->max_tx_rate;
		break;
	case IFLA_VF_SPOOFCHK:
		vf->spoof_check = setting;
		break;
	case IFLA_VF_LINK_STATE:
		vf->link_state = setting;
		break;
	case IFLA_VF_TRUST:
		vf->trust = setting;
		break;
	case IFLA_VF_IB_NODE_GUID:
		memcpy(&vf->node_guid, (const char *)data + 8, 8);
		break;
	case IFLA_VF_IB_PORT_GUID:
		memcpy(&vf->port_guid, (const char *)data + 8, 8);
		break;
	}
}

static inline int fake_setlink(const struct nlmsghdr *msg, struct err *err)
{
	const struct nlattr *list = mnl_nlmsg_get_payload_offset(msg, sizeof(struct ifinfomsg));
	const struct nlattr *attr = mnl_attr_get_payload(mnl_attr_get_payload(list));
	uint32_t vf = mnl_attr_get_u32(attr);
	int refuse = fake->refuse[mnl_attr_get_type(attr)];

	fake->orders++;
	if (refuse)
		return fake_says(err, refuse);
	assert_true(vf < FAKE_VFS);
	fake_take(&fake->vf[vf], attr);
	return 0;
}

static inline int fake_param(const struct nlmsghdr *asked, struct netlink_answer *ret,
			     struct err *err)
{
	struct nlmsghdr *msg;
	struct nlattr *param, *list, *value, *attr;
	bool total = false;

	if (!fake->params)
		return fake_says(err, -EOPNOTSUPP);
	mnl_attr_for_each (attr, asked, GENL_HDRLEN)
		if (mnl_attr_get_type(attr) == DEVLINK_ATTR_PARAM_NAME)
			total = strcmp(mnl_attr_get_str(attr), "total_vfs") == 0;
	msg = fake_answer(ret, 21);
	mnl_nlmsg_put_extra_header(msg, GENL_HDRLEN);
	param = mnl_attr_nest_start(msg, DEVLINK_ATTR_PARAM);
	list = mnl_attr_nest_start(msg, DEVLINK_ATTR_PARAM_VALUES_LIST);
	value = mnl_attr_nest_start(msg, DEVLINK_ATTR_PARAM_VALUE);
	if (total)
		mnl_attr_put_u32(msg, DEVLINK_ATTR_PARAM_VALUE_DATA, fake->total_vfs);
	else if (fake->enable_sriov)
		mnl_attr_put(msg, DEVLINK_ATTR_PARAM_VALUE_DATA, 0, NULL);
	mnl_attr_put_u8(msg, DEVLINK_ATTR_PARAM_VALUE_CMODE, DEVLINK_PARAM_CMODE_PERMANENT);
	mnl_attr_nest_end(msg, value);
	mnl_attr_nest_end(msg, list);
	mnl_attr_nest_end(msg, param);
	return fake_done(ret);
}

static inline int fake_eswitch_set(const struct nlmsghdr *asked, struct err *err)
{
	struct nlattr *attr;

	fake->orders++;
	if (fake->busy > 0) {
		fake->busy--;
		return fake_says(err, -EBUSY);
	}
	if (fake->eswitch_refuse)
		return fake_says(err, fake->eswitch_refuse);
	mnl_attr_for_each (attr, asked, GENL_HDRLEN)
		if (mnl_attr_get_type(attr) == DEVLINK_ATTR_ESWITCH_MODE)
			fake->eswitch = mnl_attr_get_u16(attr);
	return 0;
}

static inline int fake_generic(const struct nlmsghdr *asked, struct netlink_answer *ret,
			       struct err *err)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(asked);
	struct nlmsghdr *msg;

	if (asked->nlmsg_type == GENL_ID_CTRL) {
		msg = fake_answer(ret, GENL_ID_CTRL);
		mnl_nlmsg_put_extra_header(msg, GENL_HDRLEN);
		mnl_attr_put_u16(msg, CTRL_ATTR_FAMILY_ID, 21);
		return fake_done(ret);
	}
	if (genl->cmd == DEVLINK_CMD_ESWITCH_SET)
		return fake_eswitch_set(asked, err);
	fake->questions++;
	if (genl->cmd == DEVLINK_CMD_PARAM_GET)
		return fake_param(asked, ret, err);
	if (fake->eswitch_error)
		return fake_says(err, fake->eswitch_error);
	msg = fake_answer(ret, 21);
	mnl_nlmsg_put_extra_header(msg, GENL_HDRLEN);
	mnl_attr_put_u16(msg, DEVLINK_ATTR_ESWITCH_MODE, fake->eswitch);
	return fake_done(ret);
}

static inline int fake_rdma(const struct nlmsghdr *asked, struct netlink_answer *ret,
			    struct err *err)
{
	struct nlmsghdr *msg;

	if (asked->nlmsg_type == RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_SET)) {
		fake->orders++;
		if (fake->netns_refuse)
			return fake_says(err, fake->netns_refuse);
		fake->shared = mnl_attr_get_u8(mnl_nlmsg_get_payload(asked));
		return 0;
	}
	fake->questions++;
	msg = fake_answer(ret, asked->nlmsg_type);
	mnl_attr_put_u8(msg, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, fake->shared);
	return fake_done(ret);
}

static inline int fake_kernel(int protocol, const struct nlmsghdr *msg, struct netlink_answer *ret,
			      struct err *err)
{
	if (fake->silent) {
		fake->questions++;
		return fake_says(err, -ETIMEDOUT);
	}
	if (protocol == NETLINK_GENERIC)
		return fake_generic(msg, ret, err);
	if (protocol == NETLINK_RDMA)
		return fake_rdma(msg, ret, err);
	if (msg->nlmsg_type == RTM_SETLINK)
		return fake_setlink(msg, err);
	fake->questions++;
	return fake_getlink(msg, ret);
}

static inline void fake_begin(void)
{
	fake = mmap(NULL, sizeof(*fake), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(fake != MAP_FAILED);
	fake->vfs = FAKE_VFS;
	fake->shared = 1;
	memcpy(fake->permanent, "\x0c\x42\xa1\x1b\x2c\x3d", 6);
	for (unsigned int i = 0; i < FAKE_VFS; i++)
		fake->vf[i].index = i;
	test_netlink(fake_kernel);
}

static inline void fake_end(void)
{
	test_netlink(NULL);
	munmap(fake, sizeof(*fake));
	fake = NULL;
}
