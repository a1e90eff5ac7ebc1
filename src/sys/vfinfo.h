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

#define VF_UNKNOWN UINT32_MAX /* the driver does not say: it can't set it either */

struct vf_info {
	unsigned int index;
	bool has_mac, has_guids;
	uint8_t mac[6];
	uint64_t node_guid, port_guid; /* 0: none was given */
	uint32_t vlan;		       /* 0: none */
	uint32_t min_rate, max_rate;   /* Mb/s; 0: no limit */
	uint32_t spoof_check, trust;   /* 0, 1 or VF_UNKNOWN */
	uint32_t link_state;	       /* IFLA_VF_LINK_STATE_* */
};

struct pf_info {
	unsigned int ifindex;
	bool infiniband; /* IPoIB: its VFs have GUIDs, not MAC addresses */
	bool has_mac;	 /* 6 octets: the permanent address, else (before 5.6) the present one */
	uint8_t mac[6];
	bool has_vfs; /* the driver tells of VFs at all, and there are some */
	VEC(struct vf_info) vf;
};

void pf_info_free(struct pf_info *pf);
#define cleanup_pf_info __attribute__((__cleanup__(pf_info_free)))

/* An answer to pf_info_message(), whatever it holds. -EBADMSG if it is no RTM_NEWLINK. */
int pf_info_parse(const void *data, size_t len, struct pf_info *ret, struct err *err);
/* NULL if nothing is said of that VF. */
const struct vf_info *pf_info_vf(const struct pf_info *pf, unsigned int index);

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
	int attr; /* IFLA_VF_MAC, _VLAN, _RATE, _SPOOFCHK, _LINK_STATE, _TRUST, _IB_NODE_GUID,
		   * _IB_PORT_GUID */
	uint8_t mac[6];
	uint64_t guid;
	uint32_t number;   /* VLAN id, 0 or 1, IFLA_VF_LINK_STATE_* */
	uint32_t min_rate; /* Mb/s; IFLA_VF_RATE sets both */
	uint32_t max_rate;
};
struct nlmsghdr *vf_value_message(void *buf, unsigned int ifindex, unsigned int vf,
				  const struct vf_value *value);
