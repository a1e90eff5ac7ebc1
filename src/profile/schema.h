/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The schema: what a profile may hold, as constant tables (language.c, sections/) that schema.c
 * walks. To add a key, add a row to a table; what a value must look like is a `scalar_check`
 * (value.c). What relates several values to each other is a rule (rules.h). The JSON Schema
 * that editors load, and what `explain` prints (rows.h), are other readings of the same tables.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "profile/diag.h"
#include "profile/yaml.h"

struct spec;

/*
 * Whether a scalar is what spec wants: then n->value gets its meaning, where the text alone is not
 * that. If not, *why gets "what is wrong; what is right".
 */
typedef bool scalar_check(const struct spec *spec, struct ynode *n, struct str *why);

enum spec_kind {
	SPEC_SCALAR,
	SPEC_LIST,
	SPEC_MAP,    /* known keys */
	SPEC_MAP_OF, /* any key of one sort, each with the same kind of value */
	SPEC_EITHER, /* by what stands there: scalar, list or map */
};

/* What makes two items of a list the same: they may not be in it twice, and `key+:` replaces. */
enum item_identity {
	ITEM_NONE,
	ITEM_TEXT, /* the whole scalar */
	ITEM_NAME, /* a scalar, or the name: of a map; '-' and '_' are the same */
	ITEM_ARG,  /* a kernel argument: the text before '='; '-' and '_' are the same */
};

enum field_flags {
	FIELD_REQUIRED = 1 << 0, /* in the resolved profile: a base may give it */
	FIELD_OWN = 1 << 1,	 /* in each document of its own, never from a base */
	FIELD_NO_DROPIN = 1 << 2,
	FIELD_NOT_INHERITED = 1 << 3,
};

/* The part that a key plays in a profile. */
enum key_class {
	KEY_INHERITS, /* that of the key or section above */
	KEY_SETS,     /* a setting that apply makes so, and verify looks at */
	KEY_JUDGES,   /* a fact that is checked, and never set */
	KEY_SELECTS,  /* the machines or devices that others are about */
	KEY_GOVERNS,  /* how railhead goes about it: times, consequences, names */
};

#define KERNEL(major, minor) ((major) << 8 | (minor))

struct field {
	const char *name; /* NULL ends the table */
	const struct spec *spec;
	const char *help; /* a sentence for `explain` and editors; says the default */
	unsigned int flags;
	enum key_class class;
	unsigned int since; /* KERNEL(5, 12): the first Linux that has it; 0: all do */
	const void *item;   /* of its section's own type: what that knows of the key; or NULL */
};

struct spec {
	enum spec_kind kind;
	const char *what; /* "a page size such as 2M": fits into "expected ..., not a list" */
	/* SPEC_SCALAR */
	scalar_check *check;
	const char *const *words; /* what check accepts besides, or alone; NULL-ended */
	const char *const
		*meanings;   /* pairs of a word and what it does, in any order; NULL-ended */
	const char *meaning; /* of each word that has none of its own; or NULL */
	int64_t min, max;    /* in the unit that the check counts in; max 0: no range */
	const char *unit;    /* of a number that is written without one: "packets"; or NULL */
	/* For editors; check may be stricter. NULL: the check's own, see json_schema.c. */
	const char *pattern;
	/* SPEC_LIST, SPEC_MAP_OF */
	const struct spec *item;
	const struct spec *key; /* SPEC_MAP_OF: what its keys must be; a scalar's spec */
	const char *any;	/* SPEC_MAP_OF: what stands for a key in texts, such as SET */
	enum item_identity identity;
	/* SPEC_MAP */
	const struct field *fields;
	/* SPEC_EITHER; NULL: that kind is not taken */
	const struct spec *scalar, *list, *map;
};

enum schema_doc { SCHEMA_PROFILE, SCHEMA_DROPIN, SCHEMA_SITE };

/* What a profile may hold: the keys of the document, then the sections. */
const struct spec *schema_profile(void);
extern const struct spec schema_site; /* of railhead.conf */

/*
 * Checks one document as it was written: `key: null` and `key+:` are taken, what a base may
 * give is not asked for. Its scalars get their values. False if nothing else about it can be said
 * (a newer schema, no map).
 */
bool schema_check(struct ynode *doc, enum schema_doc kind, struct diags *diags);
/* Asks a resolved profile for what is required. */
void schema_complete(const struct ynode *doc, struct diags *diags);

/* Whether `key+:` may stand in map for that key: it adds to the list of a base. */
bool spec_may_append(const struct spec *map, const struct field *field);
/* The bounds of a number, as a profile writes them: "1s", "120s". False: it has none. */
bool spec_range(const struct spec *s, char **min, char **max); /* the caller frees */
/* Whether a scalar's check accepts this text, written without quotes. */
bool spec_accepts(const struct spec *spec, const char *text);
/* The meaning of a word, for editors and `explain`; NULL: the word needs none. */
const char *spec_meaning(const struct spec *s, const char *word);
const struct field *spec_field(const struct spec *spec, const char *key);
/* What spec says of the value of key ("set", not "set+") in a map; NULL if unknown. */
const struct spec *spec_child(const struct spec *spec, const char *key);
/* The spec that applies to a node of that kind: picks among SPEC_EITHER; may be NULL. */
const struct spec *spec_for(const struct spec *spec, enum yaml_kind kind);
/* The scalar whose words and range are of interest: of a list that of its items. */
const struct spec *spec_scalar(const struct spec *spec);
/* Whether two items of a list are the same by its identity. */
bool item_same(enum item_identity identity, const struct ynode *a, const struct ynode *b);
/* Length of a kernel argument's key. */
size_t arg_key_len(const char *arg);
/* The same, with '-' and '_' the same, up to n bytes. */
bool dash_equal(const char *a, const char *b, size_t n);
bool word_is_one_of(const char *word, const char *const *words); /* words may be NULL */
/* Which of words is near enough to be meant, or NULL. */
const char *nearest_word(const char *word, const char *const *words);
