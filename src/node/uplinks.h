/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The way out of a machine, which is how one logs in. */
#pragma once

#include <stdbool.h>

#include "base/vec.h"
#include "sys/root.h"

/*
 * Names of the netdevs that carry a default route, of IPv4 or IPv6, and of those that they stand
 * on; each once, the first of them first. Of a snapshot those that it has recorded. False: none is
 * known, and *ret stays empty.
 */
bool node_uplinks(const struct root *root, struct strv *ret);
