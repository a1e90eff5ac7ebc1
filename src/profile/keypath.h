/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The position of a walk down a tree, for messages: "sriov.rails.vf[2].driver". */
#pragma once

#include <string.h>

#include "base/str.h"

/* Each returns the former length, for keypath_back(). */
static inline size_t keypath_key(struct str *path, const char *key)
{
	size_t was = path->len;

	str_add(path, was ? "." : "");
	str_addn(path, key, strnlen(key, 80));
	return was;
}

static inline size_t keypath_index(struct str *path, size_t index)
{
	size_t was = path->len;

	str_addf(path, "[%zu]", index);
	return was;
}

static inline void keypath_back(struct str *path, size_t was)
{
	path->len = was;
	if (path->s)
		path->s[was] = '\0';
}

/* "vfs" of "sriov.SET.vfs"; points into path. */
static inline const char *keypath_last(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot ? dot + 1 : path;
}
