/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a PF's netdev says of its VFs (RTM_GETLINK with RTEXT_FILTER_VF), and the messages that
 * change it, one attribute each, so that a refusal is that attribute's.
 * Layouts: include/uapi/linux/if_link.h (IFLA_VF_*); semantics: net/core/rtnetlink.c,
 * rtnl_fill_vfinfo() and do_setvfinfo().
 */
#pragma once

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "sys/netlink.h"

/* Of one VF, as the kernel answered. */
struct vf_info {
	unsigned int index;
	const struct nlattr *attrs; /* an IFLA_VF_INFO of the answer */
};

struct pf_info {
	unsigned int ifindex;
	bool infiniband; /* IPoIB: its VFs have GUIDs, not MAC addresses */
	bool has_mac;	 /* 6 octets: the permanent address, else (before 5.6) the present one */
	uint8_t mac[6];
	bool has_vfs; /* the driver tells of VFs at all, and there are some */
	VEC(struct vf_info) vf;
	void *answer;
};

void pf_info_free(struct pf_info *pf);
#define cleanup_pf_info __attribute__((__cleanup__(pf_info_free)))

/* An answer to pf_info_message(), whatever it holds. -EBADMSG if it is no RTM_NEWLINK. The caller
 * frees *ret. */
int pf_info_parse(const void *data, size_t len, struct pf_info *ret, struct err *err);
/* NULL if nothing is said of that VF. */
const struct vf_info *pf_info_vf(const struct pf_info *pf, unsigned int index);

/*
 * A setting of a VF: IFLA_VF_VLAN, _RATE (the second number is the most), _SPOOFCHK, _TRUST,
 * _LINK_STATE and others of {vf, number}. False: the driver does not say, so can't set it either.
 */
bool vf_info_number(const struct vf_info *vf, uint16_t attr, bool second, uint32_t *ret);
bool vf_info_mac(const struct vf_info *vf, uint8_t ret[6]);
/* attr: IFLA_VF_IB_NODE_GUID, _PORT_GUID; 0 where none was given. */
bool vf_info_guid(const struct vf_info *vf, uint16_t attr, uint64_t *ret);

struct ifindexes {
	VEC(unsigned int) list;
};
/*
 * A netlink_question; arg: const struct ifindexes * of all netdevs of a PF. Answers for the
 * first that tells of VFs (a representor does not), or else for the first.
 */
int pf_info_question(const void *arg, struct netlink_answer *ret, struct err *err);

enum { VF_MESSAGE_MAX = 256 };

/* Each fills buf (VF_MESSAGE_MAX, aligned as struct nlmsghdr) and returns it. */
struct nlmsghdr *pf_info_message(void *buf, unsigned int ifindex);

struct vf_value {
	uint16_t attr; /* IFLA_VF_* */
	uint8_t mac[6];
	uint64_t guid;
	uint32_t number; /* VLAN id, 0 or 1, IFLA_VF_LINK_STATE_*; the least rate in Mb/s */
	uint32_t second; /* of IFLA_VF_RATE, which sets both: the most, 0 is no limit */
};
struct nlmsghdr *vf_value_message(void *buf, unsigned int ifindex, unsigned int vf,
				  const struct vf_value *value);
