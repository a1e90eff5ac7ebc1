/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of link.c: what is wanted of a netdev and what it has, as text, one form for each. */
#pragma once

#include "kinds/kind.h"
#include "sys/port.h"

enum link_how { LINK_ETHTOOL, LINK_MTU, LINK_QUEUE, LINK_UP, LINK_FILE };

struct link_what {
	const char *name; /* the profile's key */
	enum link_how how;
	enum eth_group group; /* of LINK_ETHTOOL */
	enum port_file file;  /* of LINK_FILE */
};

enum { LINK_TEXT = PORT_TEXT };

struct link_pair {
	char name[32];
	char value[LINK_TEXT];
};

/* A change's target and desired text. */
struct link_wish {
	char *addr;
	char *driver; /* of the function; "none" */
	const struct link_what *what;
	struct link_pair *v;
	size_t n;
	size_t cap;
};
int link_wish_parse(const struct root *root, const char *arg, const char *desired,
		    struct link_wish *ret, struct err *err);
void link_wish_free(struct link_wish *wish);
#define cleanup_wish __attribute__((__cleanup__(link_wish_free)))

/*
 * What the netdev has of it. -EOPNOTSUPP with a sentence: the driver or the kernel does not offer
 * it, or not to be changed.
 */
int link_have(const struct link_wish *wish, const struct link_pair *pair, const struct port *port,
	      char ret[LINK_TEXT], struct err *err);
/* Of a number that has one, the device's maximum; else 0. */
uint32_t link_max(const struct link_wish *wish, const struct link_pair *pair,
		  const struct port *port);

/* The settings that a pair of a group is; appends to ret. What is so already is left out. */
struct eth_settings {
	struct eth_setting *v;
	size_t n;
	size_t cap;
};
void link_settings(const struct link_wish *wish, const struct link_pair *pair,
		   const struct port *port, struct eth_settings *ret);

/* link_send.c: sends what differs on one netdev; as vf_send() of vf_values.h. */
int link_send(const struct kind_ctx *ctx, const struct change *c, const struct link_wish *wish,
	      const struct port *port, struct err *err);

/* link.c: asks, apart or not, after one netdev or (0) all of the function. */
int link_ask(const struct root *root, const char *addr, unsigned int ifindex, bool apart,
	     struct ports *ret, struct err *err);
