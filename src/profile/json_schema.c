/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Generates the JSON Schema. First counts the uses of each spec; a spec with several uses becomes a
 * named definition.
 */
#include "profile/json_schema.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "profile/language.h"
#include "profile/value.h"

/* A spec, the number of its uses, and properties that all uses share. */
struct def {
	const struct spec *spec;
	size_t uses;
	bool in_list;  /* below a list item, where a base cannot add missing keys */
	bool nullable; /* `key: null` deletes a key, in maps but not in lists */
	char *name;    /* name below definitions; NULL: written inline */
};

struct gen {
	VEC(struct def) defs;
};

static json_t *value_of(const struct gen *g, const struct spec *s, bool nullable);

static void put(json_t *obj, const char *key, json_t *value)
{
	/* jansson fails here only when out of memory; abort as the x* allocators do */
	if (json_object_set_new(obj, key, value) < 0)
		abort();
}

static void add(json_t *list, json_t *value)
{
	if (json_array_append_new(list, value) < 0)
		abort();
}

static json_t *type_of(const char *type, bool nullable)
{
	return nullable ? json_pack("[s, s]", type, "null") : json_string(type);
}

/* --- scalars ------------------------------------------------------------------------------ */

static bool accepts_int(const struct spec *s, int64_t v)
{
	cleanup_free char *text = xasprintf("%" PRId64, v);

	return spec_accepts(s, text);
}

/* 0.5, and 1e-5, which is a valid module name */
static bool accepts_fractions(const struct spec *s)
{
	return spec_accepts(s, "0.5") || spec_accepts(s, "1e-5");
}

static void add_numbers(json_t *obj, json_t *types, const struct spec *s)
{
	if (accepts_fractions(s))
		add(types, json_string("number"));
	else if (accepts_int(s, s->min) || accepts_int(s, s->max) || accepts_int(s, 1) ||
		 accepts_int(s, 16))
		add(types, json_string("integer"));
	else
		return;
	if (s->max) {
		put(obj, "minimum", json_integer(s->min));
		put(obj, "maximum", json_integer(s->max));
	} else if (!accepts_int(s, -1) && !spec_accepts(s, "-0.5")) {
		put(obj, "minimum", json_integer(0));
	}
}

/* The types and pattern that the check accepts, without its words. */
static json_t *checked(const struct spec *s, bool nullable)
{
	json_t *obj = json_object(), *types = json_array();

	if (s->check != value_bool) {
		add_numbers(obj, types, s);
		add(types, json_string("string"));
		if (s->pattern)
			put(obj, "pattern", json_string(s->pattern));
		if (s->bytes)
			put(obj, "maxLength", json_integer(s->bytes));
	}
	if (spec_accepts(s, "true"))
		add(types, json_string("boolean"));
	if (nullable)
		add(types, json_string("null"));
	if (json_array_size(types) > 1) {
		put(obj, "type", types);
		return obj;
	}
	put(obj, "type", json_incref(json_array_get(types, 0)));
	json_decref(types);
	return obj;
}

/* Lists numeric words as numbers too, because YAML reads 16 as an integer and "16" as a string. */
static json_t *words_of(const struct spec *s, bool nullable)
{
	json_t *list = json_array(), *meanings = json_array();
	const char *w;

	for (size_t i = 0; (w = spec_word(s, i)); i++) {
		const char *meaning = spec_meaning(s, w) ?: "";

		add(list, json_string(w));
		add(meanings, json_string(meaning));
		if (w[strspn(w, "0123456789.")])
			continue;
		add(list, strchr(w, '.') ? json_real(strtod(w, NULL)) : json_integer(atoll(w)));
		add(meanings, json_string(meaning));
	}
	if (nullable) {
		add(list, json_null());
		add(meanings, json_string("deletes the value of a base"));
	}
	return json_pack("{s:o, s:O, s:o}", "enum", list, "enumDescriptions", meanings,
			 "markdownEnumDescriptions", meanings);
}

json_t *json_schema_scalar(const struct spec *s, bool nullable)
{
	if (s->check == value_word || s->check == value_page_size)
		return words_of(s, nullable);
	if (spec_word(s, 0))
		return json_pack("{s:[o, o]}", "anyOf", words_of(s, nullable), checked(s, false));
	return checked(s, nullable);
}

/* --- maps --------------------------------------------------------------------------------- */

/*
 * Keys are strings in JSON. A short range of numbers becomes an enum, which editors can complete.
 */
static json_t *key_names(const struct spec *key)
{
	enum { OFFERED = 64 };
	json_t *list;

	if (key->check != value_int || key->max - key->min >= OFFERED)
		return json_pack("{s:s, s:s, s:o*}", "description", key->what, "pattern",
				 key->pattern, "maxLength",
				 key->bytes ? json_integer(key->bytes) : NULL);
	list = json_array();
	for (int64_t v = key->min; v <= key->max; v++) {
		cleanup_free char *text = xasprintf("%" PRId64, v);

		add(list, json_string(text));
	}
	return json_pack("{s:s, s:o}", "description", key->what, "enum", list);
}

