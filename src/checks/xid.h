/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Xids: what NVIDIA's driver writes into the kernel's log of what went wrong with a GPU. By
 * NVIDIA's "Xid Errors" document and its catalog, many are an application's own doing, or need
 * nothing done: those are no fault of the node.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "base/str.h"
#include "base/units.h"

enum { XID_MAX = 511 };

/*
 * What the log says of the GPU at addr, "0000:3b:00.0". Appends each kind of fault once, with
 * how often it was seen and what to do, separated by "; ". Those before the driver says that
 * nothing is left to recover (Xid 154 "to 0x0 (None)", after a reset) don't count. Returns how
 * many kinds; *ret_harmless: how many lines of other Xids there are; *ret_gravest: of the kinds,
 * the one
 * that takes most to mend. fatal: the Xids that are faults; NULL: those of the catalog. NVLink's
 * (144 to 150) say by themselves which of them are not.
 */
size_t xid_faults(const char *log, const char *addr, const struct cpus *fatal, struct str *ret,
		  size_t *ret_harmless, enum fault *ret_gravest);
/* Whether an Xid is a fault by the catalog, or not known to it. */
bool xid_is_fatal(int number);
