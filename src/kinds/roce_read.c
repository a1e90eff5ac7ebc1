/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the files of one function in a child, because a firmware that hangs blocks its reader. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "kinds/roce.h"
#include "profile/section.h"
#include "sys/machine.h"
#include "sys/netlink.h"
#include "sys/read.h"

void cc_reads_free(struct cc_reads *reads)
{
	for (size_t i = 0; i < reads->list.n; i++) {
		free(reads->list.v[i].path);
		free(reads->list.v[i].text);
	}
	vec_free(&reads->list);
}

const struct cc_read *cc_find(const struct cc_reads *reads, const char *path)
{
	for (size_t i = 0; path && i < reads->list.n; i++)
		if (streq(reads->list.v[i].path, path))
			return &reads->list.v[i];
	return NULL;
}

/* path, result, text, each with its NUL */
static void record(struct str *out, const char *path, int result, const char *text)
{
	cleanup_free char *number = xasprintf("%d", result);

	str_addn(out, path, strlen(path) + 1);
	str_addn(out, number, strlen(number) + 1);
	str_addn(out, text, strlen(text) + 1);
}

static void read_one(const struct cc_place *place, const char *path, struct str *out)
{
	cleanup_free char *text = NULL;
	int r = path ? read_text(place->root, &text, NULL, "%s", path) : 0;

	if (path)
		record(out, path, r, text ? text : "");
}

/*
 * Opens a node that does not exist yet. If this fails, its error is the result of each read below
 * the node.
 */
static int open_node(const struct cc_place *place, const char *node, bool *made)
{
	cleanup_free char *parent = xstrdup(node);
	int r;

	*made = false;
	*strrchr(parent, '/') = '\0';
	if (!place->root->live || root_exists(place->root, "%s", node) ||
	    !root_exists(place->root, "%s", parent))
		return 0;
	r = machine_make_node(place->root, node, NULL);
	*made = r == 0;
	return r;
}

static void read_node(const struct cc_place *place, const char *pattern, struct strv *paths,
		      struct str *out)
{
	cleanup_free char *node = pattern ? cc_path(place, pattern, 0) : NULL;
	bool made = false;
	int r = node ? open_node(place, node, &made) : 0;

	for (size_t i = 0; i < paths->n; i++)
		if (r < 0)
			record(out, paths->v[i], r, "");
		else
			read_one(place, paths->v[i], out);
	if (made)
		machine_remove_node(place->root, node, NULL);
}

static void add(struct strv *paths, char *path)
{
	if (path)
		strv_add(paths, path);
	free(path);
}

/* Adds the files that rows of section qos have in the vendor's dialect. */
static void list_rows(const struct cc_place *place, const struct cc_vendor *v,
		      const struct field *rows, struct strv *paths)
{
	for (const struct field *row = rows; row->name; row++) {
		const struct roce_item *item = row->item;
		const struct cc_file *file;

		if (!item && row->spec->kind == SPEC_MAP)
			list_rows(place, v, row->spec->fields, paths);
		if (!item || item->sort.kind != &kind_roce)
			continue;
		file = &item->file[v->dialect];
		if (file->name)
			add(paths, cc_file(place, v, file->name));
		if (file->guard)
			add(paths, cc_file(place, v, file->guard));
	}
}

static void list_vendor(const struct cc_place *place, const struct cc_vendor *v, struct strv *paths)
{
	list_rows(place, v, section_find("qos")->spec->item->fields, paths);
	for (const char *const *file = v->port; file && *file; file++)
		add(paths, cc_file(place, v, *file));
	for (const char *const *file = v->enable; file && *file; file++)
		for (unsigned int prio = 0; prio < 8; prio++) {
			cleanup_free char *name = cc_path(place, *file, prio);

			add(paths, cc_file(place, v, name));
		}
}

static int question(const void *arg, struct netlink_answer *ret, struct err *err)
{
	const struct cc_place *place = arg;
	const struct cc_vendor *v = cc_vendor(place);
	cleanup_strv struct strv paths = {0}, cma = {0};
	struct str out = {0};

	(void)err;
	if (v)
		list_vendor(place, v, &paths);
	read_node(place, v ? v->node : NULL, &paths, &out);
	add(&cma, cc_path(place, CMA_TOS, 0));
	read_node(place, CMA_NODE, &cma, &out);
	strv_free(&cma);
	add(&cma, cc_path(place, CLASS_FILE, 0));
	read_node(place, NULL, &cma, &out);
	ret->len = out.len;
	ret->data = str_take(&out);
	return 0;
}

/* Parses the records of question(). */
static void parse(const struct netlink_answer *got, struct cc_reads *ret)
{
	const char *at = got->data, *end = at + got->len;

	while (at && at < end) {
		struct cc_read one = {.path = xstrdup(at)};

		at += strlen(at) + 1;
		one.result = atoi(at);
		at += strlen(at) + 1;
		one.text = xstrdup(at);
		at += strlen(at) + 1;
		vec_push(&ret->list, one);
	}
}

int cc_read_all(const struct cc_place *place, bool apart, struct cc_reads *ret, struct err *err)
{
	struct netlink_answer got cleanup_answer = {0};
	cleanup_free char *lock = xasprintf("the firmware or driver of %s", place->addr);
	int r = apart ? netlink_ask_apart(question, place, lock, NETLINK_APART_MS, &got, err)
		      : question(place, &got, err);

	if (r == 0)
		parse(&got, ret);
	return r;
}
