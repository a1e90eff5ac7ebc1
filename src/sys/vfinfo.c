/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/vfinfo.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>
#include <string.h>

#include "base/mem.h"

void pf_info_free(struct pf_info *pf)
{
	vec_free(&pf->vf);
	free(pf->answer);
}

const struct vf_info *pf_info_vf(const struct pf_info *pf, unsigned int index)
{
	for (size_t i = 0; i < pf->vf.n; i++)
		if (pf->vf.v[i].index == index)
			return &pf->vf.v[i];
	return NULL;
}

/* --- reading --------------------------------------------------------------------------- */

/* {vf, ...} of at least `size` bytes, or NULL. */
static const void *setting_of(const struct vf_info *vf, uint16_t type, size_t size)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested (attr, vf->attrs)
		if (mnl_attr_get_type(attr) == type)
			return mnl_attr_get_payload_len(attr) >= size ? mnl_attr_get_payload(attr)
								      : NULL;
	return NULL;
}

bool vf_info_number(const struct vf_info *vf, uint16_t attr, bool second, uint32_t *ret)
{
	uint32_t words[3];
	size_t size = sizeof(words[0]) * (second ? 3 : 2);
	const void *setting = setting_of(vf, attr, size);

	if (!setting)
		return false;
	memcpy(words, setting, size);
	*ret = words[second ? 2 : 1];
	return *ret != UINT32_MAX; /* the preset of rtnl_fill_vfinfo() before it asks the driver */
}

bool vf_info_mac(const struct vf_info *vf, uint8_t ret[6])
{
	const struct ifla_vf_mac *mac = setting_of(vf, IFLA_VF_MAC, sizeof(*mac));

	if (mac)
		memcpy(ret, mac->mac, 6);
	return mac;
}

bool vf_info_guid(const struct vf_info *vf, uint16_t attr, uint64_t *ret)
{
	struct ifla_vf_guid guid;
	const void *setting = setting_of(vf, attr, sizeof(guid));

	if (!setting)
		return false;
	memcpy(&guid, setting, sizeof(guid));
	*ret = guid.guid;
	return true;
}

static void get_vfs(const struct nlattr *list, struct pf_info *pf)
{
	const struct nlattr *info;

	pf->has_vfs = true;
	mnl_attr_for_each_nested (info, list) {
		struct vf_info vf = {.attrs = info};
		const struct ifla_vf_mac *mac;

		if (mnl_attr_get_type(info) != IFLA_VF_INFO)
			continue;
		mac = setting_of(&vf, IFLA_VF_MAC, sizeof(*mac));
		if (!mac) /* names the VF; the kernel always sends it */
			continue;
		vf.index = mac->vf;
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

	*ret = (struct pf_info){0};
	if (attrs == data || msg->nlmsg_type != RTM_NEWLINK)
		return err_set(err, -EBADMSG, "the kernel's answer is not about a netdev");
	ret->answer = memcpy(xcalloc(1, len), data, len); /* ret->vf points into the copy */
	attrs = (const char *)ret->answer + ((const char *)attrs - (const char *)data);
	msg = ret->answer;
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

	/*
	 * Skip the counters: with them, the attribute of 128 VFs would exceed its limit of 64 KiB.
	 */
	mnl_attr_put_u32(msg, IFLA_EXT_MASK, RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS);
	return msg;
}

static void put_value(struct nlmsghdr *msg, unsigned int vf, const struct vf_value *value)
{
	struct ifla_vf_mac mac = {.vf = vf};
	const uint32_t setting[] = {vf, value->number, value->second};
	struct ifla_vf_guid guid;

	/* An initialiser would not clear the padding between the members. */
	memset(&guid, 0, sizeof(guid));
	guid.vf = vf;
	guid.guid = value->guid;
	switch (value->attr) {
	case IFLA_VF_MAC:
		memcpy(mac.mac, value->mac, sizeof(value->mac));
		mnl_attr_put(msg, value->attr, sizeof(mac), &mac);
		break;
	case IFLA_VF_VLAN: /* the second number is the 802.1p priority */
	case IFLA_VF_RATE:
		mnl_attr_put(msg, value->attr, sizeof(setting), setting);
		break;
	case IFLA_VF_IB_NODE_GUID:
	case IFLA_VF_IB_PORT_GUID:
		mnl_attr_put(msg, value->attr, sizeof(guid), &guid);
		break;
	default:
		mnl_attr_put(msg, value->attr, 2 * sizeof(setting[0]), setting);
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
