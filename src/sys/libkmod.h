/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of libkmod: library.h. */
#pragma once

#include <libkmod.h>

#include "sys/library.h"

/* clang-format off */
#define LIBKMOD_FUNCTIONS(X) \
	X(kmod_list_next) \
	X(kmod_module_get_info) \
	X(kmod_module_get_initstate) \
	X(kmod_module_get_module) \
	X(kmod_module_info_free_list) \
	X(kmod_module_info_get_key) \
	X(kmod_module_info_get_value) \
	X(kmod_module_new_from_lookup) \
	X(kmod_module_probe_insert_module) \
	X(kmod_module_unref) \
	X(kmod_module_unref_list) \
	X(kmod_new) \
	X(kmod_unref)
/* clang-format on */

struct libkmod {
	LIBKMOD_FUNCTIONS(LIBRARY_SLOT)
};

const struct libkmod *libkmod_get(struct err *err);
