/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/stored.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* Any VEC(). */
struct list {
	char *v;
	size_t n, cap;
} __attribute__((may_alias));

static STORED_TABLE(text_stored, {.key = "", .type = STORED_TEXT});

STORED_TABLE(texts_stored,
	     {.key = "", .type = STORED_LIST, .rows = text_stored, .item = sizeof(char *)});

static bool is_whole(const struct stored *row)
{
	return row->key && !*row->key;
}

/* --- written ----------------------------------------------------------------------------- */

static json_t *items_to_json(const struct stored *row, const struct list *list)
{
	json_t *ret = row->type == STORED_MAP ? json_object() : json_array();

	for (size_t i = 0; i < list->n; i++) {
		const char *item = list->v + i * row->item;
		json_t *value = stored_to_json(row->rows, item);

		if (row->type == STORED_MAP)
			json_object_set_new(ret, *(char *const *)item, value);
		else
			json_array_append_new(ret, value);
	}
	return ret;
}

/* NULL: JSON has no such value, as for NAN, or a text that is not UTF-8. */
static json_t *to_json(const struct stored *row, const void *at)
{
	switch (row->type) {
	case STORED_TEXT:
	case STORED_STRING:
		return json_string(*(char *const *)at);
	case STORED_NUMBER:
		return json_integer(row->size == sizeof(unsigned int) ? *(const unsigned int *)at
								      : *(const int64_t *)at);
	case STORED_BOOL:
		return json_boolean(*(const bool *)at);
	case STORED_REAL:
		return json_real(*(const double *)at);
	case STORED_ENUM:
		return json_string(row->word(*(const unsigned int *)at));
	case STORED_JSON:
		return json_incref(*(json_t *const *)at);
	case STORED_STRUCT:
		return stored_to_json(row->rows, at);
	case STORED_LIST:
	case STORED_MAP:
		return items_to_json(row, at);
	case STORED_CONSTANT:
		return json_integer(row->otherwise);
	default:
		return NULL;
	}
}

static bool is_empty(const struct stored *row, const json_t *value)
{
	if (row->type == STORED_ENUM)
		return streq(json_string_value(value), or_empty(row->word(row->otherwise)));
	if (row->type == STORED_STRING)
		return !*json_string_value(value);
	return json_is_false(value) || (json_is_integer(value) && !json_integer_value(value)) ||
	       (json_is_array(value) && !json_array_size(value)) ||
	       (json_is_object(value) && !json_object_size(value));
}

json_t *stored_to_json(const struct stored *row, const void *structure)
{
	json_t *obj = json_object();

	for (; row->type; row++) {
		const char *in = structure;
		json_t *value = NULL;

		if (row->put) {
			row->put(obj, in + row->at);
			continue;
		}
		if (!row->there || *(const bool *)(in + row->there))
			value = to_json(row, in + row->at);
		if (is_whole(row)) {
			json_decref(obj);
			return value;
		}
		if (value && !row->there && (row->omit || row->null) && is_empty(row, value)) {
			json_decref(value);
			value = NULL;
		}
		if (!value && row->required) {
			json_decref(obj);
			return NULL;
		}
		json_object_set_new(obj, row->key, value || !row->null ? value : json_null());
	}
	return obj;
}

/* --- read -------------------------------------------------------------------------------- */

static void read_item(const struct stored *row, const char *key, const json_t *value,
		      struct list *ret)
{
	char *item;

	if (ret->n == ret->cap) {
		ret->cap = ret->cap ? ret->cap * 2 : 8;
		ret->v = xrealloc(ret->v, ret->cap, row->item);
	}
	item = memset(ret->v + ret->n * row->item, 0, row->item);
	if (key)
		*(char **)item = xstrdup(key);
	if (stored_from_json(row->rows, value, item))
		ret->n++;
	else
		stored_free(row->rows, item);
}

static bool read_items(const struct stored *row, const json_t *value, struct list *ret)
{
	const char *key;
	json_t *item;

	if (row->type == STORED_LIST) {
		for (size_t i = 0; (item = json_array_get(value, i)); i++)
			read_item(row, NULL, item, ret);
		return json_is_array(value);
	}
	json_object_foreach((json_t *)value, key, item) read_item(row, key, item, ret);
	return json_is_object(value);
}

