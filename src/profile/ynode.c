/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree that a document becomes: looking things up in it, building and changing it. */
#include "profile/yaml.h"

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

int ynode_index(const struct ynode *map, const char *key)
{
	if (!map || map->kind != YAML_MAP)
		return -1;
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
	for (size_t i = 0; i < n->keys.n; i++)
		vec_push(&copy->keys, ynode_copy(n->keys.v[i]));
	for (size_t i = 0; i < n->items.n; i++)
		vec_push(&copy->items, ynode_copy(n->items.v[i]));
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
	free(n->value.set);
	free(n->text);
	free(n);
}

void ynode_set(struct ynode *map, const struct ynode *key, struct ynode *value)
{
	int i = ynode_index(map, key->text);

	if (i < 0) {
		vec_push(&map->keys, ynode_copy(key));
		vec_push(&map->items, value);
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
}

const char *ynode_kind_name(const struct ynode *n)
{
	if (ynode_is_null(n))
		return "nothing";
	return n->kind == YAML_MAP ? "a map" : n->kind == YAML_LIST ? "a list" : "a single value";
}
