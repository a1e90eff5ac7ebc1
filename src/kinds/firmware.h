/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The firmware settings that an adapter needs for SR-IOV, and the commands that change them. */
#pragma once

#include "kinds/kind.h"

/*
 * Sets the error of a PF that cannot have as many VFs: its firmware settings, and the commands that
 * change them. possible: sriov_totalvfs, 0 if the PF has none. wanted: "max" or a number. Returns
 * -EOPNOTSUPP if possible is 0, else -ERANGE.
 */
int firmware_lacks_vfs(const struct kind_ctx *ctx, const char *pf, const char *wanted,
		       unsigned int possible, struct err *err);
