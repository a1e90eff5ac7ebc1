/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings of a function's own netdevs, not of representors, by kind netlink: on.name is the
 * function's address, on.item a link_item, and the values are parts of the change.
 *
 * A value holds only if it reads back as written: a driver that rounds (mlx5 rounds rings to a
 * power of two) fails the change, which names the number that the driver would keep.
 */
#pragma once

#include "kinds/kind.h"
#include "kinds/target.h"
#include "sys/ethtool.h"

enum link_how {
	LINK_ETHTOOL, /* a group: a part's item is an eth_item, or NULL in a group of flags */
	LINK_ATTR,    /* a u32 of rtnetlink, no boolean */
	LINK_UP,      /* administratively */
	LINK_FILE,    /* a number, 0 or 1 for a boolean */
	LINK_QUEUES,  /* a file of each queue: queues.c */
};

struct link_item {
	struct target_item sort;
	enum link_how how;
	enum eth_group group;	       /* of LINK_ETHTOOL */
	uint16_t attr, max;	       /* of LINK_ATTR: IFLA_MTU, and IFLA_MAX_MTU or 0 */
	const char *file;	       /* shows the value, below the netdev's directory; or NULL */
	const char *queues, *of_queue; /* of LINK_QUEUES: "rx", "rps_cpus" */
	bool in_turn; /* the CPUs are spread over the queues; false: each queue has all of them */
	unsigned int scale; /* the kernel's units in one unit of the profile; 0: one */
};

int link_look(const struct kind_ctx *ctx, struct change *c, struct err *err);
int link_set(const struct kind_ctx *ctx, struct change *c, struct err *err);

/*
 * queues.c: the value of one part, in each queue of that direction: CPUs as in near_cpus.h
 * (on.node: the CPUs that the profile isolates), the word none for no CPU, or a number.
 */
int queues_look(const struct kind_ctx *ctx, struct change *c, struct err *err);
int queues_set(const struct kind_ctx *ctx, struct change *c, struct err *err);
char *queues_desired(const struct change *c);

/* Items for the rows of section link. */
#define LINK(by, ...)                                                 \
	(&(const struct link_item){.sort = {.kind = &kind_netlink,    \
					    .look = link_look,        \
					    .set = link_set,          \
					    .desired = link_desired}, \
				   .how = (by),                       \
				   __VA_ARGS__})
#define LINK_QUEUE(direction, file_of_it, ...)                          \
	(&(const struct link_item){.sort = {.kind = &kind_netlink,      \
					    .look = queues_look,        \
					    .set = queues_set,          \
					    .desired = queues_desired}, \
				   .how = LINK_QUEUES,                  \
				   .queues = (direction),               \
				   .of_queue = (file_of_it),            \
				   __VA_ARGS__})
#define LINK_NUMBER(of, number, most) \
	(&(const struct eth_item){.group = (of), .attr = (number), .max = (most)})
#define LINK_SWITCH(of, number) \
	(&(const struct eth_item){.group = (of), .attr = (number), .is_switch = true})

/*
 * The wanted values of c's parts, as the kernel's tools show them: "rx 8192 tx 8192". Caller frees.
 */
char *link_desired(const struct change *c);
