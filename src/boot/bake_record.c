/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/mem.h"
#include "boot/bake.h"

enum { RECORD_SCHEMA = 1 };

static void entry_free(struct bake_entry *e)
{
	free(e->path);
	free(e->text);
	free(e->was);
	free(e->before);
}

void bake_record_free(struct bake_record *rec)
{
	for (size_t i = 0; i < rec->entries.n; i++)
		entry_free(&rec->entries.v[i]);
	vec_free(&rec->entries);
	strv_free(&rec->dirs);
	free(take_ptr(rec->read));
}

struct bake_entry *bake_record_find(const struct bake_record *rec, const char *path)
{
	for (size_t i = 0; i < rec->entries.n; i++)
		if (streq(rec->entries.v[i].path, path))
			return &rec->entries.v[i];
	return NULL;
}

/* --- reading -------------------------------------------------------------------------------- */

static bool is_path(const char *path)
{
	return path && *path == '/' && path[1] && path[strlen(path) - 1] != '/';
}

static char *text_or_null(const json_t *obj, const char *key)
{
	const char *text = json_string_value(json_object_get(obj, key));

	return text ? xstrdup(text) : NULL;
}

static bool parse_entry(const json_t *obj, struct bake_record *ret)
{
	struct bake_entry e = {
		.path = text_or_null(obj, "path"),
		.text = text_or_null(obj, "text"),
		.was = text_or_null(obj, "was"),
		.before = text_or_null(obj, "before"),
		.link = json_is_true(json_object_get(obj, "link")),
	};
	bool good = is_path(e.path) && e.text && !bake_record_find(ret, e.path);

	if (good)
		vec_push(&ret->entries, e);
	else
		entry_free(&e);
	return good;
}

static bool parse_doc(const json_t *doc, struct bake_record *ret)
{
	const json_t *made = json_object_get(doc, "made"), *dirs = json_object_get(doc, "dirs");
	size_t i;
	json_t *v;

	if (json_integer_value(json_object_get(doc, "schema")) != RECORD_SCHEMA ||
	    !json_is_array(made) || !json_is_array(dirs))
		return false;
	json_array_foreach(made, i, v)
	{
		if (!parse_entry(v, ret))
			return false;
	}
	json_array_foreach(dirs, i, v)
	{
		if (!is_path(json_string_value(v)))
			return false;
		strv_add(&ret->dirs, json_string_value(v));
	}
	return true;
}

int bake_record_parse(const char *text, struct bake_record *ret, struct err *err)
{
	struct bake_record rec = {0};
	json_error_t why;
	json_t *doc = json_loads(text, JSON_REJECT_DUPLICATES, &why);
	bool good = doc && parse_doc(doc, &rec);

	if (good) {
		rec.read = xstrdup(text);
		*ret = rec;
	} else {
		bake_record_free(&rec);
		err_set(err, -EBADMSG,
			BAKE_RECORD " is damaged, or a newer railhead wrote it (%s), so the files "
				    "that bake made in this tree are unknown: look for them by "
				    "hand, remove the record and bake again",
			doc ? "its schema is not 1, or a part is missing" : why.text);
	}
	json_decref(doc);
	return good ? 0 : -EBADMSG;
}

/* --- writing -------------------------------------------------------------------------------- */

static json_t *entry_to_json(const struct bake_entry *e)
{
	json_t *obj = json_pack("{s:s, s:s}", "path", e->path, "text", e->text);

	if (e->link)
		json_object_set_new(obj, "link", json_true());
	if (e->was)
		json_object_set_new(obj, "was", json_string(e->was));
	if (e->before)
		json_object_set_new(obj, "before", json_string(e->before));
	return obj;
}

char *bake_record_text(const struct bake_record *rec)
{
	json_t *made = json_array(), *dirs = json_array(), *doc;
	cleanup_free char *text = NULL;
	char *line;

	for (size_t i = 0; i < rec->entries.n; i++)
		json_array_append_new(made, entry_to_json(&rec->entries.v[i]));
	for (size_t i = 0; i < rec->dirs.n; i++)
		json_array_append_new(dirs, json_string(rec->dirs.v[i]));
	doc = json_pack("{s:s, s:i, s:o, s:o}", "note",
			"what railhead bake made here; railhead bake --undo takes it away",
			"schema", RECORD_SCHEMA, "made", made, "dirs", dirs);
	text = json_dumps(doc, JSON_INDENT(2));
	line = xasprintf("%s\n", text ? text : "");
	json_decref(doc);
	return line;
}
