/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The language as a JSON Schema, draft-07, for editors: another reading of the tables in
 * language*.c. It never refuses what `check` takes; it takes more, since rules between values,
 * bases and units' ranges are beyond it. One schema serves profiles and drop-ins.
 *
 * Editors read YAML 1.2, where 16 is an integer and 6.1 a number: what a check says of such a
 * text decides which types a value may have.
 */
#pragma once

#include <jansson.h>

#include "profile/schema.h"

/* The whole document; the caller drops it. Write it with JSON_SORT_KEYS: that is its order. */
json_t *json_schema(void);
/* One scalar on its own. */
json_t *json_schema_scalar(const struct spec *spec, bool nullable);
/* What a scalar must match when it is a string: an expression, or NULL. See language.h. */
const char *json_schema_pattern(const struct spec *spec);
