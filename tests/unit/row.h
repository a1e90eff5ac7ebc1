/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A row of a section, and what a profile says in it. */
#pragma once

#include "base/str.h"
#include "profile/section.h"
#include "profile/yaml.h"

/* Of a section of device sets, that of each set; no key is a map. */
static inline const struct field *row_find(const char *section, const char *key)
{
	const struct section *s = section_find(section);
	const struct field *row = spec_field(section_is_per_set(s) ? s->spec->item : s->spec, key);

	assert_non_null(row);
	return row;
}

/* Accepted by the row's own spec; the caller frees it, after whatever has its value. */
static inline struct ynode *row_value(const struct field *row, const char *text)
{
	const struct spec *spec = spec_for(row->spec, YAML_SCALAR);
	struct ynode *n = ynode_scalar((struct place){0}, text, true);
	cleanup_str struct str why = {0};

	if (!spec->check(spec, n, &why))
		fail_msg("%s", str_get(&why));
	n->value.spec = spec;
	return n;
}
