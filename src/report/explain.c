/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/explain.h"

#include <string.h>

#include "base/mem.h"
#include "report/inventory.h"
#include "report/sets.h"
#include "report/table.h"

enum { NEAREST_MAX = 3 };

const char *candidate_fate(const struct candidate *c)
{
	if (c->chosen)
		return c->diags.errors ? "invalid" : "chosen";
	if (!c->profile)
		return "invalid";
	if (c->profile->abstract)
		return "abstract";
	return c->matches ? "matches" : "no";
}

/* --- whose device sets are worth a look ---------------------------------------------------- */

struct nearest {
	const struct candidate *v[NEAREST_MAX];
	size_t n;
};

static size_t unmet(const struct candidate *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->conditions.list.n; i++)
		n += !c->conditions.list.v[i].holds;
	return n;
}

/* True for a profile of an entirely different machine: no condition holds. */
static bool is_far(const struct candidate *c)
{
	return !c->profile || c->profile->abstract || unmet(c) == c->conditions.list.n;
}

static struct nearest nearest_of(const struct match *m)
{
	struct nearest near = {.n = 0};
	size_t best = SIZE_MAX;

	if (m->result == MATCH_ONE) {
		near.v[near.n++] = m->chosen;
		return near;
	}
	for (size_t i = 0; i < m->candidates.n; i++)
		if (!is_far(&m->candidates.v[i]) && unmet(&m->candidates.v[i]) < best)
			best = unmet(&m->candidates.v[i]);
	for (size_t i = 0; i < m->candidates.n && near.n < NEAREST_MAX; i++) {
		const struct candidate *c = &m->candidates.v[i];

		if (!is_far(c) && unmet(c) == best && (!c->matches || !c->fate))
			near.v[near.n++] = c;
	}
	return near;
}

/* --- JSON --------------------------------------------------------------------------------- */

static json_t *conditions_to_json(const struct conditions *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->list.n; i++)
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:o, s:b}", "condition",
						c->list.v[i].key, "wanted", c->list.v[i].wanted,
						"found", text_json(c->list.v[i].found), "holds",
						c->list.v[i].holds));
	return list;
}

static json_t *diags_to_json(const struct diags *d)
{
	json_t *list = json_array();

	for (size_t i = 0; i < d->list.n; i++) {
		cleanup_free char *line = diag_format(&d->list.v[i]);

		json_array_append_new(list, text_json(line));
	}
	return list;
}

static json_t *candidate_to_json(const struct candidate *c)
{
	return json_pack("{s:o, s:o, s:s, s:o, s:o*, s:o*}", "name", text_json(c->name), "path",
			 text_json(c->path), "result", candidate_fate(c), "conditions",
			 conditions_to_json(&c->conditions), "reason", json_string(c->fate),
			 "diagnostics", c->diags.list.n ? diags_to_json(&c->diags) : NULL);
}

static json_t *devices_to_json(const struct match *m, const struct node *node)
{
	struct nearest near = nearest_of(m);
	json_t *obj = json_object();

	for (size_t i = 0; i < near.n; i++) {
		struct sets_account a;

		if (sets_account(node, near.v[i]->profile, &a, NULL) < 0)
			continue;
		json_object_set_new(obj, near.v[i]->profile->name, sets_to_json(&a));
		sets_account_free(&a);
	}
	return obj;
}

json_t *match_to_json(const struct match *m, const struct node *node)
{
	bool one = m->result == MATCH_ONE;
	json_t *list = json_array();

	for (size_t i = 0; i < m->candidates.n; i++)
		json_array_append_new(list, candidate_to_json(&m->candidates.v[i]));
	return json_pack("{s:o, s:s?, s:o*, s:o}", "candidates", list, "chosen",
			 one ? m->chosen->name : NULL, "reason",
			 one ? NULL : text_json(m->why.text), "devices", devices_to_json(m, node));
}

/* --- text --------------------------------------------------------------------------------- */

static void candidate_to_rows(struct table *t, const struct candidate *c)
{
	const char *fate = candidate_fate(c);
	size_t rows = t->rows.n;

	for (size_t i = 0; i < c->conditions.list.n; i++) {
		const struct condition *k = &c->conditions.list.v[i];

		table_add(t, c->name, fate, k->key, k->wanted, *k->found ? k->found : "(nothing)",
			  k->holds ? "ok" : "no");
	}
	/* The reason in addition to the conditions, or the lack of conditions. */
	if (c->fate || t->rows.n == rows)
		table_add(t, c->name, fate, c->fate ? c->fate : "(no condition)", "", "", "");
}

static void render_sets(FILE *out, const struct match *m, const struct node *node, bool aligned)
{
	struct nearest near = nearest_of(m);

	for (size_t i = 0; i < near.n; i++) {
		const struct candidate *c = near.v[i];
		struct sets_account a;

		if (!c->profile->devices.n || sets_account(node, c->profile, &a, NULL) < 0)
			continue;
		if (aligned)
			fprintf(out, "\ndevice sets of %s%s:\n", c->name,
				c->matches ? "" : ", which came nearest");
		else if (near.n > 1 || !c->matches)
			fprintf(out, "sets\t%s\n", c->name);
		sets_render(out, &a, aligned);
		sets_account_free(&a);
	}
}

void match_render(FILE *out, const struct match *m, const struct node *node, bool aligned)
{
	static const char *const heading[] = {"PROFILE", "RESULT", "CONDITION", "WANTED",
					      "FOUND",	 "",	   NULL};
	struct table t = {.name = "condition", .heading = heading};

	for (size_t i = 0; i < m->candidates.n; i++)
		candidate_to_rows(&t, &m->candidates.v[i]);
	table_print(out, &t, aligned);
	table_free(&t);
	for (size_t i = 0; i < m->candidates.n; i++)
		for (size_t j = 0; j < m->candidates.v[i].diags.list.n; j++) {
			cleanup_free char *line = diag_format(&m->candidates.v[i].diags.list.v[j]);

			fprintf(out, "%s%s\n", aligned ? "" : "problem\t", line);
		}
	render_sets(out, m, node, aligned);
	if (aligned && m->result == MATCH_ONE)
		fputc('\n', out);
}
