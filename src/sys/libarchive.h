/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of libarchive: library.h. */
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include "sys/library.h"

/* clang-format off */
#define LIBARCHIVE_FUNCTIONS(X)            \
	X(archive_error_string)            \
	X(archive_read_new)                \
	X(archive_read_free)               \
	X(archive_read_open_filename)      \
	X(archive_read_open_fd)            \
	X(archive_read_support_format_cpio) \
	X(archive_read_support_format_tar) \
	X(archive_read_support_filter_gzip)  \
	X(archive_read_support_filter_bzip2) \
	X(archive_read_support_filter_xz)    \
	X(archive_read_support_filter_zstd)  \
	X(archive_read_support_filter_lz4)   \
	X(archive_read_next_header)        \
	X(archive_read_data)               \
	X(archive_write_new)               \
	X(archive_write_free)              \
	X(archive_write_close)             \
	X(archive_write_set_format_pax_restricted) \
	X(archive_write_open_fd)           \
	X(archive_write_header)            \
	X(archive_write_data)              \
	X(archive_entry_new)               \
	X(archive_entry_free)              \
	X(archive_entry_pathname)          \
	X(archive_entry_filetype)          \
	X(archive_entry_symlink)           \
	X(archive_entry_hardlink)          \
	X(archive_entry_set_pathname)      \
	X(archive_entry_set_filetype)      \
	X(archive_entry_set_perm)          \
	X(archive_entry_set_size)          \
	X(archive_entry_set_symlink)
/* clang-format on */

struct libarchive {
	LIBARCHIVE_FUNCTIONS(LIBRARY_SLOT)
};

const struct libarchive *libarchive_get(struct err *err);
