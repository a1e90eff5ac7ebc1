/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data Center Bridging of a function's netdev, by kind netlink: on.name is the function's address,
 * on.item a dcb_item, on.key what the profile calls it. Values are what the kernel's structures
 * hold: percent, metres, bytes.
 */
#pragma once

#include "base/str.h"
#include "kinds/function.h"
#include "kinds/target.h"
#include "sys/dcb.h"

/* Of all traffic: in one way or both, and whether both ends settle that. False where nobody says.
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

/* A driver offers each of these or not, and refuses it in its own way. */
enum dcb_group { DCB_MODE, DCB_DSCP, DCB_ROCE, DCB_PFC, DCB_ETS, DCB_BUFFER };

struct dcb_item {
	struct target_item sort;
	enum dcb_group group;
	bool excludes_pause; /* unless no value is wanted */
	/* Puts the values of c into info, over what is there. */
	void (*make)(struct dcb_info *info, const struct change *c);
	/* What there is of what c names. It holds if that reads as after make(). */
	void (*show)(const struct dcb_port *port, const struct change *c, struct str *ret);
	/* Sends what differs. */
	int (*send)(const struct dcb_port *port, const struct change *c, struct err *err);
};

int dcb_look(const struct kind_ctx *ctx, struct change *c, struct err *err);
int dcb_set(const struct kind_ctx *ctx, struct change *c, struct err *err);
char *dcb_desired(const struct change *c);
#define DCB_SORT                                                                                \
	{                                                                                       \
		.kind = &kind_netlink, .look = dcb_look, .set = dcb_set, .desired = dcb_desired \
	}

/* No value is wanted: nobody but the host decides. */
extern const struct dcb_item dcb_dcbx;
/* dcb_app.c. A word of dcb_trust_words; the priority of RoCE, of UDP to its port; and parts: a
 * priority by each DSCP. */
extern const struct dcb_item dcb_trust, dcb_roce_priority, dcb_dscp_map;
/* dcb_class.c. Lossless priorities, a part each by its index, which exclude global pause; a cable's
 * length in metres. */
extern const struct dcb_item dcb_pfc, dcb_cable_length;
/* Parts, each of one of the tables below it. */
extern const struct dcb_item dcb_ets, dcb_buffers;

/* Some entries of one structure, each a part whose item this is. */
struct dcb_table {
	void (*make)(struct dcb_info *info, const struct part *part);
	void (*show)(const struct dcb_info *info, const struct part *part, struct str *ret);
};
/* By priority its class; by class a word of dcb_scheduling_words, a share in percent: those that
 * are named are all there are. */
extern const struct dcb_table dcb_ets_priorities, dcb_ets_scheduling, dcb_ets_bandwidth;
/* By buffer its size in bytes, which the adapter may round down by a cell; by priority its buffer.
 */
extern const struct dcb_table dcb_buffer_sizes, dcb_buffer_priorities;

/* The words of a profile; NULL-ended, a value's number is an index. */
enum { DCB_TRUST_DSCP, DCB_TRUST_PCP };
extern const char *const dcb_trust_words[];
enum { DCB_SCHEDULING_ETS };
extern const char *const dcb_scheduling_words[];

/* Whether the daemon runs that may have a word of its own, on any port: "absent" is wanted. */
extern const struct target_item dcb_lldpad;
