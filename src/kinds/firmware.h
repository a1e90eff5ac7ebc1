/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an adapter's firmware must have for SR-IOV, and how it is changed. */
#pragma once

#include "kinds/kind.h"

/*
 * The error of a PF that can't have as many VFs: what its firmware keeps, and the commands that
 * change it. possible: sriov_totalvfs, 0 if there is none. wanted: "max" or a number. Returns
 * -EOPNOTSUPP if none is possible, else -ERANGE.
 */
int firmware_lacks_vfs(const struct kind_ctx *ctx, const char *pf, const char *wanted,
		       unsigned int possible, struct err *err);
