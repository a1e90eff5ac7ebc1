/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts of a record, which may be damaged: what is absent, or no text, has a value all the same. */
#pragma once

#include <jansson.h>

static inline const char *json_text(const json_t *obj, const char *key, const char *fallback)
{
	const char *s = json_string_value(json_object_get(obj, key));

	return s ? s : fallback;
}

/* Of a list; "" where there is no text. */
static inline const char *json_text_at(const json_t *list, size_t i)
{
	const char *s = json_string_value(json_array_get(list, i));

	return s ? s : "";
}
