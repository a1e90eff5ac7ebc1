/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of kind netlink: Data Center Bridging of a PF's netdev. Targets: see netlink.h. */
#pragma once

#include "base/str.h"
#include "kinds/function.h"
#include "sys/dcb.h"

/* Of all traffic: in one way or both, and whether both ends settle that. False where nobody says.
 */
struct dcb_pause {
	bool on, negotiated;
};

struct dcb_port {
	const struct root *root;
	const char *addr, *driver; /* driver: "" unknown */
	struct netdev dev;
	const struct dcb_info *info;
	struct dcb_pause pause;
};

/* What one key of the profile is about. */
struct dcb_key {
	const char *name; /* "pfc" */
	const char *what; /* "priority flow control" */
	bool pause;	  /* it is judged together with global pause */
	bool (*offered)(const struct dcb_info *info);
	/* What there is of what desired names, in the same words. */
	void (*show)(const struct dcb_port *port, const char *desired, struct str *ret);
	/* Sends what differs. */
	int (*send)(const struct dcb_port *port, const char *desired, struct err *err);
};

extern const struct dcb_key dcb_trust, dcb_dscp_map, dcb_roce;	      /* dcb_app.c */
extern const struct dcb_key dcb_pfc, dcb_cable, dcb_ets, dcb_buffers; /* dcb_class.c */

/*
 * Words of a desired text, one after the other: "sizes 0:131072 1:262144 priorities 3:1" is
 * {sizes, 0, 131072}, {sizes, 1, 262144}, {priorities, 3, 1}. False at the end.
 */
struct dcb_pair {
	const char *section; /* the word itself, up to a space; "" before the first */
	unsigned int key;
	const char *value; /* up to a space */
	unsigned long number;
};
bool dcb_next(const char **at, struct dcb_pair *pair);
bool dcb_in(const struct dcb_pair *pair, const char *section);
