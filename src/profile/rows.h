/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The language as a list: a row for each key, by its path, in the order of a document. */
#pragma once

#include "profile/schema.h"

struct row {
	char *path; /* "link.SET.rings.rx", "hugepages[].size": capitals stand for any key */
	const struct field *field;
	const struct spec *spec; /* of the value that stands there */
	enum key_class class;	 /* of the field, or of the nearest key above that has one */
	bool group;		 /* a map: its keys are rows of their own */
};

struct rows {
	VEC(struct row) list;
};

void rows_of(const struct spec *top, struct rows *ret);
void rows_free(struct rows *rows);

/*
 * The row that a path names, which may be one of a profile ("link.rails.mtu", "hugepages[0].size",
 * "sysctl.net.core.rmem_max") or the row's own. NULL: there is none.
 */
const struct row *rows_find(const struct rows *rows, const char *path);
/* Whether the row is that one, or below that one. */
bool row_is_below(const struct row *row, const struct row *top);
/* Paths that may be meant by one that names no row, the nearest alone; none: nothing is near. */
void rows_near(const struct rows *rows, const char *path, struct strv *ret);

const char *key_class_name(enum key_class class); /* "sets" */
