/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All that is to be known of a function's netdevs, by one question apart: rtnetlink, ethtool
 * and files whose reading takes rtnl (net/core/net-sysfs.c).
 */
#pragma once

#include <net/if.h>

#include "sys/ethtool.h"
#include "sys/netlink.h"
#include "sys/root.h"
#include "sys/vfinfo.h"

enum port_file { PORT_GRO_FLUSH_TIMEOUT, PORT_DEFER_HARD_IRQS, PORT_THREADED, PORT_FILES };
enum { PORT_TEXT = 24 };

/* Their names below /sys/class/net/NAME. */
extern const char *const port_file[PORT_FILES];

struct port {
	unsigned int ifindex;
	char name[IFNAMSIZ];
	bool up; /* administratively */
	uint32_t mtu, tx_queue_len;
	uint32_t min_mtu, max_mtu;	  /* 0: not told */
	char file[PORT_FILES][PORT_TEXT]; /* "": this kernel has none such */
	/* 0, or what the kernel said; -EOPNOTSUPP: the driver or the kernel has no such thing */
	int result[ETH_GROUPS];
	struct eth_number number[ETH_ITEMS];
	struct eth_flags features, private_flags;
};
struct ports {
	struct port *v;
	size_t n;
	size_t cap;
};

void ports_free(struct ports *ports);
#define cleanup_ports __attribute__((__cleanup__(ports_free)))

struct port_question {
	const struct root *root; /* of the files */
	struct ifindexes netdevs;
};
/*
 * "pf0vf1", "c1pf0sf88": net/core/devlink.c, devlink_port_phys_port_name_get(). A function's own
 * port is "p0", or nothing.
 */
bool port_is_representor(const char *phys_port_name);

/* A netlink_question; arg: const struct port_question *. */
int ports_question(const void *arg, struct netlink_answer *ret, struct err *err);
/*
 * What it answered, whatever that is: -EBADMSG if it is not so. Representors of VFs and SFs,
 * which a PF in switchdev mode has beside its own netdev, are left out.
 */
int ports_parse(const void *data, size_t len, struct ports *ret, struct err *err);
