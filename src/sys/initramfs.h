/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is in an initramfs: cpio archives (newc) one behind the other, the first ones plain, as
 * those of microcode are, the last one mostly packed (Documentation/driver-api/early-userspace/
 * buffer-format.rst). Read only.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "sys/root.h"

/*
 * Whether the name of a file in it holds that word. -ELIBACC: it is packed, and there is no
 * libarchive to unpack it; -EBADMSG: it can't be read.
 */
int initramfs_has(const struct root *root, const char *path, const char *word, bool *ret,
		  struct err *err);
