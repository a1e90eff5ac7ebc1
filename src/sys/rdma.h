/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RDMA subsystem: whether its devices are seen in all network namespaces (shared, the
 * default) or belong to one (exclusive). drivers/infiniband/core/nldev.c and device.c,
 * rdma_compatdev_set(): refused with EBUSY while there is a second network namespace.
 */
#pragma once

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Asks apart. ib_core must be live: opening the socket would not wait for it. */
int rdma_netns_shared(bool *ret, struct err *err);

enum { RDMA_MESSAGE_MAX = 64 };

/* Each fills buf (RDMA_MESSAGE_MAX, aligned as struct nlmsghdr) and returns it. */
struct nlmsghdr *rdma_netns_question(void *buf);
struct nlmsghdr *rdma_netns_message(void *buf, bool shared);
/* -EBADMSG if the answer does not say. */
int rdma_parse_netns(const void *data, size_t len, bool *ret_shared, struct err *err);
