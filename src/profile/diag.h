/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every problem of a profile, with its place. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "profile/place.h"

struct diag {
	struct place at; /* file is a copy, as its owner may be freed first */
	char *key;	 /* "sriov.rails.vfs", or "" for the file */
	char *text;	 /* "problem; remedy" */
	const char
		*code; /* the sort of problem, for programs: "unknown-key", or the name of a rule */
	bool warning;
};

struct diags {
	VEC(struct diag) list;
	size_t errors;	  /* number of entries that are not warnings */
	const char *code; /* static: the code of entries added from now on; NULL: "invalid" */
};

void diag_error(struct diags *d, struct place at, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void diag_warn(struct diags *d, struct place at, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Adds a copy of an entry of another list. */
void diag_copy(struct diags *d, const struct diag *of);
/*
 * Sorts by file, line and column, with the entries of file `first` in front. Removes duplicates:
 * two ways can lead to the same mistake.
 */
void diags_sort(struct diags *d, const char *first);
/* The remedy: the part of the text after its last "; ". NULL: the text has no remedy. */
const char *diag_remedy(const struct diag *d);
/* "file:line:col: [warning: ]key.path: text", always one line; the caller frees. */
char *diag_format(const struct diag *d);
void diags_free(struct diags *d);
