/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contradictions: what a profile is for. */
#include "profile/rules.h"

/* An empty map or list asks for nothing. */
static bool has_condition(const struct ynode *match)
{
	for (size_t i = 0; i < match->items.n; i++)
		if (match->items.v[i]->kind == YAML_SCALAR || match->items.v[i]->items.n)
			return true;
	return false;
}

static void match_is_there(struct ruling *r)
{
	const struct ynode *match = section(r, "match");

	if (r->p->abstract)
		return;
	/* an abstract: that is no boolean is one mistake, not two */
	if (!match && ynode_get(r->p->doc, "abstract") && !text_is(r->p->doc, "abstract", "false"))
		return;
	if (!match)
		rule_error(r, r->p->doc, "match",
			   "missing; say which machines this is for, or abstract: true if it is a "
			   "base for others");
	else if (match->kind == YAML_MAP && !has_condition(match))
		rule_error(r, match, "match",
			   "no condition, which would match every machine; write dmi: "
			   "{sys_vendor: ...}");
}

const struct rule rules_document[] = {
	{"match-is-there", match_is_there},
	{NULL, NULL},
};
