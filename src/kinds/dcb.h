/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data Center Bridging of a function's netdev, by kind netlink: on.name is the function's address,
 * on.item a dcb_item, on.key the key of the profile. Values have the units of the kernel's
 * structures: percent, metres, bytes.
 */
#pragma once

#include "base/str.h"
#include "kinds/function.h"
#include "kinds/refusal.h"
#include "kinds/target.h"
#include "sys/dcb.h"

struct part; /* of plan/change.h */

/*
 * Pause frames for all traffic: on in at least one direction, and whether both ends negotiate them.
 * False where the driver does not report a value.
 */
struct dcb_pause {
	bool on, negotiated;
};

struct dcb_port {
	const char *addr;
	char *driver; /* "": unknown; owned */
	struct netdev dev;
	const struct dcb_info *info;
	struct dcb_pause pause;
};

struct dcb_item {
	struct target_item sort;
	enum dcb_group group;
	bool excludes_pause; /* unless the change has no parts */
	/* Puts the values of c into info, over the present values. */
	void (*make)(struct dcb_info *info, const struct change *c);
	/*
	 * Renders the present values that c names. The change holds if the text equals the text
	 * after make().
	 */
	void (*show)(const struct dcb_port *port, const struct change *c, struct str *ret);
	/* Sends the values that differ. */
	int (*send)(const struct dcb_port *port, const struct change *c, struct err *err);
};

int dcb_look(const struct kind_ctx *ctx, struct change *c, struct err *err);
int dcb_set(const struct kind_ctx *ctx, struct change *c, struct err *err);
char *dcb_desired(const struct change *c);
#define DCB_SORT                                                                                \
	{                                                                                       \
		.kind = &kind_netlink, .look = dcb_look, .set = dcb_set, .desired = dcb_desired \
	}

/* No wanted value: only the host must decide over DCB. */
extern const struct dcb_item dcb_dcbx;
/*
 * dcb_app.c. dcb_trust: a word of dcb_trust_words. dcb_roce_priority: the priority of RoCE, which
 * is UDP to its port. dcb_dscp_map: parts, a priority for each DSCP.
 */
extern const struct dcb_item dcb_trust, dcb_roce_priority, dcb_dscp_map;
/*
 * dcb_class.c. dcb_pfc: the lossless priorities, a part each by its index, which exclude global
 * pause. dcb_cable_length: the length of the cable in metres.
 */
extern const struct dcb_item dcb_pfc, dcb_cable_length;
/* Parts, each an entry of one of the tables below. */
extern const struct dcb_item dcb_ets, dcb_buffers;

/* Entries of one structure; each entry is a part with this table as its item. */
struct dcb_table {
	void (*make)(struct dcb_info *info, const struct part *part);
	void (*show)(const struct dcb_info *info, const struct part *part, struct str *ret);
};
/*
 * dcb_ets_priorities: the class of each priority. dcb_ets_scheduling: a word of
 * dcb_scheduling_words for each class. dcb_ets_bandwidth: a share in percent for each class; once a
 * share is named, all other classes have none.
 */
extern const struct dcb_table dcb_ets_priorities, dcb_ets_scheduling, dcb_ets_bandwidth;
/*
 * dcb_buffer_sizes: the size of each buffer in bytes, which the adapter may round down by a cell.
 * dcb_buffer_priorities: the buffer of each priority.
 */
extern const struct dcb_table dcb_buffer_sizes, dcb_buffer_priorities;

/* The words of a profile, NULL-ended; the number of a value is an index. */
enum { DCB_TRUST_DSCP, DCB_TRUST_PCP };
extern const char *const dcb_trust_words[];
enum { DCB_SCHEDULING_ETS };
extern const char *const dcb_scheduling_words[];

/*
 * Whether lldpad runs, a daemon that may override these settings on any port; "absent" is wanted.
 */
extern const struct target_item dcb_lldpad;
