/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table writes, reads and frees a structure: each type whole, absent, and of another type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <math.h>

#include "base/stored.h"
#include "base/str.h"

enum metal { TIN, LEAD, ZINC, METALS };

struct part {
	char *name;
	uint64_t weight;
};

struct tag {
	char *name, *value;
};

struct whole {
	char *text, *kept;
	struct strv texts;
	unsigned int count;
	uint64_t usec;
	size_t size;
	int64_t number;
	bool flag;
	double real;
	enum metal metal;
	json_t *json;
	struct part part;
	VEC(struct part) parts;
	VEC(struct part) named;
	VEC(struct tag) tags;
	bool seen;
	uint64_t seen_at;
	char *mine;
	uint64_t since, until;
};

/* ZINC has no word. */
static const char *metal_word(unsigned int n)
{
	static const char *const words[] = {[TIN] = "tin", [LEAD] = "lead"};

	return n < array_len(words) ? words[n] : NULL;
}

static void put_mine(json_t *obj, const void *at)
{
	json_object_set_new(obj, "mine", json_sprintf("<%s>", or_empty(*(char *const *)at)));
}

static bool get_mine(const json_t *obj, void *at)
{
	const char *text = json_string_value(json_object_get(obj, "mine"));

	if (text && strlen(text) > 2)
		*(char **)at = xstrndup(text + 1, strlen(text) - 2);
	return text;
}

static STORED_TABLE(part_stored, STORED(part, name, "name", TEXT, .required = true),
		    STORED(part, weight, "weight", NUMBER));

static STORED_TABLE(named_stored, STORED(part, name, NULL, TEXT),
		    STORED(part, weight, "weight", NUMBER, .omit = true));

static STORED_TABLE(tag_stored, STORED(tag, name, NULL, TEXT), STORED(tag, value, "", TEXT));

static STORED_TABLE(times_stored, STORED(whole, since, "since", NUMBER),
		    STORED(whole, until, "until", NUMBER, .required = true, .omit = true));

static STORED_TABLE(whole_stored, {.key = "schema", .type = STORED_CONSTANT, .otherwise = 3},
		    STORED(whole, text, "text", TEXT), STORED(whole, kept, "kept", STRING),
		    STORED_TEXTS(whole, texts, "texts", .omit = true),
		    STORED(whole, count, "count", NUMBER, .omit = true),
		    STORED(whole, usec, "usec", NUMBER, .omit = true),
		    STORED(whole, size, "size", NUMBER, .omit = true),
		    STORED(whole, number, "number", NUMBER, .omit = true),
		    STORED(whole, flag, "flag", BOOL, .omit = true),
		    STORED(whole, real, "real", REAL),
		    STORED(whole, metal, "metal", ENUM, .word = metal_word, .words = METALS,
			   .otherwise = LEAD, .omit = true),
		    STORED(whole, json, "json", JSON),
		    STORED(whole, part, "part", STRUCT, .rows = part_stored),
		    STORED_ITEMS(whole, parts, "parts", LIST, part_stored, .omit = true),
		    STORED_ITEMS(whole, named, "named", MAP, named_stored, .omit = true),
		    STORED_ITEMS(whole, tags, "tags", MAP, tag_stored, .omit = true),
		    STORED(whole, seen_at, "seen_at", NUMBER, .null = true,
			   .there = offsetof(struct whole, seen)),
		    STORED(whole, mine, NULL, TEXT, .put = put_mine, .get = get_mine),
		    STORED_GROUP("times", times_stored));

/* Every value, none of them empty, in the order of the table. */
#define EVERYTHING                                                                         \
	"{\"schema\":3,\"text\":\"\",\"kept\":\"s\",\"texts\":[\"a\",\"\"],"               \
	"\"count\":2147483647,\"usec\":9223372036854775807,\"size\":1,\"number\":5,"       \
	"\"flag\":true,\"real\":0.5,\"metal\":\"tin\",\"json\":{\"any\":[1]},"             \
	"\"part\":{\"name\":\"p\",\"weight\":0},\"parts\":[{\"name\":\"a\",\"weight\":1}," \
	"{\"name\":\"b\",\"weight\":0}],\"named\":{\"m\":{},\"n\":{\"weight\":2}},"        \
	"\"tags\":{\"\":\"\",\"t\":\"v\"},\"seen_at\":0,\"mine\":\"<x>\","                 \
	"\"times\":{\"since\":0,\"until\":7}}"

/* The JSON of the structure that is read from the JSON. */
static json_t *again(const json_t *doc, bool *whole)
{
	struct whole w = {0};
	json_t *ret;

	*whole = stored_from_json(whole_stored, doc, &w);
	ret = stored_to_json(whole_stored, &w);
	stored_free(whole_stored, &w);
	stored_free(whole_stored, &w); /* done twice */
	return ret;
}

static void assert_again(const char *text, bool is_whole, const char *written)
{
	json_t *doc = json_loads(text, JSON_DECODE_ANY, NULL), *back;
	cleanup_free char *is = NULL;
	bool whole;

	assert_non_null(doc);
	back = again(doc, &whole);
	is = json_dumps(back, JSON_COMPACT);
	assert_string_equal(is, written);
	assert_int_equal(whole, is_whole);
	json_decref(doc);
	json_decref(back);
}

