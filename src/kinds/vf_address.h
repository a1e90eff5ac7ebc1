/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a PF sets for one of its VFs, by kind netlink: on.name is the PF's address, on.vf which VF,
 * and each setting is a part of the change, a message of its own. Two ways lead there: rtnetlink on
 * the PF's netdev (of InfiniBand: its IPoIB netdev), and for GUIDs and the link state of InfiniBand
 * the files that the vendor's own driver package (OFED) puts below the PF.
 */
#pragma once

#include "kinds/cache.h"
#include "kinds/target.h"
#include "sys/vfinfo.h"

enum vf_how {
	VF_MAC,	 /* VALUE_OCTETS, or a word: derived (base/vf_address.h) */
	VF_GUID, /* the same; node and port have one */
	VF_NUMBER,
	VF_SWITCH,
	VF_WORD, /* the kernel's number is that of the word */
};

/* A part's item. */
struct vf_setting {
	enum vf_how how;
	uint16_t attr; /* IFLA_VF_* */
	bool second;   /* of its two numbers */
	unsigned int
		scale; /* so many of the profile's base units are one of the kernel's; 0: one */
};

/* Rows of section sriov: what an item is. */
#define VF_SETTING(by, of, ...) \
	(&(const struct vf_setting){.how = (by), .attr = (of), ##__VA_ARGS__})

extern const struct target_item vf_address;
/* --- between vf_address.c, vf_state.c, vf_send.c and vf_ask.c
 * ----------------------------------------- */

/* Of a part: what is wanted and what there is, in the kernel's units. */
struct vf_state {
	uint64_t want;
	bool told;	     /* by the driver; else it can't be set either */
	uint64_t have, port; /* port: the second GUID */
};

struct vf {
	const struct kind_ctx *ctx;
	const struct change *c;
	const char *pf;
	char *addr;		    /* of the VF */
	char *driver;		    /* of the PF; "none" */
	bool ofed;		    /* its files serve what they can */
	unsigned int ifindex;	    /* of the PF's netdev; 0: nothing goes by netlink */
	const struct vf_info *info; /* what netlink says; NULL: it is not asked */
	struct vf_state *state;	    /* of each part */
};

bool vf_differs(const struct vf *vf, size_t part);
bool vf_by_file(const struct vf *vf, const struct vf_setting *setting);
/* "26:94:00:1b:2c:3d", "on", "10000"; the caller frees. */
char *vf_text(const struct part *part, uint64_t number);
/* The error of what a driver lacks; returns -EOPNOTSUPP. */
int vf_not_offered(const struct vf *vf, const struct part *part, struct err *err);
/* By the number of the link state: the words of OFED's policy file (its mlx5's sriov_sysfs.c). */
enum { VF_POLICIES = 3 };
extern const char *const vf_policy[VF_POLICIES];

/* Asks the PF; apart: from the engine's own process. -ENODEV: it has no netdev. */
int vf_ask(const struct root *root, const char *pf, bool apart, struct pf_info *ret,
	   struct err *err);
/* The same, apart, once for each PF until that is forgotten: a struct pf_info. */
const struct cached *vf_cached(const struct root *root, const char *pf);
/* -ENODEV, as it is put for who wants GUIDs. */
int vf_no_ipoib(const char *pf, struct err *err);

/*
 * Sends what differs. What a driver does not offer keeps nothing else from being sent where
 * the profile lets it be skipped (c->optional); it is the result then.
 */
int vf_send(const struct vf *vf, struct err *err);
