/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside this room: how files of others name what a change sets (writers.h). */
#pragma once

#include "boot/kargs.h"
#include "plan/change.h"

/* What a change sets, as such files name it. */
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

/* Files of one sort. */
struct writer_source {
	const char *dirs[WRITER_DIRS_MAX], *pattern; /* as dropins_find() takes them */
	/*
	 * Whether a line, without blanks around, sets the subject. Cuts up the line; *value, what
	 * the line gives, is a part of the line, and stays NULL where that is not known.
	 */
	bool (*read)(const struct subject *s, char *line, const char **value);
	const char *only; /* lines that begin so; NULL: all */
};

/* What is read later overrules what is read before. Ended by a row without a reader. */
extern const struct writer_source writer_sources[];
/* Of tuned's profiles; the files are found by others. */
extern const struct writer_source tuned_source;
