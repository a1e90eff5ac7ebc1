/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Targets "link:ADDR/WHAT" of kind netlink: a setting of the function's own netdevs, not of
 * representors. WHAT is a key of the profile's section link. Desired of private_flags, channels,
 * rings, coalesce, pause and features are pairs "rx 8192 tx 8192", switches being on or off; of the
 * rest one value: mtu in bytes, tx_queue_len in packets, gro_flush_timeout in nanoseconds,
 * napi_defer_hard_irqs, threaded_napi 0 or 1, up: up or down.
 *
 * A value holds only if it reads back as it was written: a driver that rounds (mlx5 makes a power
 * of two of a ring) fails the change with the number that it would keep.
 */
#pragma once

#include "kinds/kind.h"

int look_link(const struct kind_ctx *ctx, struct change *c, const char *arg, struct err *err);
int set_link(const struct kind_ctx *ctx, struct change *c, const char *arg, struct err *err);
/* See struct kind. */
void forget_link(const struct change *c);
