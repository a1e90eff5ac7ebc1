/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A record of a test's own: the JSON text is of this boot and schema. Free it with record_free().
 */
#pragma once

#include "engine/record.h"

enum { RECORD_SCHEMA = 2 };

static inline struct record record_of(const char *text)
{
	json_t *doc = json_loads(text, 0, NULL);
	struct record r;
	char *whole;

	assert_non_null(doc);
	json_object_set_new(doc, "schema", json_integer(RECORD_SCHEMA));
	json_object_set_new(doc, "boot_id", json_string("b"));
	whole = json_dumps(doc, 0);
	record_parse(&r, whole, "b");
	free(whole);
	json_decref(doc);
	return r;
}