/* The text that `explain` prints, for editors to show next to the key. */
static json_t *markdown_of(const struct field *f, const struct spec *s)
{
	const struct spec *scalar = spec_scalar(s);
	cleanup_free char *min = NULL, *max = NULL;
	cleanup_str struct str out = {0};
	const char *word;

	str_addf(&out, "%s\n\nExpected: %s.", f->help, s->what);
	for (size_t i = 0; (word = spec_word(scalar, i)); i++) {
		const char *meaning = spec_meaning(scalar, word);

		str_addf(&out, "%s- `%s`%s%s", i ? "\n" : "\n\n", word, meaning ? ": " : "",
			 meaning ?: "");
	}
	if (spec_range(scalar, &min, &max))
		str_addf(&out, "\n\nRange: %s to %s%s%s.", min, max, scalar->unit ? " " : "",
			 scalar->unit ?: "");
	if (f->since)
		str_addf(&out, "\n\nLinux %u.%u or later.", f->since >> 8, f->since & 0xff);
	return json_string(str_get(&out));
}

/* Describes the key's purpose first, then its value. */
static json_t *describe_key(const struct field *f, const struct spec *s, json_t *value)
{
	cleanup_free char *text = xasprintf("%s Expected: %s.", f->help, s->what);

	/* draft-07 ignores keys next to $ref, so wrap it */
	if (json_object_get(value, "$ref"))
		value = json_pack("{s:[o]}", "allOf", value);
	put(value, "description", json_string(text));
	put(value, "markdownDescription", markdown_of(f, s));
	return value;
}

static json_t *field_value(const struct gen *g, const struct field *f, const struct spec *s,
			   bool nullable)
{
	return describe_key(f, s, value_of(g, s, nullable));
}

/* A key that only a profile may have makes the document a profile, which must have `own`. */
static void add_own(const struct spec *s, const struct field *own, json_t *required,
		    json_t *dependencies)
{
	if (!(own->flags & FIELD_NO_DROPIN)) {
		add(required, json_string(own->name));
		return;
	}
	for (const struct field *f = s->fields; f->name; f++) {
		if (!(f->flags & FIELD_NO_DROPIN) || f == own)
			continue;
		if (!json_object_get(dependencies, f->name))
			put(dependencies, f->name, json_array());
		add(json_object_get(dependencies, f->name), json_string(own->name));
	}
}

static json_t *map_of_fields(const struct gen *g, const struct spec *s, bool in_list)
{
	json_t *obj = json_object(), *properties = json_object(), *required = json_array(),
	       *dependencies = json_object();

	for (const struct field *f = s->fields; f->name; f++) {
		put(properties, f->name, field_value(g, f, f->spec, !(f->flags & FIELD_OWN)));
		if (spec_may_append(s, f)) {
			cleanup_free char *key = xasprintf("%s+", f->name);

			put(properties, key,
			    field_value(g, f, spec_for(f->spec, YAML_LIST), false));
			put(dependencies, key,
			    json_pack("{s:{s:b}}", "properties", f->name, false));
		}
		if (f->flags & FIELD_OWN)
			add_own(s, f, required, dependencies);
		else if (in_list && f->flags & FIELD_REQUIRED)
			add(required, json_string(f->name));
	}
	put(obj, "properties", properties);
	put(obj, "additionalProperties", json_false());
	if (json_array_size(required))
		put(obj, "required", json_incref(required));
	if (json_object_size(dependencies))
		put(obj, "dependencies", json_incref(dependencies));
	json_decref(required);
	json_decref(dependencies);
	return obj;
}

/* --- all kinds ---------------------------------------------------------------------------- */

static json_t *either(const struct gen *g, const struct spec *s, bool nullable)
{
	const struct spec *const ways[] = {s->scalar, s->list, s->map};
	json_t *list = json_array();

	for (size_t i = 0; i < array_len(ways); i++)
		if (ways[i])
			add(list, value_of(g, ways[i], false));
	if (nullable)
		add(list, json_pack("{s:s}", "type", "null"));
	return json_pack("{s:o}", "anyOf", list);
}

static json_t *body(const struct gen *g, const struct def *d, bool nullable)
{
	const struct spec *s = d->spec;
	json_t *obj;

	if (s->kind == SPEC_SCALAR) {
		obj = json_schema_scalar(s, nullable);
	} else if (s->kind == SPEC_EITHER) {
		obj = either(g, s, nullable);
	} else if (s->kind == SPEC_LIST) {
		obj = json_pack("{s:o, s:o}", "type", type_of("array", nullable), "items",
				value_of(g, s->item, false));
		if (s->identity != ITEM_NONE)
			put(obj, "uniqueItems", json_true());
	} else {
		obj = s->kind == SPEC_MAP
			      ? map_of_fields(g, s, d->in_list)
			      : json_pack("{s:o, s:o}", "propertyNames", key_names(s->key),
					  "additionalProperties", value_of(g, s->item, true));
		put(obj, "type", type_of("object", nullable));
	}
	put(obj, "description", json_string(s->what));
	return obj;
}

