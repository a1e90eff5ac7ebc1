/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/lines.h"

#include <string.h>

#include "base/mem.h"
#include "profile/keypath.h"
#include "profile/yaml.h"

static void add(struct profile_lines *ret, struct str *path, const struct ynode *key,
		const struct ynode *value);

static void add_below(struct profile_lines *ret, struct str *path, const struct ynode *value)
{
	for (size_t i = 0; i < value->items.n; i++) {
		const struct ynode *key = value->kind == YAML_MAP ? value->keys.v[i] : NULL;
		size_t was = key ? keypath_key(path, key->text) : keypath_index(path, i);

		add(ret, path, key, value->items.v[i]);
		keypath_back(path, was);
	}
}

static void add(struct profile_lines *ret, struct str *path, const struct ynode *key,
		const struct ynode *value)
{
	struct profile_line line = {xstrdup(str_get(path)), key, value};

	if (streq(line.path, "extends")) {
		free(line.path);
		return;
	}
	vec_push(&ret->list, line);
	add_below(ret, path, value);
}

void profile_lines_of(const struct profile *p, struct profile_lines *ret)
{
	cleanup_str struct str path = {0};

	*ret = (struct profile_lines){0};
	add_below(ret, &path, p->doc);
}

void profile_lines_free(struct profile_lines *lines)
{
	for (size_t i = 0; i < lines->list.n; i++)
		free(lines->list.v[i].path);
	vec_free(&lines->list);
}

const struct profile_line *profile_lines_find(const struct profile_lines *lines, const char *path)
{
	for (size_t i = 0; i < lines->list.n; i++)
		if (streq(lines->list.v[i].path, path))
			return &lines->list.v[i];
	return NULL;
}

/* --- by place ------------------------------------------------------------------------------ */

static bool is_at(const struct ynode *n, struct place at)
{
	return n && n->at.line == at.line && n->at.col == at.col && n->at.file &&
	       streq(n->at.file, at.file);
}

static bool ends_with(const char *id, const char *name)
{
	size_t len = strlen(id), n = strlen(name);

	return len > n && id[len - n - 1] == '/' && streq(id + len - n, name);
}

const struct profile_line *profile_lines_at(const struct profile_lines *lines, struct place at,
					    const char *id)
{
	const struct profile_line *first = NULL;

	for (size_t i = 0; at.file && i < lines->list.n; i++) {
		const struct profile_line *line = &lines->list.v[i];

		if (!is_at(line->key, at) && !is_at(line->value, at))
			continue;
		if (line->key && ends_with(id, line->key->text))
			return line;
		first = first ? first : line;
	}
	return first;
}

bool profile_path_is_below(const char *path, const char *top)
{
	size_t len = strlen(top);

	return strncmp(path, top, len) == 0 && (!path[len] || strchr(".[", path[len]));
}
