/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The schema: the keys and values of a profile, as constant tables (language.c, sections/) that
 * schema.c walks. To add a key, add a row to a table, by a macro of language.h. A `scalar_check`
 * (value.c) checks a single value; a rule (rules.h) checks how values relate. The JSON Schema for
 * editors and the output of `explain` (rows.h) are generated from the same tables.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "profile/diag.h"
#include "profile/meaning.h"

struct spec;
struct ynode; /* of profile/yaml.h */

/*
 * Whether spec accepts a scalar. If so, sets n->value, where the meaning is more than the text. If
 * not, sets *why to "problem; remedy".
 */
typedef bool scalar_check(const struct spec *spec, struct ynode *n, struct str *why);

enum spec_kind {
	SPEC_SCALAR,
	SPEC_LIST,
	SPEC_MAP,    /* known keys */
	SPEC_MAP_OF, /* any key that `key` accepts, all with the same kind of value */
	SPEC_EITHER, /* a scalar, a list or a map, decided by the kind of node */
};

/*
 * Identity of list items: two items with the same identity must not be in one list, and `key+:`
 * replaces such an item.
 */
enum item_identity {
	ITEM_NONE,
	ITEM_TEXT, /* the whole scalar */
	ITEM_NAME, /* the scalar, or the name: of a map; '-' and '_' are equal */
	ITEM_ARG,  /* a kernel argument's text before '='; '-' and '_' are equal */
};

enum field_flags {
	FIELD_REQUIRED = 1 << 0, /* required in the resolved profile; a base may supply the key */
	FIELD_OWN = 1 << 1,	 /* required in each document itself, never inherited from a base */
	FIELD_NO_DROPIN = 1 << 2,
	FIELD_NOT_INHERITED = 1 << 3,
};

/* The role of a key in a profile. */
enum key_class {
	KEY_INHERITS, /* the role of the key or section above */
	KEY_SETS,     /* a setting that apply makes and verify checks */
	KEY_JUDGES,   /* a fact that is checked and never set */
	KEY_SELECTS,  /* selects the machines or devices that other keys apply to */
	KEY_GOVERNS,  /* controls railhead itself: times, consequences, names */
};

#define KERNEL(major, minor) ((major) << 8 | (minor))

struct field {
	const char *name; /* NULL ends the table */
	const struct spec *spec;
	const char *help; /* a sentence for `explain` and editors; includes the default */
	unsigned int flags;
	enum key_class class;
	unsigned int since; /* the first Linux with this feature, as KERNEL(5, 12); 0: any */
	const void *item;   /* private data of the key's section; or NULL */
};

struct spec {
	enum spec_kind kind;
	const char *what; /* "a page size such as 2M": fits into "expected ..., not a list" */
	/* SPEC_SCALAR */
	scalar_check *check;
	/*
	 * Words that check accepts, alone or with other values: those of words, NULL-terminated, or
	 * else those of meanings, which are pairs of a word and its effect, or else the keys of the
	 * map keys_of that are settings.
	 */
	const char *const *words, *const *meanings;
	const struct spec *keys_of;
	const char *meaning;	   /* default meaning of words that meanings lacks; or NULL */
	int64_t min, max;	   /* in the check's unit; max 0: no range */
	const struct units *units; /* of value_amount() */
	const char *unit; /* unit of a number that is written without one: "packets"; or NULL */
	/*
	 * A regular expression, for editors and for the checks value_pattern() and those that call
	 * it; another check may be stricter. NULL: any text, for editors.
	 */
	const char *pattern;
	const char *note;   /* what a text needs to match, for messages: "use ..."; or NULL */
	unsigned int bytes; /* limit of a text that pattern must match; 0: 4000 */
	/* SPEC_LIST, SPEC_MAP_OF */
	const struct spec *item;
	const struct spec *key; /* SPEC_MAP_OF: the spec of its keys, a scalar */
	const char *any;	/* SPEC_MAP_OF: placeholder for a key in texts, such as SET */
	enum item_identity identity;
	/* SPEC_MAP */
	const struct field *fields;
	/* SPEC_EITHER; NULL: that kind is rejected */
	const struct spec *scalar, *list, *map;
};

enum schema_doc { SCHEMA_PROFILE, SCHEMA_DROPIN, SCHEMA_SITE };

/* The whole profile: the keys of the document, then the sections. */
const struct spec *schema_profile(void);
extern const struct spec schema_site; /* of railhead.conf */

/*
 * Checks one document as written: `key: null` and `key+:` are accepted, and keys that a base may
 * supply are not required. Sets the values of scalars. False if the document cannot be checked
 * further (a newer schema, not a map).
 */
bool schema_check(struct ynode *doc, enum schema_doc kind, struct diags *diags);
/* Checks that a resolved profile has the required keys. */
void schema_complete(const struct ynode *doc, struct diags *diags);

/* Whether map may have `key+:` for the field, which appends to the list of a base. */
bool spec_may_append(const struct spec *map, const struct field *field);
/* The bounds of a number in a profile's notation: "1s", "120s". False: it has no bounds. */
bool spec_range(const struct spec *s, char **min, char **max); /* the caller frees */
/* Whether the check of a scalar accepts this text, written without quotes. */
bool spec_accepts(const struct spec *spec, const char *text);
/* The word with that index, from 0; NULL at the end. */
const char *spec_word(const struct spec *s, size_t index);
/* The meaning of a word, for editors and `explain`; NULL: the word is self-explanatory. */
const char *spec_meaning(const struct spec *s, const char *word);
const struct field *spec_field(const struct spec *spec, const char *key);
/* The spec of the value of key ("set", not "set+") in a map; NULL if unknown. */
const struct spec *spec_child(const struct spec *spec, const char *key);
/* The spec for a node of that kind: one alternative of SPEC_EITHER, or spec itself; may be NULL. */
const struct spec *spec_for(const struct spec *spec, enum yaml_kind kind);
/* The scalar whose words and range describe a spec; for a list the scalar of its items. */
const struct spec *spec_scalar(const struct spec *spec);
/* Whether two list items have the same identity. */
bool item_same(enum item_identity identity, const struct ynode *a, const struct ynode *b);
/* Length of a kernel argument's key. */
size_t arg_key_len(const char *arg);
/* Compares up to n bytes, with '-' and '_' equal. */
bool dash_equal(const char *a, const char *b, size_t n);
bool word_is_one_of(const char *word, const char *const *words); /* words may be NULL */
/* The word that is most similar, if it is near enough to be meant; or NULL. */
const char *nearest_word(const char *word, const char *const *words);