static bool read_number(const struct stored *row, const json_t *value, void *at)
{
	json_int_t n = json_integer_value(value);

	if (row->size == sizeof(unsigned int))
		*(unsigned int *)at = n < 0 ? 0 : n < INT_MAX ? (unsigned int)n : INT_MAX;
	else
		*(int64_t *)at = n < 0 ? 0 : n;
	return json_is_integer(value) && n >= 0;
}

static bool read_word(const struct stored *row, const json_t *value, unsigned int *at)
{
	const char *text = json_string_value(value);

	for (*at = 0; text && *at < row->words; ++*at)
		if (streq(text, or_empty(row->word(*at))))
			return true;
	*at = row->otherwise;
	return false;
}

/* Returns whether the value has the type. */
static bool from_json(const struct stored *row, const json_t *value, void *at)
{
	const char *text = json_string_value(value);

	switch (row->type) {
	case STORED_TEXT:
	case STORED_STRING:
		free(*(char **)at);
		*(char **)at = text || row->type == STORED_STRING ? xstrdup(or_empty(text)) : NULL;
		return text;
	case STORED_NUMBER:
		return read_number(row, value, at);
	case STORED_BOOL:
		*(bool *)at = json_is_true(value);
		return json_is_boolean(value);
	case STORED_REAL:
		*(double *)at = json_is_number(value) ? json_number_value(value) : NAN;
		return json_is_number(value);
	case STORED_ENUM:
		return read_word(row, value, at);
	case STORED_JSON:
		*(json_t **)at = json_incref((json_t *)value);
		return value;
	case STORED_STRUCT:
		return stored_from_json(row->rows, value, at);
	case STORED_LIST:
	case STORED_MAP:
		return read_items(row, value, at);
	case STORED_CONSTANT:
		return json_is_integer(value) && json_integer_value(value) == row->otherwise;
	default:
		return false;
	}
}

bool stored_from_json(const struct stored *row, const json_t *value, void *structure)
{
	bool has_form = json_is_object(value), complete = true;

	for (; row->type; row++) {
		const json_t *own = is_whole(row) ? value : json_object_get(value, row->key);
		char *in = structure;
		bool found = false;

		if (row->get)
			found = row->get(value, in + row->at);
		else if (row->key)
			found = from_json(row, own, in + row->at);
		if (row->there)
			*(bool *)(in + row->there) = found;
		has_form |= is_whole(row);
		complete &=
			found || !(row->required || row->type == STORED_CONSTANT || is_whole(row));
	}
	return has_form && complete;
}

/* --- copied ------------------------------------------------------------------------------ */

static void own_items(const struct stored *row, struct list *list)
{
	const char *from = list->v;

	list->cap = list->n;
	list->v = list->n ? xcalloc(list->n, row->item) : NULL;
	for (size_t i = 0; i < list->n; i++) {
		char *item = list->v + i * row->item;

		memcpy(item, from + i * row->item, row->item);
		stored_own(row->rows, item);
	}
}

void stored_own(const struct stored *row, void *structure)
{
	for (; row->type; row++) {
		void *at = (char *)structure + row->at;

		switch (row->type) {
		case STORED_TEXT:
		case STORED_STRING:
			*(char **)at = *(char **)at ? xstrdup(*(char **)at) : NULL;
			break;
		case STORED_JSON:
			json_incref(*(json_t **)at);
			break;
		case STORED_STRUCT:
			stored_own(row->rows, at);
			break;
		case STORED_LIST:
		case STORED_MAP:
			own_items(row, at);
			break;
		default:
			break;
		}
	}
}

/* --- freed ------------------------------------------------------------------------------- */

void stored_free(const struct stored *row, void *structure)
{
	for (; row->type; row++) {
		void *at = (char *)structure + row->at;
		struct list *list = at;

		if (row->type == STORED_TEXT || row->type == STORED_STRING)
			free(take_ptr(*(char **)at));
		else if (row->type == STORED_JSON)
			json_decref(take_ptr(*(json_t **)at));
		else if (row->type == STORED_STRUCT)
			stored_free(row->rows, at);
		if (row->type != STORED_LIST && row->type != STORED_MAP)
			continue;
		for (size_t i = 0; i < list->n; i++)
			stored_free(row->rows, list->v + i * row->item);
		vec_free(list);
	}
}
