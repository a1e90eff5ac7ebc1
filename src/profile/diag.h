/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is wrong with a profile: all of it, not the first thing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "profile/place.h"

struct diag {
	struct place at; /* its file is a copy: the tree it was in may be gone */
	char *key;	 /* "sriov.rails.vfs", or "" for the file */
	char *text;	 /* what is wrong; what would be right */
	const char
		*code; /* what sort of mistake it is, for programs: "unknown-key", a rule's name */
	bool warning;
};

struct diags {
	VEC(struct diag) list;
	size_t errors;	  /* how many are no warnings */
	const char *code; /* static: of what is added from now on; NULL: "invalid" */
};

void diag_error(struct diags *d, struct place at, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void diag_warn(struct diags *d, struct place at, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Adds what another list has. */
void diag_copy(struct diags *d, const struct diag *of);
/*
 * By file, line and column: what is about the file `first` before all others, each once. One
 * mistake that two ways led to is told once.
 */
void diags_sort(struct diags *d, const char *first);
/* The part of the text that says what would be right: behind its last "; ". NULL: none does. */
const char *diag_remedy(const struct diag *d);
/* "file:line:col: [warning: ]key.path: text", always one line; caller frees. */
char *diag_format(const struct diag *d);
void diags_free(struct diags *d);
