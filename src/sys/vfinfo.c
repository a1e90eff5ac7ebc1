/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/vfinfo.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>
#include <string.h>

void pf_info_free(struct pf_info *pf)
{
	vec_free(&pf->vf);
}

const struct vf_info *pf_info_vf(const struct pf_info *pf, unsigned int index)
{
	for (size_t i = 0; i < pf->vf.n; i++)
		if (pf->vf.v[i].index == index)
			return &pf->vf.v[i];
	return NULL;
}

/* --- reading --------------------------------------------------------------------------- */

/* The attribute's payload as a structure; false if it is shorter than that. */
static bool get_struct(const struct nlattr *attr, void *ret, size_t size)
{
	if (mnl_attr_get_payload_len(attr) < size)
		return false;
	memcpy(ret, mnl_attr_get_payload(attr), size);
	return true;
}

/* IFLA_VF_SPOOFCHK, _TRUST and _LINK_STATE all are {vf, setting}. */
static void get_setting(const struct nlattr *attr, uint32_t *ret)
{
	struct ifla_vf_trust setting;

	if (get_struct(attr, &setting, sizeof(setting)))
		*ret = setting.setting;
}

static void get_guid(const struct nlattr *attr, uint64_t *ret, bool *has)
{
	struct ifla_vf_guid guid;

	if (!get_struct(attr, &guid, sizeof(guid)))
		return;
	*ret = guid.guid;
	*has = true;
}

static void get_rate(const struct nlattr *attr, struct vf_info *vf)
{
	struct ifla_vf_rate rate;

	if (!get_struct(attr, &rate, sizeof(rate)))
		return;
	vf->min_rate = rate.min_tx_rate;
	vf->max_rate = rate.max_tx_rate;
}

static void get_mac(const struct nlattr *attr, struct vf_info *vf)
{
	struct ifla_vf_mac mac;

	if (!get_struct(attr, &mac, sizeof(mac)))
		return;
	vf->index = mac.vf;
	vf->has_mac = true;
	memcpy(vf->mac, mac.mac, sizeof(vf->mac));
}

static void get_attr(const struct nlattr *attr, struct vf_info *vf)
{
	struct ifla_vf_vlan vlan;

	switch (mnl_attr_get_type(attr)) {
	case IFLA_VF_MAC:
		get_mac(attr, vf);
		break;
	case IFLA_VF_VLAN:
		if (get_struct(attr, &vlan, sizeof(vlan)))
			vf->vlan = vlan.vlan;
		break;
	case IFLA_VF_RATE:
		get_rate(attr, vf);
		break;
	case IFLA_VF_SPOOFCHK:
		get_setting(attr, &vf->spoof_check);
		break;
	case IFLA_VF_LINK_STATE:
		get_setting(attr, &vf->link_state);
		break;
	case IFLA_VF_TRUST:
		get_setting(attr, &vf->trust);
		break;
	case IFLA_VF_IB_NODE_GUID:
		get_guid(attr, &vf->node_guid, &vf->has_guids);
		break;
	case IFLA_VF_IB_PORT_GUID:
		get_guid(attr, &vf->port_guid, &vf->has_guids);
		break;
	}
}

static void get_vfs(const struct nlattr *list, struct pf_info *pf)
{
	const struct nlattr *info, *attr;

	pf->has_vfs = true;
	mnl_attr_for_each_nested (info, list) {
		struct vf_info vf = {
			.spoof_check = VF_UNKNOWN, .trust = VF_UNKNOWN, .link_state = VF_UNKNOWN};

		if (mnl_attr_get_type(info) != IFLA_VF_INFO)
			continue;
		mnl_attr_for_each_nested (attr, info)
			get_attr(attr, &vf);
		if (vf.has_mac) /* which says of which VF; the kernel always has it */
			vec_push(&pf->vf, vf);
	}
}

static void get_address(const struct nlattr *attr, struct pf_info *pf)
{
	static const uint8_t zero[6];

	if (mnl_attr_get_payload_len(attr) != sizeof(pf->mac) ||
	    memcmp(mnl_attr_get_payload(attr), zero, sizeof(zero)) == 0)
		return;
	memcpy(pf->mac, mnl_attr_get_payload(attr), sizeof(pf->mac));
	pf->has_mac = true;
}

