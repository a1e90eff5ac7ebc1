/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The language as a JSON Schema, draft-07, for editors, generated from the tables of the language.
 * It never rejects a document that `check` accepts. It accepts more, because it cannot express
 * rules between values, bases and the ranges of units. One schema serves profiles and drop-ins.
 *
 * Editors read YAML 1.2, where 16 is an integer and 6.1 a number. So the types of a value are those
 * whose texts its check accepts.
 */
#pragma once

#include <jansson.h>

#include "profile/schema.h"

/*
 * The whole document; the caller drops the reference. Write it with JSON_SORT_KEYS, so that the
 * order is stable.
 */
json_t *json_schema(void);
/* The schema of one scalar. */
json_t *json_schema_scalar(const struct spec *spec, bool nullable);
