/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The whole disks of a PCI function, by their place in sysfs: namespaces of NVMe, disks of virtio,
 * and all disks that a SCSI or ATA controller has found. Optical drives are left out.
 *
 * With NVMe multipath (drivers/nvme/host/multipath.c) a namespace is a head, nvme0n1, which belongs
 * to no function, above a hidden disk for each path, nvme0c1n1, which belongs to a function. The
 * path has the queue; the head has the read-ahead, because file systems read through the head. A
 * drive with two ports has one head for both functions.
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"
#include "sys/root.h"

struct disk {
	char *name;	     /* "nvme0n1", "nvme0c1n1", "vda" */
	char *head;	     /* the disk that is mounted: the same, or the head of that path */
	const char *carries; /* "/": the mount point of the running system that lies on the disk; or
				NULL */
};

struct disks {
	struct disk *v; /* by name */
	size_t n;
	size_t cap;
	/*
	 * A sentence if the disks that carry the running system are unknown: any disk of v may then
	 * be one of them. Or NULL.
	 */
	char *unknown;
};

/* Finds all disks of the function, which may have none (yet). Never fails. */
void disks_of(const struct root *root, const char *addr, struct disks *ret);
void disks_free(struct disks *disks);
#define cleanup_disks __attribute__((__cleanup__(disks_free)))
