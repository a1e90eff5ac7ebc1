/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds configuration files that programs read from several directories. */
#pragma once

#include <stddef.h>

#include "base/vec.h"
#include "sys/root.h"

/*
 * Files in any of the directories that match the shell pattern, sorted by name. A file hides files
 * with the same name in later directories. Directories that cannot be read are left out. Appends to
 * *ret.
 */
void dropins_find(const struct root *root, const char *const *dirs, size_t n, const char *pattern,
		  struct strv *ret);
