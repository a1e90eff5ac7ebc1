/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sections of which a key is a file of the kernel with a meaning: a row says which file, and what
 * each word of the key is there. Another key is one row.
 */
#pragma once

#include "kinds/attr.h"
#include "profile/rules.h"
#include "sections/sections.h"

enum { TUNING_WORDS = 6 };

struct tuning;

/* The changes of a key that is no single value of a file. */
typedef void tuning_emit(const struct section_ctx *ctx, const struct tuning *t, const char *id,
			 const struct ynode *value, struct plan *plan);

/* The item of a row. */
struct tuning {
	struct attr_item attr;
	const char *file;		  /* a path, or a pattern of several files */
	const char *values[TUNING_WORDS]; /* by the number of a word or boolean; none: the text */
	const char *other_file;		  /* in its place where the kernel has this one alone */
	const char *other_values[2];	  /* of that, by the number of a boolean */
	int64_t unit;			  /* a number is divided by it for the file; 0: is not */
	const char *arg;		  /* the kernel argument that sets the same; or NULL */
	const char *arg_values[TUNING_WORDS]; /* as values; none: the words themselves */
	tuning_emit *emit;		      /* NULL: one change, the value in the file */
};

#define TUNING(key, of, help, ...) KEY(key, of, help, .item = &(const struct tuning){__VA_ARGS__})

/* The keys behind them: TUNING_GOVERNS(optional) with TUNING_OPTIONAL(optional, "thp", "ksm"). */
#define TUNING_OPTIONAL(table, ...) OPTIONAL_KEYS_OF("section", table, __VA_ARGS__)
#define TUNING_GOVERNS(table) GOVERNING_KEYS_OF("section", "kernel", table)

/* The changes of all keys that a profile gives in a section of that name. */
void tuning_emit_all(const struct section_ctx *ctx, const char *section, const struct ynode *node,
		     struct plan *plan);
/* One of them, for a tuning_emit: the file gets the value. id: "cpu/governor". */
struct change *tuning_add(const struct section_ctx *ctx, const struct tuning *t, const char *id,
			  const struct ynode *value, const char *file, const char *desired,
			  struct plan *plan);
/* Adds their files, for snapshots. */
void tuning_files(const char *section, struct strv *ret);
/* Contradictions of a section's keys: raw lines of sysctl and sysfs, and kernel arguments. */
void tunings_are_said_once(struct ruling *r, const char *section);