static const struct def *find_def(const struct gen *g, const struct spec *s)
{
	for (size_t i = 0; i < g->defs.n; i++)
		if (g->defs.v[i].spec == s)
			return &g->defs.v[i];
	return NULL;
}

static json_t *value_of(const struct gen *g, const struct spec *s, bool nullable)
{
	const struct def *d = find_def(g, s);
	cleanup_free char *where = NULL;
	json_t *ref;

	if (!d->name)
		return body(g, d, nullable);
	where = xasprintf("#/definitions/%s", d->name);
	ref = json_pack("{s:s}", "$ref", where);
	if (nullable && !d->nullable)
		return json_pack("{s:[o, {s:s}]}", "anyOf", ref, "type", "null");
	return ref;
}

/* --- counting and naming ------------------------------------------------------------------ */

/* written: this use is written out, not part of a definition that was counted before */
static void count(struct gen *g, const struct spec *s, bool in_list, bool nullable, bool written)
{
	struct def *d = (struct def *)find_def(g, s);
	bool known = d;

	if (!s)
		return;
	if (!known) {
		vec_push(&g->defs, ((struct def){s, 0, in_list, nullable, NULL}));
		d = &g->defs.v[g->defs.n - 1];
	}
	d->uses += written;
	d->in_list &= in_list;
	d->nullable &= nullable;
	written = written && !known;
	if (s->kind == SPEC_LIST || s->kind == SPEC_MAP_OF)
		count(g, s->item, in_list || s->kind == SPEC_LIST, s->kind == SPEC_MAP_OF, written);
	for (const struct field *f = s->fields; f && f->name; f++) {
		count(g, f->spec, in_list, !(f->flags & FIELD_OWN), written);
		if (spec_may_append(s, f))
			count(g, spec_for(f->spec, YAML_LIST), in_list, false, written);
	}
	if (s->kind == SPEC_EITHER) {
		count(g, s->scalar, in_list, false, written);
		count(g, s->list, in_list, false, written);
		count(g, s->map, in_list, false, written);
	}
}

/* "a device set's name" -> "device-set-name" */
static char *name_of(const char *what)
{
	struct str out = {0};
	const char *end = strstr(what, " such as");
	size_t len = end ? (size_t)(end - what) : strcspn(what, ",(:;");

	for (const char *p = what + (str_starts(what, "an ")  ? 3
				     : str_starts(what, "a ") ? 2
							      : 0);
	     p < what + len; p++) {
		if (isalnum((unsigned char)*p))
			str_addf(&out, "%c", tolower((unsigned char)*p));
		else if (str_starts(p, "'s"))
			p++;
		else if (*p == ' ' && p + 1 < what + len)
			str_add(&out, "-");
	}
	return str_take(&out);
}

static bool name_is_taken(const struct gen *g, const char *name)
{
	for (size_t i = 0; i < g->defs.n; i++)
		if (g->defs.v[i].name && streq(g->defs.v[i].name, name))
			return true;
	return false;
}

static void name_def(const struct gen *g, struct def *d)
{
	char *base = name_of(d->spec->what), *name = xasprintf("%s", base);

	for (unsigned int i = 2; name_is_taken(g, name); i++) {
		free(name);
		name = xasprintf("%s-%u", base, i);
	}
	free(base);
	d->name = name;
}

/* --- the document ------------------------------------------------------------------------- */

json_t *json_schema(void)
{
	struct gen g = {0};
	json_t *doc, *definitions = json_object();

	count(&g, schema_profile(), false, false, true);
	for (size_t i = 0; i < g.defs.n; i++)
		if (g.defs.v[i].uses > 1)
			name_def(&g, &g.defs.v[i]);
	doc = value_of(&g, schema_profile(), false);
	for (size_t i = 0; i < g.defs.n; i++) {
		const struct def *d = &g.defs.v[i];

		if (d->name)
			put(definitions, d->name, body(&g, d, d->nullable));
	}
	put(doc, "definitions", definitions);
	put(doc, "$schema", json_string("http://json-schema.org/draft-07/schema#"));
	put(doc, "$id", json_string("railhead-profile.schema.json"));
	put(doc, "title", json_string("railhead profile or drop-in"));
	for (size_t i = 0; i < g.defs.n; i++)
		free(g.defs.v[i].name);
	vec_free(&g.defs);
	return doc;
}
