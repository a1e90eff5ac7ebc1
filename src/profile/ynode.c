/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree of a document: lookup, construction and changes. */
#include "profile/yaml.h"

#include "base/str.h"
#include "base/units.h"

struct ynode *ynode_new(enum yaml_kind kind, struct place at)
{
	struct ynode *n = xnew(struct ynode);

	n->kind = kind;
	n->at = at;
	return n;
}

struct ynode *ynode_scalar(struct place at, const char *text, bool plain)
{
	struct ynode *n = ynode_new(YAML_SCALAR, at);

	n->text = xstrdup(text);
	n->plain = plain;
	return n;
}

/* --- maps of many keys ---------------------------------------------------------------------- */

enum { INDEXED = 16 }; /* keys; with fewer a linear search is faster */

/* The slot of the key, or the free slot where it belongs. */
static size_t slot_of(const struct ynode *map, const char *key)
{
	size_t i = str_hash(key) & (map->slots.n - 1);

	while (map->slots.v[i] && !streq(map->keys.v[map->slots.v[i] - 1]->text, key))
		i = (i + 1) & (map->slots.n - 1);
	return i;
}

/*
 * Sizes the table so that at most half of the slots are used until the number of keys has doubled.
 */
static void index_all(struct ynode *map)
{
	size_t n = 4 * INDEXED;

	vec_free(&map->slots);
	if (map->keys.n < INDEXED)
		return;
	while (n < 4 * map->keys.n)
		n *= 2;
	for (size_t i = 0; i < n; i++)
		vec_push(&map->slots, 0);
	for (size_t i = 0; i < map->keys.n; i++)
		map->slots.v[slot_of(map, map->keys.v[i]->text)] = (uint32_t)i + 1;
}

void ynode_add(struct ynode *map, struct ynode *key, struct ynode *value)
{
	vec_push(&map->keys, key);
	vec_push(&map->items, value);
	if (2 * map->keys.n > map->slots.n)
		index_all(map);
	else
		map->slots.v[slot_of(map, key->text)] = (uint32_t)map->keys.n;
}

/* --- looking up ------------------------------------------------------------------------------ */

int ynode_index(const struct ynode *map, const char *key)
{
	if (!map || map->kind != YAML_MAP)
		return -1;
	if (map->slots.n)
		return (int)map->slots.v[slot_of(map, key)] - 1;
	for (size_t i = 0; i < map->keys.n; i++)
		if (streq(map->keys.v[i]->text, key))
			return (int)i;
	return -1;
}

struct ynode *ynode_get(const struct ynode *map, const char *key)
{
	int i = ynode_index(map, key);

	return i < 0 ? NULL : map->items.v[i];
}

const char *ynode_text(const struct ynode *map, const char *key, const char *fallback)
{
	const struct ynode *n = ynode_get(map, key);

	return n && n->kind == YAML_SCALAR ? n->text : fallback;
}

bool ynode_is_null(const struct ynode *n)
{
	if (n->kind != YAML_SCALAR || !n->plain)
		return false;
	return !*n->text || streq(n->text, "~") || streq(n->text, "null");
}

bool ynode_is_true(const struct ynode *n)
{
	return n && n->kind == YAML_SCALAR && n->plain && streq(n->text, "true");
}

bool ynode_bool(const struct ynode *map, const char *key, bool fallback)
{
	const struct ynode *n = ynode_get(map, key);

	return n ? ynode_is_true(n) : fallback;
}

bool ynode_number(const struct ynode *n, uint64_t *ret)
{
	if (!n || n->value.type != VALUE_NUMBER || n->value.number < 0)
		return false;
	*ret = (uint64_t)n->value.number;
	return true;
}

bool ynode_exact(const struct ynode *n, uint64_t *ret)
{
	return n && !n->value.at_least && ynode_number(n, ret);
}

uint64_t ynode_number_of(const struct ynode *map, const char *key, uint64_t fallback)
{
	uint64_t number = fallback;

	ynode_number(ynode_get(map, key), &number);
	return number;
}

bool ynode_is_word(const struct ynode *n, int64_t word)
{
	return n && n->value.type == VALUE_WORD && n->value.number == word;
}

const struct cpus *ynode_cpus(const struct ynode *n)
{
	return n && n->value.type == VALUE_SET ? n->value.set : NULL;
}

static struct value copy_value(const struct value *v)
{
	struct value copy = *v;

	if (v->set) {
		copy.set = xnew(struct cpus);
		*copy.set = *v->set;
	}
	return copy;
}

struct ynode *ynode_copy(const struct ynode *n)
{
	struct ynode *copy = ynode_new(n->kind, n->at);

	copy->plain = n->plain;
	copy->value = copy_value(&n->value);
	if (n->text)
		copy->text = xstrdup(n->text);
	for (size_t i = 0; i < n->items.n; i++) {
		struct ynode *item = ynode_copy(n->items.v[i]);

		if (n->kind == YAML_MAP)
			ynode_add(copy, ynode_copy(n->keys.v[i]), item);
		else
			vec_push(&copy->items, item);
	}
	return copy;
}

void ynode_free(struct ynode *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->keys.n; i++)
		ynode_free(n->keys.v[i]);
	for (size_t i = 0; i < n->items.n; i++)
		ynode_free(n->items.v[i]);
	vec_free(&n->keys);
	vec_free(&n->items);
	vec_free(&n->slots);
	free(n->value.set);
	free(n->text);
	free(n);
}

void ynode_set(struct ynode *map, const struct ynode *key, struct ynode *value)
{
	int i = ynode_index(map, key->text);

	if (i < 0) {
		ynode_add(map, ynode_copy(key), value);
		return;
	}
	ynode_free(map->keys.v[i]);
	ynode_free(map->items.v[i]);
	map->keys.v[i] = ynode_copy(key);
	map->items.v[i] = value;
}

void ynode_remove(struct ynode *map, const char *key)
{
	int at = ynode_index(map, key);

	if (at < 0)
		return;
	ynode_free(map->keys.v[at]);
	ynode_free(map->items.v[at]);
	for (size_t i = (size_t)at + 1; i < map->keys.n; i++) {
		map->keys.v[i - 1] = map->keys.v[i];
		map->items.v[i - 1] = map->items.v[i];
	}
	map->keys.n--;
	map->items.n--;
	index_all(map);
}

const char *ynode_kind_name(const struct ynode *n)
{
	if (ynode_is_null(n))
		return "nothing";
	return n->kind == YAML_MAP ? "a map" : n->kind == YAML_LIST ? "a list" : "a single value";
}

static void add_line(struct str *out, const struct ynode *n)
{
	if (n->kind == YAML_SCALAR) {
		str_add(out, n->text);
		return;
	}
	str_add(out, n->kind == YAML_MAP ? "{" : "[");
	for (size_t i = 0; i < n->items.n; i++) {
		str_addf(out, "%s%s%s", i ? ", " : "",
			 n->kind == YAML_MAP ? n->keys.v[i]->text : "",
			 n->kind == YAML_MAP ? ": " : "");
		add_line(out, n->items.v[i]);
	}
	str_add(out, n->kind == YAML_MAP ? "}" : "]");
}

char *ynode_line(const struct ynode *n)
{
	struct str out = {0};

	add_line(&out, n);
	return str_take(&out);
}
