/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a block device lies on, as sysfs tells (Documentation/ABI/stable/sysfs-block,
 * Documentation/ABI/testing/sysfs-block-dm): partitions, md, device-mapper. Reads below the
 * root only, never a device.
 */
#pragma once

#include <sys/types.h>

#include "base/vec.h"
#include "sys/root.h"

/*
 * The names of the whole disks ("sda") below a block device, through partitions, md, LVM
 * and the like; appends to *ret, each once.
 */
void disks_below(const struct root *root, dev_t dev, struct strv *ret);

/*
 * What stands between GRUB's save_env and the disk: "the RAID array /dev/md0", "the LVM
 * volume vg-boot". save_env writes to disks and their partitions as firmware shows them, never
 * through a mapping of its own ("diskfilter writes are not supported"). Multipath is none: each
 * path is a plain disk to firmware. NULL: nothing, or sysfs does not know the device (an
 * anonymous one, as those of btrfs subvolumes are). Caller frees.
 */
char *stack_unwritable(const struct root *root, dev_t dev);
