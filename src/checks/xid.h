/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Xids: the error codes that NVIDIA's driver writes into the kernel's log. By NVIDIA's "Xid Errors"
 * document and its catalog, an application causes many Xids, and other Xids need no action: neither
 * sort is a fault of the node.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "base/str.h"
#include "base/units.h"

enum { XID_MAX = 511 };

/*
 * Finds the faults of the GPU at addr, "0000:3b:00.0", in the log. Appends each kind of fault once,
 * with its count and remedy, separated by "; ". Faults before the driver reports that nothing is
 * left to recover (Xid 154 "to 0x0 (None)", after a reset) don't count. Returns the number of
 * kinds; *ret_harmless: the number of lines with other Xids; *ret_gravest: the kind that needs the
 * largest repair. fatal: the Xids that are faults; NULL: those of the catalog. The lines of
 * NVLink's Xids (144 to 150) tell by themselves whether they are harmless.
 */
size_t xid_faults(const char *log, const char *addr, const struct cpus *fatal, struct str *ret,
		  size_t *ret_harmless, enum fault *ret_gravest);
/* Whether an Xid is a fault by the catalog, or absent from the catalog. */
bool xid_is_fatal(int number);
