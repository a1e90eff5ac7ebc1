/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All settings of a function's netdevs, by one question in a child: rtnetlink, ethtool, and files
 * whose reading takes rtnl (net/core/net-sysfs.c).
 */
#pragma once

#include <net/if.h>

#include "sys/ethtool.h"
#include "sys/netlink.h"
#include "sys/root.h"
#include "sys/vfinfo.h"

/* A message of the kernel. */
struct port_answer {
	void *data; /* owned; NULL: none */
	size_t len;
};

struct port {
	unsigned int ifindex;
	char name[IFNAMSIZ];
	bool up;		 /* administratively */
	struct port_answer link; /* RTM_NEWLINK */
	struct strv files;	 /* "threaded=0": requested files that exist */
	/* 0, or the kernel's error; -EOPNOTSUPP: the driver or the kernel lacks the group */
	int result[ETH_GROUPS];
	struct port_answer answer[ETH_GROUPS]; /* of the groups with numbers */
	struct eth_flags features, private_flags;
};
struct ports {
	struct port *v;
	size_t n;
	size_t cap;
};

void ports_free(struct ports *ports);
#define cleanup_ports __attribute__((__cleanup__(ports_free)))

/* A u32 of rtnetlink, such as IFLA_MTU; false: this kernel does not report the attribute. */
bool port_attr(const struct port *port, uint16_t type, uint32_t *ret);
/* The text of a file; NULL: no such file. */
const char *port_file(const struct port *port, const char *name);
/* The value of an item; `there` is false if the driver does not report the item. */
struct eth_number port_number(const struct port *port, const struct eth_item *item);

struct port_question {
	const struct root *root;  /* root of the files */
	const struct strv *files; /* below /sys/class/net/NAME; contain numbers */
	struct ifindexes netdevs;
};
/*
 * Whether the name is a representor's: "pf0vf1", "c1pf0sf88": net/core/devlink.c,
 * devlink_port_phys_port_name_get(). A function's own port is "p0" or has no name.
 */
bool port_is_representor(const char *phys_port_name);

/* A netlink_question; arg: const struct port_question *. */
int ports_question(const void *arg, struct netlink_answer *ret, struct err *err);
/*
 * Parses the answer, with any content: -EBADMSG if malformed. Leaves out representors of VFs and
 * SFs, which a PF in switchdev mode has in addition to its own netdev.
 */
int ports_parse(const void *data, size_t len, struct ports *ret, struct err *err);
