/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of libblkid: library.h. */
#pragma once

#include <blkid/blkid.h>

#include "sys/library.h"

/* clang-format off */
#define LIBBLKID_FUNCTIONS(X) \
	X(blkid_do_safeprobe) \
	X(blkid_evaluate_spec) \
	X(blkid_free_probe) \
	X(blkid_get_cache) \
	X(blkid_new_probe_from_filename) \
	X(blkid_partition_get_partno) \
	X(blkid_partition_get_type) \
	X(blkid_partition_get_type_string) \
	X(blkid_partlist_get_partition) \
	X(blkid_partlist_numof_partitions) \
	X(blkid_probe_enable_partitions) \
	X(blkid_probe_enable_superblocks) \
	X(blkid_probe_get_partitions) \
	X(blkid_probe_lookup_value) \
	X(blkid_probe_set_superblocks_flags) \
	X(blkid_put_cache)
/* clang-format on */

struct libblkid {
	LIBBLKID_FUNCTIONS(LIBRARY_SLOT)
};

const struct libblkid *libblkid_get(struct err *err);
