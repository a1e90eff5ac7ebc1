/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The devices below a block device, from sysfs (Documentation/ABI/stable/sysfs-block,
 * Documentation/ABI/testing/sysfs-block-dm): partitions, md, device-mapper. Reads below the root
 * only, never a device.
 */
#pragma once

#include <sys/types.h>

#include "base/vec.h"
#include "sys/root.h"

/*
 * Appends the names of the whole disks ("sda") below a block device, through partitions, md, LVM
 * and similar layers, to *ret, each once.
 */
void disks_below(const struct root *root, dev_t dev, struct strv *ret);

/*
 * The layer between GRUB's save_env and the disk: "the RAID array /dev/md0", "the LVM volume
 * vg-boot". save_env writes to disks and their partitions as firmware shows them, never through a
 * mapping of GRUB's own ("diskfilter writes are not supported"). Multipath does not count, because
 * firmware shows each path as a plain disk. NULL: there is no such layer, or sysfs does not know
 * the device (an anonymous device, as for btrfs subvolumes). Caller frees.
 */
char *stack_unwritable(const struct root *root, dev_t dev);
