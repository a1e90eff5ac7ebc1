/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings that a PF makes for one of its VFs, by kind netlink: on.name is the PF's address, on.vf
 * the index of the VF. Each setting is a part of the change, and a separate message. There are two
 * ways: rtnetlink on the PF's netdev (for InfiniBand, its IPoIB netdev); and, for GUIDs and the
 * link state of InfiniBand, the files that the vendor's own driver package (OFED) puts below the
 * PF.
 */
#pragma once

#include "kinds/cache.h"
#include "kinds/target.h"
#include "sys/vfinfo.h"

struct part; /* of plan/change.h */

enum vf_how {
	VF_MAC,	 /* VALUE_ID, or a word: derived (base/vf_address.h) */
	VF_GUID, /* the same; node and port get one GUID */
	VF_NUMBER,
	VF_SWITCH,
	VF_WORD, /* the kernel's number is the number of the word */
};

/* A part's item. */
struct vf_setting {
	enum vf_how how;
	uint16_t attr;	    /* IFLA_VF_* */
	bool second;	    /* the second of the attribute's two numbers */
	unsigned int scale; /* base units of the profile in one unit of the kernel; 0: one */
};

/* Items for the rows of section sriov. */
#define VF_SETTING(by, of, ...) \
	(&(const struct vf_setting){.how = (by), .attr = (of), ##__VA_ARGS__})

extern const struct target_item vf_address;
/* --- between vf_address.c, vf_state.c, vf_send.c and vf_ask.c
 * ----------------------------------------- */

/* The wanted and the present value of a part, in the kernel's units. */
struct vf_state {
	uint64_t want;
	bool told;	     /* the driver reports the value; otherwise it cannot be set either */
	uint64_t have, port; /* port: the second GUID */
};

struct vf {
	const struct kind_ctx *ctx;
	const struct change *c;
	const char *pf;
	char *addr;		    /* of the VF */
	char *driver;		    /* of the PF; "none" */
	bool ofed;		    /* OFED's files are used for the settings that they have */
	unsigned int ifindex;	    /* of the PF's netdev; 0: netlink is not needed */
	const struct vf_info *info; /* the answer of netlink; NULL: not asked */
	struct vf_state *state;	    /* of each part */
};

bool vf_differs(const struct vf *vf, size_t part);
bool vf_by_file(const struct vf *vf, const struct vf_setting *setting);
/* "26:94:00:1b:2c:3d", "on", "10000"; the caller frees. */
char *vf_text(const struct part *part, uint64_t number);
/* Sets the error for a setting that the driver lacks; returns -EOPNOTSUPP. */
int vf_not_offered(const struct vf *vf, const struct part *part, struct err *err);
/* By the number of the link state: the words of OFED's policy file (its mlx5's sriov_sysfs.c). */
enum { VF_POLICIES = 3 };
extern const char *const vf_policy[VF_POLICIES];

/* Asks the PF. apart: for the engine's own process. -ENODEV: the PF has no netdev. */
int vf_ask(const struct root *root, const char *pf, bool apart, struct pf_info *ret,
	   struct err *err);
/* The same, apart, once for each PF until the answer is forgotten: a struct pf_info. */
const struct cached *vf_cached(const struct root *root, const char *pf);
/* -ENODEV, in the words for a change that sets GUIDs. */
int vf_no_ipoib(const char *pf, struct err *err);

/*
 * Sends the settings that differ. Where the profile lets a setting be skipped (c->optional), the
 * other settings are sent even if the driver does not offer it; its error is then the result.
 */
int vf_send(const struct vf *vf, struct err *err);