int pf_info_parse(const void *data, size_t len, struct pf_info *ret, struct err *err)
{
	const struct nlmsghdr *msg = data;
	const struct ifinfomsg *info;
	const struct nlattr *attr, *address = NULL, *permanent = NULL;
	size_t size;
	const void *attrs = netlink_attrs(data, len, sizeof(struct ifinfomsg), &size);

	if (attrs == data || msg->nlmsg_type != RTM_NEWLINK)
		return err_set(err, -EBADMSG, "the kernel's answer is not about a netdev");
	memset(ret, 0, sizeof(*ret));
	info = mnl_nlmsg_get_payload(msg);
	ret->ifindex = (unsigned int)info->ifi_index;
	ret->infiniband = info->ifi_type == ARPHRD_INFINIBAND;
	mnl_attr_for_each_payload (attrs, size) {
		if (mnl_attr_get_type(attr) == IFLA_ADDRESS)
			address = attr;
		else if (mnl_attr_get_type(attr) == IFLA_PERM_ADDRESS)
			permanent = attr;
		else if (mnl_attr_get_type(attr) == IFLA_VFINFO_LIST)
			get_vfs(attr, ret);
	}
	if (address)
		get_address(address, ret);
	if (permanent)
		get_address(permanent, ret);
	return 0;
}

int pf_info_question(const void *arg, struct netlink_answer *ret, struct err *err)
{
	const struct ifindexes *netdevs = arg;

	for (size_t i = 0; i < netdevs->list.n; i++) {
		_Alignas(struct nlmsghdr) char buf[VF_MESSAGE_MAX];
		struct netlink_answer got cleanup_answer = {0};
		struct pf_info pf cleanup_pf_info = {0};
		int r = netlink_talk(NETLINK_ROUTE, pf_info_message(buf, netdevs->list.v[i]), &got,
				     err);

		if (r == 0)
			r = pf_info_parse(got.data, got.len, &pf, err);
		if (r < 0)
			return r;
		if (ret->data && !pf.has_vfs)
			continue;
		netlink_answer_free(ret);
		*ret = got;
		got = (struct netlink_answer){0};
		if (pf.has_vfs)
			break;
	}
	return ret->data ? 0 : err_set(err, -ENODEV, "the PF has no netdev");
}

/* --- messages -------------------------------------------------------------------------- */

struct nlmsghdr *pf_info_message(void *buf, unsigned int ifindex)
{
	struct nlmsghdr *msg = netlink_link_message(buf, VF_MESSAGE_MAX, RTM_GETLINK, 0, ifindex);

	/* The counters would make an attribute of 128 VFs longer than 64 KiB, which it can't be. */
	mnl_attr_put_u32(msg, IFLA_EXT_MASK, RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS);
	return msg;
}

static void put_value(struct nlmsghdr *msg, unsigned int vf, const struct vf_value *value)
{
	struct ifla_vf_mac mac = {.vf = vf};
	struct ifla_vf_vlan vlan = {.vf = vf, .vlan = value->number};
	struct ifla_vf_rate rate = {vf, value->min_rate, value->max_rate};
	struct ifla_vf_trust setting = {vf, value->number};
	uint16_t type = (uint16_t)value->attr;
	struct ifla_vf_guid guid;

	/* An initialiser would leave the hole between its members as it is. */
	memset(&guid, 0, sizeof(guid));
	guid.vf = vf;
	guid.guid = value->guid;
	switch (value->attr) {
	case IFLA_VF_MAC:
		memcpy(mac.mac, value->mac, sizeof(value->mac));
		mnl_attr_put(msg, type, sizeof(mac), &mac);
		break;
	case IFLA_VF_VLAN:
		mnl_attr_put(msg, type, sizeof(vlan), &vlan);
		break;
	case IFLA_VF_RATE:
		mnl_attr_put(msg, type, sizeof(rate), &rate);
		break;
	case IFLA_VF_IB_NODE_GUID:
	case IFLA_VF_IB_PORT_GUID:
		mnl_attr_put(msg, type, sizeof(guid), &guid);
		break;
	default:
		mnl_attr_put(msg, type, sizeof(setting), &setting);
	}
}

struct nlmsghdr *vf_value_message(void *buf, unsigned int ifindex, unsigned int vf,
				  const struct vf_value *value)
{
	struct nlmsghdr *msg =
		netlink_link_message(buf, VF_MESSAGE_MAX, RTM_SETLINK, NLM_F_ACK, ifindex);
	struct nlattr *list = mnl_attr_nest_start(msg, IFLA_VFINFO_LIST);
	struct nlattr *info = mnl_attr_nest_start(msg, IFLA_VF_INFO);

	put_value(msg, vf, value);
	mnl_attr_nest_end(msg, info);
	mnl_attr_nest_end(msg, list);
	return msg;
}
