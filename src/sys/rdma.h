/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RDMA subsystem: whether all network namespaces see its devices (shared, the default) or each
 * device belongs to one namespace (exclusive). drivers/infiniband/core/nldev.c and device.c,
 * rdma_compatdev_set(): rejects a change with EBUSY while a second network namespace exists.
 */
#pragma once

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/*
 * Asks in a child. ib_core must be live, because opening the socket does not wait for the module.
 */
int rdma_netns_shared(bool *ret, struct err *err);

enum { RDMA_MESSAGE_MAX = 64 };

/* Each function fills buf (RDMA_MESSAGE_MAX, aligned as struct nlmsghdr) and returns buf. */
struct nlmsghdr *rdma_netns_question(void *buf);
struct nlmsghdr *rdma_netns_message(void *buf, bool shared);
/* -EBADMSG if the answer lacks the mode. */
int rdma_parse_netns(const void *data, size_t len, bool *ret_shared, struct err *err);
