/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to this room: how other programs' files name the target of a change (writers.h). */
#pragma once

#include "kargs/kargs.h"

struct change; /* of plan/change.h */

/* The target of a change, as such files name it. */
struct subject {
	char *file;	    /* of procfs or sysfs, or a pattern; or NULL */
	const char *module; /* or NULL */
	const char *param;  /* of module; NULL: the module itself */
	const char *limit;  /* "memlock"; or NULL */
	struct kargs args;  /* kernel arguments whose keys matter */
};

struct subject subject_of(const struct change *c);
void subject_free(struct subject *s);

enum { WRITER_DIRS_MAX = 4 };

/* Files in one format. */
struct writer_source {
	const char *dirs[WRITER_DIRS_MAX], *pattern; /* as dropins_find() takes them */
	/*
	 * Whether a line, without surrounding blanks, sets the subject. Cuts up the line. *value,
	 * the value that the line gives, points into the line, and stays NULL if it is not known.
	 */
	bool (*read)(const struct subject *s, char *line, const char **value);
	const char *only; /* only lines with this prefix; NULL: all */
};

/* Later lines overrule earlier lines. The last row has no reader. */
extern const struct writer_source writer_sources[];
/* tuned's profiles; the caller finds the files. */
extern const struct writer_source tuned_source;
