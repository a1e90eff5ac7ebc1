/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Xids: what NVIDIA's driver writes into the kernel's log of what went wrong with a GPU. By
 * NVIDIA's "Xid Errors" document and its catalog, many are an application's own doing, or need
 * nothing done: those are no fault of the node.
 */
#pragma once

#include <stddef.h>

#include "base/fault.h"
#include "base/str.h"

/*
 * What the log says of the GPU at addr, "0000:3b:00.0". Appends each kind of fault once, with
 * how often it was seen and what to do, separated by "; ". Those before the driver says that
 * nothing is left to recover (Xid 154 "to 0x0 (None)", after a reset) don't count. Returns how
 * many kinds; *ret_harmless: how many lines of other Xids there are; *ret_gravest: of the kinds,
 * the one
 * that takes most to mend.
 */
size_t xid_faults(const char *log, const char *addr, struct str *ret, size_t *ret_harmless,
		  enum fault *ret_gravest);
