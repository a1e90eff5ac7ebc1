/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What several kinds ask about a PCI function, and about what its driver made of it. */
#pragma once

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sys/root.h"

/* 0, or -ENODEV with a sentence: the bus has no such function any more. */
int function_gone(const struct root *root, const char *addr, struct err *err);
/*
 * The same for a function whose driver has just failed with r: how a device that is pulled
 * out or whose link fails begins to go. If r may mean that, its going is awaited for a
 * second. Else, or if it stays, 0 and *err is left alone.
 */
int function_going(const struct root *root, const char *addr, int r, struct err *err);

/* The address of a VF, the caller frees it; -ENOENT while it does not exist. */
int function_vf(const struct root *root, const char *pf, int vf, char **ret, struct err *err);
/* The same of vf -1: the PF itself, whether there or not. */
int function_or_vf(const struct root *root, const char *pf, int vf, char **ret, struct err *err);
/* How many VFs it has, by their links. */
int function_count_vfs(const struct root *root, const char *pf, unsigned int *ret, struct err *err);

/* Its netdevs in this network namespace, by ifindex: the oldest first, which in switchdev mode is
 * the uplink, whose number stays, before the representors. A virtio function's are one level
 * deeper, and are found too. */
struct netdev {
	char name[IFNAMSIZ];
	unsigned int ifindex;
};
struct netdevs {
	struct netdev *v;
	size_t n;
	size_t cap;
};
/* -ENODEV: it has none (here, or yet). The caller frees ret->v. */
int function_netdevs(const struct root *root, const char *addr, struct netdevs *ret,
		     struct err *err);
/* The first of them. */
int function_netdev(const struct root *root, const char *addr, struct netdev *ret, struct err *err);

/* Whether its driver made netdevs ("net") or RDMA devices ("infiniband") of it. */
bool function_has(const struct root *root, const char *addr, const char *class);
/* The first of its RDMA devices, which the caller frees; NULL: it has none (here, or yet). */
char *function_ibdev(const struct root *root, const char *addr);
/* Whether it has a netdev here, and udev has done with all it has: its database knows them. */
bool function_named(const struct root *root, const char *addr);
/*
 * Waits for that until the deadline (clock_usec()): what is set of a netdev before, udev may set
 * otherwise, and one that is up can't be renamed by it any more. -ETIMEDOUT with a sentence.
 */
int function_wait_named(const struct root *root, const char *addr, uint64_t deadline,
			struct err *err);
