/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The whole disks of a PCI function, by where sysfs has them: namespaces of NVMe, disks of virtio,
 * and all that a SCSI or ATA controller has found. Optical drives are none.
 *
 * With NVMe multipath (drivers/nvme/host/multipath.c) a namespace is a head, nvme0n1, which is no
 * function's, above a hidden disk for each path, nvme0c1n1, which is. The path has the queue, the
 * head has what file systems read through: its read-ahead. The head of a drive with two ports is
 * that of both functions.
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"
#include "sys/root.h"

struct disk {
	char *name;	     /* "nvme0n1", "nvme0c1n1", "vda" */
	char *head;	     /* what is mounted: the same, or the head of that path */
	const char *carries; /* "/": the mount of the running system that lies on it; or NULL */
};

struct disks {
	struct disk *v; /* by name */
	size_t n;
	size_t cap;
	/*
	 * A sentence where the disks that carry the running system are not known: then none of v
	 * is known not to. Or NULL.
	 */
	char *unknown;
};

/* All disks of the function; none: it has none (yet). Never fails. */
void disks_of(const struct root *root, const char *addr, struct disks *ret);
void disks_free(struct disks *disks);
#define cleanup_disks __attribute__((__cleanup__(disks_free)))
