/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sections whose keys are files of the kernel with a meaning. Each row names the file and its
 * content for each word of the key; a further key is one more row.
 */
#pragma once

#include "kinds/attr.h"
#include "profile/rules.h"
#include "sections/sections.h"

struct section; /* of profile/section.h */

enum { TUNING_WORDS = 6 };

struct tuning;

/* Emits the changes of a key that is more than one value in one file. */
typedef void tuning_emit(const struct section_ctx *ctx, const struct tuning *t, const char *id,
			 const struct ynode *value, struct plan *plan);

/* The item of a field. */
struct tuning {
	struct attr_item attr;
	const char *file;		  /* a path, or a pattern for several files */
	const char *values[TUNING_WORDS]; /* by index of a word or boolean; empty: the text */
	const char *other_file;		  /* used where the kernel has this file and lacks `file` */
	const char *other_values[2];	  /* content of other_file, by index of a boolean */
	int64_t unit;			  /* divides a number for the file; 0: the text as is */
	const char *arg;		  /* the kernel argument for the same setting; or NULL */
	const char *arg_values[TUNING_WORDS]; /* as values; empty: the words themselves */
	tuning_emit *emit;		      /* NULL: one change, of the file */
};

#define TUNING(key, of, help, ...) KEY(key, of, help, .item = &(const struct tuning){__VA_ARGS__})

/* The governing keys, the last keys of a section. */
#define TUNING_GOVERNS(keys) GOVERNING_KEYS_OF("section", "kernel", keys)

/* section.emit and section.files of these sections. */
void tunings_emit(const struct section_ctx *ctx, const struct ynode *node, struct plan *plan);
void tunings_files(const struct section *section, struct strv *ret);
/* Adds one change, for a tuning_emit: the file gets desired. id: "cpu/governor". */
struct change *tuning_add(const struct section_ctx *ctx, const struct tuning *t, const char *id,
			  const struct ynode *value, const char *file, const char *desired,
			  struct plan *plan);
/*
 * Rule: raw lines of sysctl and sysfs, and kernel arguments, must not contradict the section's
 * keys.
 */
void tunings_are_said_once(struct ruling *r, const char *section);
