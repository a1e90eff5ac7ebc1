/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows.h"

#include <ctype.h>

#include "base/mem.h"
#include "profile/keypath.h"

enum { PARTS_MAX = 32 }; /* parts of a path */

/* --- all rows ------------------------------------------------------------------------------ */

static void add_keys(struct rows *ret, const struct spec *map, struct str *path,
		     enum key_class class);

static void add_row(struct rows *ret, const struct field *field, const struct spec *spec,
		    const struct str *path, enum key_class class)
{
	struct row row = {
		.path = xstrdup(str_get(path)),
		.field = field,
		.spec = spec,
		.class = class,
		.group = spec->kind == SPEC_MAP || spec->kind == SPEC_MAP_OF,
	};

	vec_push(&ret->list, row);
}

/* Adds the rows below a value: keys of a map, of a map's values, or of maps in a list. */
static void add_below(struct rows *ret, const struct field *field, const struct spec *spec,
		      struct str *path, enum key_class class)
{
	const struct spec *of_items =
		spec->kind == SPEC_LIST ? spec_for(spec->item, YAML_MAP) : NULL;
	size_t was = path->len;

	if (spec->kind == SPEC_MAP) {
		add_keys(ret, spec, path, class);
	} else if (spec->kind == SPEC_MAP_OF) {
		keypath_key(path, spec->any);
		add_row(ret, field, spec->item, path, class);
		add_below(ret, field, spec->item, path, class);
	} else if (of_items && of_items->kind == SPEC_MAP) {
		str_add(path, "[]");
		add_keys(ret, of_items, path, class);
	} else if (spec->kind == SPEC_EITHER && spec->map) {
		add_keys(ret, spec->map, path, class);
	}
	keypath_back(path, was);
}

static void add_keys(struct rows *ret, const struct spec *map, struct str *path,
		     enum key_class class)
{
	for (const struct field *f = map->fields; f->name; f++) {
		size_t was = keypath_key(path, f->name);
		enum key_class own = f->class != KEY_INHERITS ? f->class : class;

		add_row(ret, f, f->spec, path, own);
		add_below(ret, f, f->spec, path, own);
		keypath_back(path, was);
	}
}

void rows_of(const struct spec *top, struct rows *ret)
{
	cleanup_str struct str path = {0};

	add_keys(ret, top, &path, KEY_GOVERNS);
}

void rows_free(struct rows *rows)
{
	for (size_t i = 0; i < rows->list.n; i++)
		free(rows->list.v[i].path);
	vec_free(&rows->list);
}

/* --- finding a row ------------------------------------------------------------------------- */

struct path {
	char *part[PARTS_MAX];
	size_t n;
	char *text;
};

/* "hugepages[0].size" -> "hugepages", "size"; the '+' of `key+:` is dropped. */
static struct path split(const char *text)
{
	struct path p = {.text = xstrdup(text)};
	char *rest = p.text, *part;

	while ((part = strsep(&rest, ".")) && p.n < PARTS_MAX) {
		part[strcspn(part, "[+")] = '\0';
		p.part[p.n++] = part;
	}
	return p;
}

/* Keys of these maps may contain dots: sysctls, paths. */
static bool may_have_dots(const char *part)
{
	return streq(part, "KEY") || streq(part, "PATH");
}

/* The number of parts with equal names, or -1 if the row does not match. */
static int matches(char *const *row, size_t n_row, char *const *wanted, size_t n)
{
	int best = -1;

	if (!n_row || !n)
		return n_row || n ? -1 : 0;
	if (!**wanted)
		return -1;
	if (!isupper((unsigned char)**row)) {
		int r = streq(*row, *wanted) ? matches(row + 1, n_row - 1, wanted + 1, n - 1) : -1;

		return r < 0 ? -1 : r + 1;
	}
	for (size_t k = 1; k <= (may_have_dots(*row) ? n : 1); k++) {
		int r = matches(row + 1, n_row - 1, wanted + k, n - k);

		best = r > best ? r : best;
	}
	return best;
}

static const struct row *find(const struct rows *rows, const struct path *wanted)
{
	const struct row *found = NULL;
	int best = -1;

	for (size_t i = 0; i < rows->list.n; i++) {
		struct path row = split(rows->list.v[i].path);
		int r = matches(row.part, row.n, wanted->part, wanted->n);

		if (r > best) {
			best = r;
			found = &rows->list.v[i];
		}
		free(row.text);
	}
	return found;
}

/* For "link.mtu" the key that is meant, link.SET.mtu, rather than a set named mtu. */
static const struct row *key_of_any(const struct rows *rows, const struct row *map,
				    const struct path *wanted)
{
	cleanup_free char *meant = xasprintf("%s.%s", map->path, wanted->part[wanted->n - 1]);

	for (size_t i = 0; i < rows->list.n; i++)
		if (streq(rows->list.v[i].path, meant))
			return &rows->list.v[i];
	return map;
}

const struct row *rows_find(const struct rows *rows, const char *path)
{
	struct path wanted = split(path);
	const struct row *found = find(rows, &wanted);

	if (found && found->group)
		found = key_of_any(rows, found, &wanted);
	free(wanted.text);
	return found;
}

bool row_is_below(const struct row *row, const struct row *top)
{
	size_t len = strlen(top->path);

	return strncmp(row->path, top->path, len) == 0 &&
	       (!row->path[len] || row->path[len] == '.' || row->path[len] == '[');
}

/* --- similar rows -------------------------------------------------------------------------- */

static bool is_near(const char *part, const char *known)
{
	return nearest_word(part, (const char *const[]){known, NULL}) != NULL;
}

/* Of equal length, with one similar name and all others equal. */
static bool differs_in_one(const struct path *row, const struct path *wanted)
{
	size_t near = 0;

	if (row->n != wanted->n)
		return false;
	for (size_t i = 0; i < row->n; i++) {
		if (isupper((unsigned char)*row->part[i]) || streq(row->part[i], wanted->part[i]))
			continue;
		if (!is_near(wanted->part[i], row->part[i]))
			return false;
		near++;
	}
	return near == 1;
}

/*
 * Only for paths of several names: for a single name, a key with exactly this name is a better
 * suggestion than a section with a similar name.
 */
static bool differs_in_one_of_several(const struct path *row, const struct path *wanted)
{
	return wanted->n > 1 && differs_in_one(row, wanted);
}

static bool ends_alike(const struct path *row, const struct path *wanted)
{
	return wanted->n && streq(row->part[row->n - 1], wanted->part[wanted->n - 1]);
}

static bool ends_nearly_alike(const struct path *row, const struct path *wanted)
{
	return wanted->n && is_near(wanted->part[wanted->n - 1], row->part[row->n - 1]);
}

void rows_near(const struct rows *rows, const char *path, struct strv *ret)
{
	static bool (*const ways[])(const struct path *, const struct path *) = {
		differs_in_one_of_several, ends_alike, differs_in_one, ends_nearly_alike};
	struct path wanted = split(path);

	for (size_t w = 0; w < array_len(ways) && !ret->n; w++)
		for (size_t i = 0; i < rows->list.n; i++) {
			struct path row = split(rows->list.v[i].path);

			if (ways[w](&row, &wanted))
				strv_add(ret, rows->list.v[i].path);
			free(row.text);
		}
	free(wanted.text);
}

const char *key_class_name(enum key_class class)
{
	static const char *const names[] = {
		[KEY_INHERITS] = "",	   [KEY_SETS] = "sets",	      [KEY_JUDGES] = "judges",
		[KEY_SELECTS] = "selects", [KEY_GOVERNS] = "governs",
	};

	return names[class];
}
