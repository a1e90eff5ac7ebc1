/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions of several kinds about a PCI function and the devices that its driver made of it. */
#pragma once

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sys/root.h"

/* 0, or -ENODEV with a sentence: the function is no longer on the bus. */
int function_gone(const struct root *root, const char *addr, struct err *err);
/*
 * The same for a function whose driver has just failed with r, which is how a device that is pulled
 * out or loses its link begins to go. If r may mean this, waits up to a second for the function to
 * go. Otherwise, or if the function stays, returns 0 and leaves *err alone.
 */
int function_going(const struct root *root, const char *addr, int r, struct err *err);

/* The address of a VF, which the caller frees; -ENOENT while the VF does not exist. */
int function_vf(const struct root *root, const char *pf, int vf, char **ret, struct err *err);
/* The same, and for vf -1 the PF itself, whether present or not. */
int function_or_vf(const struct root *root, const char *pf, int vf, char **ret, struct err *err);
/* The number of VFs of a PF, by their links. */
int function_count_vfs(const struct root *root, const char *pf, unsigned int *ret, struct err *err);

/*
 * The netdevs of a function in this network namespace, by ifindex, the oldest first: in switchdev
 * mode the uplink, which keeps its number, before the representors. The netdevs of a virtio
 * function are one level deeper, and are found too.
 */
struct netdev {
	char name[IFNAMSIZ];
	unsigned int ifindex;
};
struct netdevs {
	struct netdev *v;
	size_t n;
	size_t cap;
};
/* -ENODEV: the function has no netdev (here, or yet). The caller frees ret->v. */
int function_netdevs(const struct root *root, const char *addr, struct netdevs *ret,
		     struct err *err);
/* The first netdev. */
int function_netdev(const struct root *root, const char *addr, struct netdev *ret, struct err *err);

/* The driver that is bound to a function, or NULL. The caller frees. */
char *function_driver(const struct root *root, const char *addr);
/* Whether the function's driver made netdevs ("net") or RDMA devices ("infiniband") of it. */
bool function_has(const struct root *root, const char *addr, const char *class);
/*
 * Whether the driver made devices of that class, and none of them is in this network namespace: a
 * container has them.
 */
bool function_gave_away(const struct root *root, const char *addr, const char *class);
/* The first RDMA device of the function, which the caller frees; NULL: none (here, or yet). */
char *function_ibdev(const struct root *root, const char *addr);
/*
 * Whether the function has a netdev here and udev is done with all its netdevs, so that udev's
 * database knows them.
 */
bool function_named(const struct root *root, const char *addr);
/*
 * Waits for function_named() until the deadline (clock_usec()): udev may override earlier settings
 * of a netdev, and cannot rename a netdev that is up. -ETIMEDOUT with a sentence.
 */
int function_wait_named(const struct root *root, const char *addr, uint64_t deadline,
			struct err *err);
