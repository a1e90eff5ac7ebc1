/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where profiles lie and how their files are named. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "sys/root.h"

/*
 * Below the root; the first file of a name wins; NULL ends it. Drop-ins lie in NAME.d below
 * the first: they are the site's, not the vendor's.
 */
extern const char *const profile_dirs[];

bool profile_name_is_valid(const char *name);
/* "x.yaml", no dot file. */
bool profile_is_file_name(const char *name);
/* "/a/b.yaml" -> "b". Caller frees. */
char *profile_stem(const char *path);

/*
 * Finds NAME in the search path, for `--profile NAME`. *ret is a path that profile_load()
 * takes, with the root's own path before it; the caller frees it. -ENOENT if there is none.
 */
int profile_find(const struct root *root, const char *name, char **ret, struct err *err);
