/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The language as a list: one row for each key, identified by its path, in document order. */
#pragma once

#include "profile/schema.h"

struct row {
	char *path; /* "link.SET.rings.rx", "hugepages[].size"; capitals stand for any key */
	const struct field *field;
	const struct spec *spec; /* of the value at this path */
	enum key_class class;	 /* of the field, or of the nearest key above with a class */
	bool group;		 /* a map whose keys have rows of their own */
};

struct rows {
	VEC(struct row) list;
};

void rows_of(const struct spec *top, struct rows *ret);
void rows_free(struct rows *rows);

/*
 * The row for a path: a row's own path, or a path in a profile ("link.rails.mtu",
 * "hugepages[0].size", "sysctl.net.core.rmem_max"). NULL: no row.
 */
const struct row *rows_find(const struct rows *rows, const char *path);
/* Whether row is top, or below top. */
bool row_is_below(const struct row *row, const struct row *top);
/* Appends the paths nearest to a path that names no row; appends nothing if none is near. */
void rows_near(const struct rows *rows, const char *path, struct strv *ret);

const char *key_class_name(enum key_class class); /* "sets" */
