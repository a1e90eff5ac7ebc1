/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A change of section qos, as its rows make it; values are in the kernel's units. */
#pragma once

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "kind_run.h"
#include "kinds/dcb.h"
#include "kinds/roce.h"
#include "profile/value.h"
#include "row.h"

/* "dcqcn.np.cnp_dscp" */
static inline const struct field *qos_row(const char *path)
{
	const struct spec *spec = section_find("qos")->spec->item;
	cleanup_free char *copy = xstrdup(path);
	const struct field *row = NULL;
	char *rest = NULL;

	for (char *key = strtok_r(copy, ".", &rest); key; key = strtok_r(NULL, ".", &rest)) {
		row = spec_field(spec, key);
		assert_non_null(row);
		spec = row->spec;
	}
	return row;
}

static inline struct ynode qos_value(const struct spec *spec, const char *text, unsigned int scale)
{
	struct ynode n = {.text = (char *)text, .value = {.type = VALUE_NUMBER, .spec = spec}};
	cleanup_str struct str why = {0};

	if (spec && spec->check == value_word)
		assert_true(spec->check(spec, &n, &why));
	else
		n.value.number = strtoll(text, NULL, 10) * (scale ? scale : 1);
	return n;
}

/* "0 3", "26:3 48:6", "priorities 3:1 scheduling 1:strict" */
static inline void qos_parts(struct change *c, const struct field *row, const char *desired)
{
	cleanup_free char *copy = xstrdup(desired);
	const struct field *table = row;
	char *rest = NULL, *colon;

	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		struct ynode n;

		if (streq(word, "none"))
			continue;
		if (!isdigit((unsigned char)*word)) {
			table = spec_field(row->spec, word);
			assert_non_null(table);
			continue;
		}
		colon = strchr(word, ':');
		n = qos_value(table->spec->item, colon ? colon + 1 : word, 0);
		change_part(c, table->name, table == row ? NULL : table->item, &n)->index =
			(unsigned int)atoi(word);
	}
}

/* path: of a row; or what the section adds by itself: dcbx, roce_priority, lldpad */
static inline struct change *qos_add(struct run *run, const char *addr, const char *path,
				     const char *desired)
{
	const struct field added = {
		.name = path,
		.item = streq(path, "dcbx")	? (const void *)&dcb_dcbx
			: streq(path, "lldpad") ? (const void *)&dcb_lldpad
						: (const void *)&dcb_roce_priority,
	};
	bool own = streq(path, "dcbx") || streq(path, "lldpad") || streq(path, "roce_priority");
	const struct field *row = own ? &added : qos_row(path);
	const struct target_item *item = row->item;
	struct change *c =
		add_change(run, item->kind, PHASE_PORT, addr, path, "shown only", "shown only");

	change_on(c, addr, item);
	c->on.key = row->name;
	if (own || row->spec->kind == SPEC_SCALAR) {
		const struct roce_item *roce = item->kind == &kind_roce ? row->item : NULL;
		struct ynode n = qos_value(own ? NULL : row->spec, desired, roce ? roce->scale : 0);

		change_want(c, &n);
	} else {
		qos_parts(c, row, desired);
	}
	item_desired(c);
	assert_string_equal(c->desired, desired);
	return c;
}
