/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Structures that are stored as JSON. A table has a row for each stored member, in the order of the
 * keys of the output; it writes, reads and frees the structure:
 *
 *	STORED_TABLE(device_stored, STORED(device, addr, "addr", STRING),
 *		     STORED(device, lost_at, "lost_usec", NUMBER, .omit = true));
 *
 * A value that is absent or has the wrong type counts as not recorded, and reads as the empty value
 * of its row's type. Keys without a row are ignored.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

enum stored_type {
	STORED_END,
	STORED_TEXT,	 /* char *; empty: NULL */
	STORED_STRING,	 /* char *; empty: "", and never NULL after reading */
	STORED_NUMBER,	 /* 0 or more: unsigned int, read as at most INT_MAX, or 64 bits */
	STORED_BOOL,	 /* bool */
	STORED_REAL,	 /* double, also of an integer; empty: NAN */
	STORED_ENUM,	 /* by .word; empty: .otherwise, also of an unknown word */
	STORED_JSON,	 /* json_t *, as it is; empty: NULL */
	STORED_STRUCT,	 /* by .rows; empty: has no values, or lacks a required value */
	STORED_LIST,	 /* VEC(): an array of values by .rows */
	STORED_MAP,	 /* VEC(): an object of values by .rows, with the first member as key */
	STORED_CONSTANT, /* no member: the integer .otherwise, which is required */
	STORED_OWN,	 /* by .put and .get */
};

struct stored {
	const char *key; /* NULL: only freed. "": the value stands for the whole structure */
	enum stored_type type;
	size_t at, size; /* of the member */
	bool omit;	 /* left out if it is empty, as NULL and NAN are in any case */
	bool null;	 /* written as null if it is empty */
	bool required;	 /* without this value the structure counts as absent */
	/* Offset of a bool that decides whether there is a value; reading sets it. 0: none. */
	size_t there;
	const struct stored *rows;
	size_t item;			     /* size of an element of the VEC() */
	const char *(*word)(unsigned int n); /* NULL: no word for n */
	unsigned int words, otherwise;	     /* words: n is less */
	/* Instead of the type's way; obj: of the structure, at: the member. get(): was it there? */
	void (*put)(json_t *obj, const void *at);
	bool (*get)(const json_t *obj, void *at);
};

/* The compiler warns of a member that does not have the row's C type; void: unchecked. */
typedef char *stored_TEXT, *stored_STRING;
typedef bool stored_BOOL;
typedef double stored_REAL;
typedef json_t *stored_JSON;
typedef void stored_NUMBER, stored_ENUM, stored_STRUCT, stored_LIST, stored_MAP, stored_OWN;

#define STORED(tag, member, its_key, its_type, ...)                                     \
	{                                                                               \
		.key = (its_key), .type = STORED_##its_type,                            \
		.at = offsetof(struct tag, member) +                                    \
		      0 * sizeof((stored_##its_type *)0 == &((struct tag *)0)->member), \
		.size = sizeof(((struct tag *)0)->member), ##__VA_ARGS__                \
	}
/* A LIST or MAP. */
#define STORED_ITEMS(tag, member, its_key, its_type, its_rows, ...) \
	STORED(tag, member, its_key, its_type, .rows = (its_rows),  \
	       .item = sizeof(*((struct tag *)0)->member.v), ##__VA_ARGS__)
#define STORED_TEXTS(tag, member, its_key, ...) \
	STORED(tag, member, its_key, STRUCT, .rows = texts_stored, ##__VA_ARGS__)
/* Members of the structure that have an object of their own. */
#define STORED_GROUP(its_key, its_rows, ...)                                               \
	{                                                                                  \
		.key = (its_key), .type = STORED_STRUCT, .rows = (its_rows), ##__VA_ARGS__ \
	}

#define STORED_TABLE(name, ...) const struct stored name[] = {__VA_ARGS__, {0}}

/* struct strv: an array, whose values of other types are left out. */
extern const struct stored texts_stored[];

/* NULL: a required value is absent. The caller owns the result. */
json_t *stored_to_json(const struct stored *rows, const void *structure);
/*
 * Reads into a structure whose stored members are zero or empty. Returns false if the value is no
 * object, or lacks a required value; the other members have been read even then. A LIST or MAP
 * leaves out such elements.
 */
bool stored_from_json(const struct stored *rows, const json_t *value, void *structure);
/* After a bytewise copy of the structure: makes what the rows' members own a copy of its own. */
void stored_own(const struct stored *rows, void *structure);
/* Frees what the rows' members own, and makes these members empty. */
void stored_free(const struct stored *rows, void *structure);
