/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The VFs in the answer of a PF's netdev (RTM_GETLINK with RTEXT_FILTER_VF), and the messages that
 * change them, one attribute in each message, so that an error belongs to that attribute. Layouts:
 * include/uapi/linux/if_link.h (IFLA_VF_*); semantics: net/core/rtnetlink.c, rtnl_fill_vfinfo() and
 * do_setvfinfo().
 */
#pragma once

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "sys/netlink.h"

/* A VF in the kernel's answer. */
struct vf_info {
	unsigned int index;
	const struct nlattr *attrs; /* an IFLA_VF_INFO of the answer */
};

struct pf_info {
	unsigned int ifindex;
	bool infiniband; /* IPoIB: the VFs have GUIDs instead of MAC addresses */
	bool has_mac;	 /* 6 octets: the permanent address, or (before 5.6) the present address */
	uint8_t mac[6];
	bool has_vfs; /* the driver reports VFs, and there are some */
	VEC(struct vf_info) vf;
	void *answer;
};

void pf_info_free(struct pf_info *pf);
#define cleanup_pf_info __attribute__((__cleanup__(pf_info_free)))

/*
 * Parses an answer to pf_info_message(), with any content. -EBADMSG if not an RTM_NEWLINK. The
 * caller frees *ret.
 */
int pf_info_parse(const void *data, size_t len, struct pf_info *ret, struct err *err);
/* NULL if the answer lacks that VF. */
const struct vf_info *pf_info_vf(const struct pf_info *pf, unsigned int index);

/*
 * A setting of a VF: IFLA_VF_VLAN, _RATE (the second number is the maximum), _SPOOFCHK, _TRUST,
 * _LINK_STATE and others of {vf, number}. False: the driver does not report the setting, and so
 * cannot set it either.
 */
bool vf_info_number(const struct vf_info *vf, uint16_t attr, bool second, uint32_t *ret);
bool vf_info_mac(const struct vf_info *vf, uint8_t ret[6]);
/* attr: IFLA_VF_IB_NODE_GUID, _PORT_GUID; 0 if unset. */
bool vf_info_guid(const struct vf_info *vf, uint16_t attr, uint64_t *ret);

struct ifindexes {
	VEC(unsigned int) list;
};
/*
 * A netlink_question; arg: const struct ifindexes * with all netdevs of a PF. Answers for the first
 * netdev that reports VFs (a representor does not), or else for the first.
 */
int pf_info_question(const void *arg, struct netlink_answer *ret, struct err *err);

enum { VF_MESSAGE_MAX = 256 };

/* Each function fills buf (VF_MESSAGE_MAX, aligned as struct nlmsghdr) and returns buf. */
struct nlmsghdr *pf_info_message(void *buf, unsigned int ifindex);

struct vf_value {
	uint16_t attr; /* IFLA_VF_* */
	uint8_t mac[6];
	uint64_t guid;
	uint32_t number; /* VLAN id, 0 or 1, IFLA_VF_LINK_STATE_*; the minimum rate in Mb/s */
	uint32_t second; /* for IFLA_VF_RATE, which sets both rates: the maximum; 0: no limit */
};
struct nlmsghdr *vf_value_message(void *buf, unsigned int ifindex, unsigned int vf,
				  const struct vf_value *value);
