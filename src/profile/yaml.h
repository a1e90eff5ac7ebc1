/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * YAML documents as a tree with places. libyaml parses; this room sets bounds (size,
 * depth, nodes, alias expansion), refuses what is not one UTF-8 document of maps, lists
 * and scalars, and keeps file:line:col on every node for messages and for `why`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/vec.h"

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct place {
	const char *file; /* owned by the profile or the diagnostics' string pool */
	unsigned int line, col; /* from 1; 0: the file as a whole */
};

struct ynode {
	enum yaml_kind kind;
	struct place at;
	/* scalar */
	char *text;
	bool plain; /* unquoted: only such a scalar can be null, true or false */
	/* list: items; map: keys and values side by side, in document order */
	VEC(struct ynode *) items;
	VEC(struct ynode *) keys; /* map only; scalars */
};

/* The value of a key in a map; NULL if absent or if map is NULL. */
struct ynode *ynode_get(const struct ynode *map, const char *key);
/* The text of a scalar, or fallback if map has no such key. */
const char *ynode_text(const struct ynode *map, const char *key, const char *fallback);
bool ynode_is_null(const struct ynode *n);	/* plain null, ~ or empty */
bool ynode_is_true(const struct ynode *n);	/* plain true */
bool ynode_bool(const struct ynode *map, const char *key, bool fallback);
struct ynode *ynode_copy(const struct ynode *n);
void ynode_free(struct ynode *n);

/* for (size_t i = 0; i < map->keys.n; i++) map->keys.v[i]->text, map->items.v[i] */
