/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether an IOMMU serves a PCI function: only then has the function an IOMMU group
 * (Documentation/ABI/testing/sysfs-kernel-iommu_groups).
 */
#pragma once

#include "kinds/kind.h"

/*
 * The number of its group. NULL: there is none, and *ret_why says which of hardware, firmware and
 * command line decided so. The caller frees both.
 */
char *iommu_group_of(const struct kind_ctx *ctx, const char *addr, char **ret_why);
