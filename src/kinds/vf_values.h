/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What can be said of a VF by its PF, as text: one form for each value, whether it comes from a
 * profile, from netlink or from a file. Parts of vf_address.c.
 */
#pragma once

#include "base/vf_address.h"
#include "kinds/heard.h"
#include "kinds/kind.h"
#include "sys/vfinfo.h"

/* In the order in which they are set: some drivers want an address before they check it. */
enum vf_item {
	VF_MAC,
	VF_GUID,
	VF_VLAN,
	VF_MIN_RATE,
	VF_MAX_RATE,
	VF_SPOOF_CHECK,
	VF_TRUST,
	VF_LINK_STATE,
	VF_ITEMS
};
enum { VF_LINK_STATES = 3 };

extern const char *const vf_key[VF_ITEMS]; /* the profile's keys */
extern const char *const vf_link_state[VF_LINK_STATES];
/* The same, as OFED's policy file has it (its mlx5 driver's sriov_sysfs.c). */
extern const char *const vf_policy[VF_LINK_STATES];

struct vf {
	char *pf;
	unsigned int index;
	char *addr;   /* of the VF */
	char *driver; /* of the PF; "none" */
	bool ofed;    /* GUIDs and policy go through files */
};

/* "PF/INDEX"; -ENOENT while there is no such VF. */
int vf_find(const struct root *root, const char *text, struct vf *ret, struct err *err);
void vf_free(struct vf *vf);
/* OFED's files serve GUIDs and the link state of InfiniBand, nothing else. */
bool vf_by_file(const struct vf *vf, enum vf_item i);
/* The error of what a driver lacks; returns -EOPNOTSUPP. */
int vf_not_offered(const struct vf *vf, enum vf_item i, struct err *err);

/* A value of each key; "": not asked for, or not told. */
struct vf_values {
	char of[VF_ITEMS][2 * GUID_TEXT];
};

/* A change's desired text. */
int values_parse(const char *desired, struct vf_values *ret, struct err *err);
bool values_need_netlink(const struct vf *vf, const struct vf_values *wanted);
/* "derived" becomes an address. pf: may be empty if netlink is not needed. */
int values_resolve(const struct root *root, const struct vf *vf, const struct pf_info *pf,
		   struct vf_values *wanted, struct err *err);
/* What netlink told. */
void values_of(const struct pf_info *pf, const struct vf_info *info, struct vf_values *ret);
/* What OFED's files say, over what is there. */
int values_of_files(const struct root *root, const struct vf *vf, struct vf_values *ret,
		    struct err *err);
bool values_differ(const struct vf_values *wanted, const struct vf_values *have, enum vf_item i);
/* "mac 02:... trust on" of what is wanted, with the values of have; the caller frees it. */
char *values_describe(const struct vf_values *wanted, const struct vf_values *have);

/* Asks the PF; apart: from the engine's own process. -ENODEV: it has no netdev. */
int vf_ask(const struct root *root, const char *pf, bool apart, struct pf_info *ret,
	   struct err *err);
/* The same, apart, once for each PF until that is forgotten: a struct pf_info. */
const struct heard *vf_hear(const struct root *root, const char *pf);
/* -ENODEV, as it is put for who wants GUIDs. */
int vf_no_ipoib(const char *pf, struct err *err);

/*
 * Sends what differs. What a driver does not offer keeps nothing else from being sent where
 * the profile lets it be skipped (c->optional); it is the result then.
 */
int vf_send(const struct kind_ctx *ctx, const struct change *c, const struct vf *vf,
	    unsigned int ifindex, const struct vf_values *wanted, const struct vf_values *have,
	    struct err *err);
