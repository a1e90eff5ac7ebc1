/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A merged profile as a list: one line for each key and each list item, identified by its path. */
#pragma once

#include "profile/profile.h"

struct profile_line {
	char *path;		   /* "link.rails.rings.rx", "kernel_args.set[1]" */
	const struct ynode *key;   /* NULL: an item of a list */
	const struct ynode *value; /* both point into the profile */
};

struct profile_lines {
	VEC(struct profile_line) list; /* in document order; a map precedes its keys */
};

/* All lines except extends, which is merged in. p must outlive the lines. */
void profile_lines_of(const struct profile *p, struct profile_lines *ret);
void profile_lines_free(struct profile_lines *lines);

/* NULL: the profile has no such path. */
const struct profile_line *profile_lines_find(const struct profile_lines *lines, const char *path);
/*
 * The line that a change came from, by its origin `at`; NULL: none. In block style a map and its
 * first key have the same place; then the key is returned if the change's id ends with the key's
 * name.
 */
const struct profile_line *profile_lines_at(const struct profile_lines *lines, struct place at,
					    const char *id);
/* Whether a path equals top or is below top. */
bool profile_path_is_below(const char *path, const char *top);
