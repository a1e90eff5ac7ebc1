/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads an initramfs: concatenated cpio archives (newc). The first archives are plain, such as
 * microcode; the last is mostly compressed
 * (Documentation/driver-api/early-userspace/buffer-format.rst).
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "sys/root.h"

/*
 * Whether the name of a file in the initramfs contains the word. -ELIBACC: compressed, and
 * libarchive is missing; -EBADMSG: unreadable.
 */
int initramfs_has(const struct root *root, const char *path, const char *word, bool *ret,
		  struct err *err);
