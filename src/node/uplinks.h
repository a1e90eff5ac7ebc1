/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The netdevs that a login over the network depends on. */
#pragma once

#include <stdbool.h>

#include "base/vec.h"
#include "sys/root.h"

/*
 * Names of the netdevs that carry a default route, of IPv4 or IPv6, and of the netdevs below them;
 * each name once, in the order found. For a snapshot, the names that it recorded. False: no such
 * netdev is known; *ret stays empty.
 */
bool node_uplinks(const struct root *root, struct strv *ret);