static void test_everything(void **state)
{
	cleanup_free char *backwards = NULL;
	json_t *doc = json_loads(EVERYTHING, 0, NULL);

	(void)state;
	assert_again(EVERYTHING, true, EVERYTHING);
	backwards = json_dumps(doc, JSON_SORT_KEYS);
	assert_again(backwards, true, EVERYTHING);
	json_decref(doc);
}

/* An empty value is written only where its row says so. */
static void test_absent(void **state)
{
	json_t *doc = json_loads("{\"schema\": 3, \"unknown\": 1}", 0, NULL);
	struct whole w = {.until = 9};

	(void)state;
	assert_again("{\"schema\": 3}", true,
		     "{\"schema\":3,\"kept\":\"\",\"seen_at\":null,\"mine\":\"<>\"}");
	assert_true(stored_from_json(whole_stored, doc, &w));
	assert_null(w.text);
	assert_string_equal(w.kept, "");
	assert_true(isnan(w.real));
	assert_int_equal(w.metal, LEAD);
	assert_false(w.seen);
	assert_int_equal(w.until, 0);
	stored_free(whole_stored, &w);
	json_decref(doc);
}

static void test_bounds(void **state)
{
	static const char *const t[][2] = {
		{"\"count\": 2147483648", "\"count\":2147483647,"},
		{"\"count\": 99999999999", "\"count\":2147483647,"},
		{"\"count\": -1", ""},
		{"\"usec\": -1", ""},
		{"\"number\": -1", ""},
		{"\"real\": 3", "\"real\":3.0,"},
		{"\"metal\": \"lead\"", ""},
		{"\"metal\": \"gold\"", ""},
		{"\"texts\": [1, \"a\", null]", "\"texts\":[\"a\"],"},
		{"\"part\": {}", ""},
		{"\"parts\": [{}, 7, {\"weight\": 2}, {\"name\": \"n\"}]",
		 "\"parts\":[{\"name\":\"n\",\"weight\":0}],"},
		{"\"named\": {\"a\": 7, \"b\": {}}", "\"named\":{\"b\":{}},"},
		{"\"tags\": {\"a\": {}, \"b\": 1, \"c\": \"\"}", "\"tags\":{\"c\":\"\"},"},
		{"\"json\": {}", "\"json\":{},"},
		{"\"json\": 0", "\"json\":0,"},
		{"\"times\": []", ""},
		{"\"times\": {\"since\": 3}", ""},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_free char *text = xasprintf("{\"schema\": 3, %s}", t[i][0]);
		cleanup_free char *written = xasprintf(
			"{\"schema\":3,\"kept\":\"\",%s\"seen_at\":null,\"mine\":\"<>\"}", t[i][1]);

		assert_again(text, true, written);
	}
}

/* A value of another type is as if it were absent. */
static void test_other_types(void **state)
{
	json_t *doc = json_loads(EVERYTHING, 0, NULL), *value;
	json_t *others[] = {json_null(),  json_true(),	 json_integer(-7),   json_real(0.25),
			    json_array(), json_object(), json_string("gold")};
	const char *key;
	void *next;
	bool whole;

	(void)state;
	json_object_foreach_safe(doc, next, key, value)
	{
		json_t *without = json_copy(doc), *kept;

		json_object_del(without, key);
		kept = again(without, &whole);
		for (size_t i = 0; i < array_len(others); i++) {
			json_t *with = json_copy(doc), *is;

			json_object_set(with, key, others[i]);
			is = again(with, &whole);
			/* A value of the row's own type stays; an integer is a real number too. */
			value = json_object_get(is, key);
			assert_true(json_equal(is, kept) ||
				    json_typeof(value) == json_typeof(others[i]) ||
				    (json_is_real(value) && json_is_integer(others[i])));
			json_decref(with);
			json_decref(is);
		}
		json_decref(without);
		json_decref(kept);
	}
	for (size_t i = 0; i < array_len(others); i++)
		json_decref(others[i]);
	json_decref(doc);
}

static void test_required(void **state)
{
	static const char *const t[] = {"{}",  "{\"schema\": 2}", "{\"schema\": \"3\"}", "[]", "3",
					"null"};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++)
		assert_again(t[i], false,
			     "{\"schema\":3,\"kept\":\"\",\"seen_at\":null,\"mine\":\"<>\"}");
}

/* A value that JSON can't hold is left out alone. */
static void test_no_json(void **state)
{
	struct whole w = {.text = (char *)"\xff", .real = INFINITY, .metal = ZINC, .count = 1};
	json_t *doc = stored_to_json(whole_stored, &w);

	(void)state;
	assert_null(json_object_get(doc, "text"));
	assert_null(json_object_get(doc, "real"));
	assert_null(json_object_get(doc, "metal"));
	assert_int_equal(json_integer_value(json_object_get(doc, "count")), 1);
	json_decref(doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything), cmocka_unit_test(test_absent),
		cmocka_unit_test(test_bounds),	   cmocka_unit_test(test_other_types),
		cmocka_unit_test(test_required),   cmocka_unit_test(test_no_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
