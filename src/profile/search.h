/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where profiles lie and how their files are named. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"
#include "sys/root.h"

/*
 * Below the root; the first file of a name wins; NULL ends it. Drop-ins lie in NAME.d below
 * the first: they are the site's, not the vendor's.
 */
extern const char *const profile_dirs[];

/*
 * As systemd's files: a link to /dev/null masks the file of that name in the directories that come
 * later. A tree may have no /dev.
 */
bool file_is_masked(const struct root *root, const char *path);

bool profile_name_is_valid(const char *name);
/* "x.yaml", no dot file. */
bool profile_is_file_name(const char *name);
/* "/a/b.yaml" -> "b". Caller frees. */
char *profile_stem(const char *path);

/* A file of the search path, and whether it counts. */
struct profile_file {
	char *name;
	char *path;	     /* below the root */
	bool masked;	     /* a link to /dev/null: there is no profile of that name */
	char *overridden_by; /* the file of that name that comes before it, or NULL */
};

struct profile_files {
	VEC(struct profile_file) list; /* by name, those of one name in search order */
};

/* All files of the search path. Fails where a directory that is there can't be read. */
int profile_files_list(const struct root *root, struct profile_files *ret, struct err *err);
void profile_files_free(struct profile_files *f);
/* Whether any directory of the search path is there below root. */
bool profile_dirs_exist(const struct root *root);

/* Whether --profile's argument is a name: no '/' in it and no ".yaml" at its end. */
bool profile_is_name(const char *arg);

/*
 * Finds NAME in the search path. *ret is a path below the root; the caller frees it.
 * -ENOENT if there is none or it is masked, -EINVAL if that can't be a name.
 */
int profile_find(const struct root *root, const char *name, char **ret, struct err *err);
