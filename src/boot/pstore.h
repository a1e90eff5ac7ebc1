/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the kernel left a record of a panic (Documentation/admin-guide/pstore-blk.rst,
 * ramoops.rst; fs/pstore/platform.c): in /sys/fs/pstore, or below /var/lib/systemd/pstore, where
 * systemd-pstore.service moves it. A record's mtime is the time of the panic, and systemd-pstore
 * keeps it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sys/root.h"

/*
 * True: a record of a panic is newer than since, in seconds since 1970 (0: unknown, and no record
 * counts). A record of an oops does not count. False also without pstore, with a backend that has
 * kept nothing or is loaded later, and for records that can't be read.
 */
bool pstore_has_panic(const struct root *root, int64_t since);
