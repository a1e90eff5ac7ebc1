/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of libmount: library.h. */
#pragma once

#include <libmount/libmount.h>

#include "sys/library.h"

/* clang-format off */
#define LIBMOUNT_FUNCTIONS(X) \
	X(mnt_free_iter) \
	X(mnt_fs_get_devno) \
	X(mnt_fs_get_fstype) \
	X(mnt_fs_get_options) \
	X(mnt_fs_get_root) \
	X(mnt_fs_get_source) \
	X(mnt_fs_get_target) \
	X(mnt_fs_is_netfs) \
	X(mnt_fs_is_pseudofs) \
	X(mnt_fs_match_options) \
	X(mnt_fs_match_source) \
	X(mnt_new_cache) \
	X(mnt_new_iter) \
	X(mnt_new_table) \
	X(mnt_optstr_get_option) \
	X(mnt_table_find_target) \
	X(mnt_table_next_fs) \
	X(mnt_table_parse_stream) \
	X(mnt_unref_cache) \
	X(mnt_unref_table)
/* clang-format on */

struct libmount {
	LIBMOUNT_FUNCTIONS(LIBRARY_SLOT)
};

const struct libmount *libmount_get(struct err *err);
