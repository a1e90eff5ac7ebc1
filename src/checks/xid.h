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
#include "sys/kernel_log.h"

enum { XID_MAX = 511 };

#define XID_BEGIN "NVRM: Xid (" /* the beginning of the driver's records */

struct xids {
	size_t faults;		/* kinds of faults */
	size_t harmless;	/* records with other Xids */
	enum fault gravest;	/* the kind that needs the largest repair */
	uint64_t first_fault;	/* the number of the first record with a fault; UINT64_MAX: none */
	const char *unreadable; /* a record of this GPU in an unknown form, or NULL; the log's */
	struct str text; /* each kind of fault once, with count and remedy; separated by "; " */
};

/*
 * Finds the faults of the GPU at addr, "0000:3b:00.0". Faults before the driver reports that
 * nothing is left to recover (Xid 154 "... to 0x0 (None)", after a reset) don't count. fatal: the
 * Xids that are faults; NULL: those of the catalog. The records of NVLink's Xids (144 to 150) tell
 * by themselves whether they are harmless. The caller frees ret->text.
 */
void xid_find(const struct kernel_log *log, const char *addr, const struct cpus *fatal,
	      struct xids *ret);
/* Whether an Xid is a fault by the catalog, or absent from the catalog. */
bool xid_is_fatal(int number);
