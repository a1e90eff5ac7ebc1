/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Access Control Services of the bridges above a PCI function, from config space through
 * libpci. The kernel puts two functions into one IOMMU group when a bridge on the way to
 * the root does not keep their traffic apart (drivers/iommu/iommu.c, REQ_ACS_FLAGS).
 */
#pragma once

#include "base/err.h"
#include "sys/root.h"

/*
 * The first root or downstream port above addr that lacks source validation, request
 * redirect, completion redirect or upstream forwarding: a sentence that names it and says
 * whether it is the hardware or its configuration; the caller frees it. NULL: none does.
 * -EACCES: config space beyond the first 64 bytes can only be read by root.
 */
int acs_blame(const struct root *root, const char *addr, char **ret, struct err *err);
