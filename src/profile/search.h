/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The search path of profiles, and the names of their files. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"
#include "profile/diag.h"
#include "sys/root.h"

/*
 * Below the root, in search order; the first file of a name wins; NULL-terminated. Drop-ins are in
 * NAME.d below the first directory alone, because they belong to the site and not to the vendor.
 */
extern const char *const profile_dirs[];

/*
 * As with systemd's files, a link to /dev/null masks the file of the same name in later
 * directories. The link counts even if the tree has no /dev.
 */
bool file_is_masked(const struct root *root, const char *path);

bool profile_name_is_valid(const char *name);
/* "x.yaml", and not a hidden file. */
bool profile_is_file_name(const char *name);
/* "/a/b.yaml" -> "b". The caller frees. */
char *profile_stem(const char *path);

/* A file of the search path, and whether it is in effect. */
struct profile_file {
	char *name;
	char *path;	     /* below the root */
	bool masked;	     /* a link to /dev/null: no profile has this name */
	char *overridden_by; /* the file of the same name earlier in the search path, or NULL */
};

struct profile_files {
	VEC(struct profile_file) list; /* sorted by name, then in search order */
};

/*
 * Lists all files of the search path. Fails if an existing directory cannot be read; -EPERM if a
 * user other than root decides what is in it (trust_of_reads()).
 */
int profile_files_list(const struct root *root, struct profile_files *ret, struct err *err);
void profile_files_free(struct profile_files *f);
/*
 * Adds an error for each file of the search path and of railhead.conf.d that looks like
 * configuration and that no boot reads: of a NAME.d without a profile NAME, or with another ending.
 * Hidden files and backups (x~) do not count.
 */
void profile_files_unread(const struct root *root, struct diags *ret);
/* Whether at least one directory of the search path exists below root. */
bool profile_dirs_exist(const struct root *root);

/* Whether --profile's argument is a name: without '/' and without ".yaml" at its end. */
bool profile_is_name(const char *arg);

/*
 * Finds NAME in the search path. *ret is a path below the root; the caller frees it. -ENOENT: no
 * such profile, or it is masked; -EINVAL: not a valid name; -EPERM as above.
 */
int profile_find(const struct root *root, const char *name, char **ret, struct err *err);
