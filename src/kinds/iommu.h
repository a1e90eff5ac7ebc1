/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether an IOMMU serves a PCI function: only then does the function have an IOMMU group
 * (Documentation/ABI/testing/sysfs-kernel-iommu_groups).
 */
#pragma once

#include "kinds/kind.h"

/*
 * The number of the function's IOMMU group. NULL: there is none, and *ret_why names the cause:
 * hardware, firmware or command line. The caller frees both.
 */
char *iommu_group_of(const struct kind_ctx *ctx, const char *addr, char **ret_why);
