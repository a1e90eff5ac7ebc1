/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * YAML documents as a tree with places. libyaml parses. This room sets bounds (size, depth, nodes,
 * alias expansion), rejects everything but one UTF-8 document of maps, lists and scalars, and keeps
 * file:line:col on every node for messages and for `why`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "profile/place.h"
#include "profile/meaning.h"

struct diags;

/*
 * Bounds, so that any file costs a moment and a few megabytes at most. Nodes and bytes are counted
 * after alias expansion.
 */
enum {
	YAML_BYTES_MAX = 1 << 20,
	YAML_DEPTH_MAX = 64,
	YAML_NODES_MAX = 50000,
	YAML_KEYS_MAX = 4096, /* in one map */
	YAML_KEY_BYTES_MAX = 512,
	YAML_ANCHORS_MAX = 256,
	YAML_TEXT_MAX = 4 << 20, /* bytes of all scalars */
};

struct ynode {
	enum yaml_kind kind;
	struct place at;
	/* scalar */
	char *text;
	bool plain; /* unquoted: only a plain scalar can be null, true or false */
	struct value value;
	/* list: items; map: keys and values side by side, in document order */
	VEC(struct ynode *) items;
	VEC(struct ynode *) keys; /* map only; scalars */
	/* Hash table of a map with many keys: indices of keys, from 1; 0: free. */
	VEC(uint32_t) slots;
};

/*
 * Parses text as one document; file must outlive the tree. NULL if no usable tree results. Problems
 * of single keys (a duplicate key, a tag, a merge key) are reported and left out of the tree, so
 * that one run of check finds the remaining problems too; see diags->errors.
 */
struct ynode *yaml_parse(const char *file, const char *text, size_t len, struct diags *diags);

/* The value of a key in a map; NULL if absent or if map is NULL. */
struct ynode *ynode_get(const struct ynode *map, const char *key);
/* The text of a scalar, or fallback if map has no such key. */
const char *ynode_text(const struct ynode *map, const char *key, const char *fallback);
bool ynode_is_null(const struct ynode *n); /* plain null, ~ or empty */
bool ynode_is_true(const struct ynode *n); /* plain true; NULL is not */
bool ynode_bool(const struct ynode *map, const char *key, bool fallback);
/* Whether n's value is the word with that index in its spec. */
bool ynode_is_word(const struct ynode *n, int64_t word);
/* Each returns false or NULL if n is NULL or its value has another type. */
bool ynode_number(const struct ynode *n, uint64_t *ret); /* N or ">=N", not negative */
bool ynode_exact(const struct ynode *n, uint64_t *ret);	 /* only N */
const struct cpus *ynode_cpus(const struct ynode *n);
/* The number at a key, or fallback. */
uint64_t ynode_number_of(const struct ynode *map, const char *key, uint64_t fallback);
struct ynode *ynode_copy(const struct ynode *n);
void ynode_free(struct ynode *n);
#define cleanup_ynode __attribute__((__cleanup__(ynode_freep)))
static inline void ynode_freep(struct ynode **n)
{
	ynode_free(*n);
}

/* Building and changing trees. Text is copied; the callee takes ownership of nodes. */
struct ynode *ynode_new(enum yaml_kind kind, struct place at);
struct ynode *ynode_scalar(struct place at, const char *text, bool plain);
/* Appends to a map that lacks this key. */
void ynode_add(struct ynode *map, struct ynode *key, struct ynode *value);
/* The index of key in map, or -1. */
int ynode_index(const struct ynode *map, const char *key);
/* Replaces the value of key in place, or appends it. */
void ynode_set(struct ynode *map, const struct ynode *key, struct ynode *value);
void ynode_remove(struct ynode *map, const char *key);
/* The whole node on one line, for people: "[a, b]", "{rx: 1, tx: 2}". The caller frees. */
char *ynode_line(const struct ynode *n);
/* "a map", "a list", "nothing" (null) or "a single value". */
const char *ynode_kind_name(const struct ynode *n);

/* Iterate: for (size_t i = 0; i < map->keys.n; i++) map->keys.v[i]->text, map->items.v[i] */
