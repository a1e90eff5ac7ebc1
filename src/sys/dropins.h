/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration that programs read from several directories. */
#pragma once

#include <stddef.h>

#include "base/vec.h"
#include "sys/root.h"

/*
 * The files that match pattern, a shell pattern, in any of the directories, sorted by name. A file
 * hides those of its name in later directories. What can't be read is left out. Appends to *ret.
 */
void dropins_find(const struct root *root, const char *const *dirs, size_t n, const char *pattern,
		  struct strv *ret);
