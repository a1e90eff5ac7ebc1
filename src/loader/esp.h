/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The EFI system partition that this machine boots from, found without fstab: the partition that
 * the boot loader names (LoaderDevicePartUUID, https://systemd.io/BOOT_LOADER_INTERFACE), or the
 * only ESP, else the only XBOOTLDR partition, of the disks that hold a given file system.
 * Partitions of other disks are never used, because the disk may be an installer's stick.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/vec.h"
#include "sys/root.h"

/*
 * "/dev/sda1"; the caller frees it. -ENOENT if there is no such partition, -ENOTUNIQ if several
 * qualify; both with the remedy.
 */
int esp_find(const struct root *root, dev_t fs, char **ret, struct err *err);

/*
 * Whether a file system's partition has the type of an extended boot loader partition (XBOOTLDR).
 * Such a partition can be VFAT as well, and systemd mounts it at /boot, and the ESP at /efi
 * (https://uapi-group.org/specifications/specs/boot_loader_specification). False if the type can't
 * be read.
 */
bool esp_is_xbootldr(const struct root *root, dev_t fs);

/*
 * The names of the directories below EFI on an EFI system partition, whose root is open as top;
 * sorted.
 */
void esp_vendors(int top, struct strv *ret);

/*
 * The block device that fstab's first field names (LABEL=, UUID=, PARTLABEL=, PARTUUID= or a path),
 * looked up by udev's links, else by a scan. NULL if it does not exist now. Caller frees.
 */
char *device_of(const char *source);
