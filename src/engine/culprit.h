/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who else sets what the profile sets, where the node's own files say so. */
#pragma once

#include "plan/change.h"
#include "sys/root.h"

/*
 * Of a change that differs: "/etc/sysctl.d/99-x.conf:3 gives it that value",
 * "systemd-networkd manages enp24s0 by /etc/systemd/network/10-x.network", "tuned runs, with
 * profile throughput-performance". NULL: nothing is known. The caller frees.
 */
char *culprit_of(const struct root *root, const struct change *c);
