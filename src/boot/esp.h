/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The EFI system partition that this machine boots from, found without fstab: the one that
 * the boot loader names (LoaderDevicePartUUID, https://systemd.io/BOOT_LOADER_INTERFACE),
 * or the only ESP, else the only XBOOTLDR partition, of the disks that hold a given file
 * system. A partition of another disk is never taken: it may be an installer's stick.
 */
#pragma once

#include <sys/types.h>

#include "base/err.h"
#include "base/vec.h"
#include "sys/root.h"

/*
 * "/dev/sda1", which the caller frees; -ENOENT if there is none, -ENOTUNIQ if it can't be
 * told which one, with the remedy.
 */
int esp_find(const struct root *root, dev_t fs, char **ret, struct err *err);

/* The directories of EFI on such a partition, opened at top, in order. */
void esp_vendors(int top, struct strv *ret);

/*
 * The block device that fstab's first field names (LABEL=, UUID=, PARTLABEL=, PARTUUID= or
 * a path): by udev's links, else by a scan. NULL if there is none now. Caller frees.
 */
char *device_of(const char *source);
