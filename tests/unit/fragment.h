/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of a profile, with the values that the schema gives them. What they lack is not asked for.
 */
#pragma once

#include "base/mem.h"
#include "profile/schema.h"
#include "profile/yaml.h"

/* "gate: {wait: 5m}"; the caller frees it. */
static inline struct ynode *fragment(const char *text)
{
	struct diags diags = {0};
	struct ynode *doc = yaml_parse("sku.yaml", text, strlen(text), &diags);

	assert_non_null(doc);
	schema_check(doc, SCHEMA_PROFILE, &diags);
	diags_free(&diags);
	return doc;
}

/* "{run: jitter, cpus: 2-7}", a check of the gate */
static inline struct ynode *check_fragment(const char *text)
{
	cleanup_free char *whole = xasprintf("gate: {checks: {x: %s}}", text);
	cleanup_ynode struct ynode *doc = fragment(whole);

	return ynode_copy(ynode_get(ynode_get(ynode_get(doc, "gate"), "checks"), "x"));
}
