/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match: which profile fits this node, and why each other one does not. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/cmd.h"

static const char *fate(const struct candidate *c)
{
	if (c->chosen)
		return "chosen";
	if (!c->profile)
		return "invalid";
	if (c->profile->abstract)
		return "abstract";
	return c->matches ? "matches" : "no";
}

static json_t *to_json(const struct match *m)
{
	json_t *doc = json_object(), *list = json_array();

	for (size_t i = 0; i < m->candidates.n; i++) {
		const struct candidate *c = &m->candidates.v[i];
		json_t *reasons = json_array();

		for (size_t j = 0; j < c->reasons.n; j++)
			json_array_append_new(reasons, json_string(c->reasons.v[j]));
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s, s:o}", "name", c->name, "path",
						c->path, "result", fate(c), "conditions", reasons));
	}
	json_object_set_new(doc, "candidates", list);
	json_object_set_new(doc, "chosen",
			    m->result == MATCH_ONE ? json_string(m->chosen->name) : json_null());
	if (m->result != MATCH_ONE)
		json_object_set_new(doc, "reason", json_string(m->why.text));
	return doc;
}

static void explain(const struct match *m)
{
	for (size_t i = 0; i < m->candidates.n; i++) {
		const struct candidate *c = &m->candidates.v[i];

		printf("%-9s %-24s %s\n", fate(c), c->name, c->path);
		for (size_t j = 0; j < c->reasons.n; j++)
			printf("          %s\n", c->reasons.v[j]);
		print_diags(stdout, &c->diags);
	}
}

static int run(struct invocation *inv)
{
	struct err err = {0};
	struct run_options opt = {.freeze = FREEZE_IGNORE};
	struct run run;
	int code;

	if (run_open(&inv->root, &opt, &run, &err) < 0) {
		complain("%s", err.text);
		return EXIT_INTERNAL;
	}
	if (inv->json) {
		print_json(to_json(&run.match));
	} else {
		if (inv->explain)
			explain(&run.match);
		if (run.match.result == MATCH_ONE)
			printf("%s\n", run.match.chosen->name);
	}
	/* That a profile can't be planned here is for plan to say: it does match. */
	code = run.match.result == MATCH_ONE ? EXIT_OK : explain_run(&run);
	run_close(&run);
	return code;
}

const struct verb verb_match = {
	.name = "match",
	.args = "",
	.help = "which profile fits this node, and why each other one does not (--explain)",
	.options = OPT_ROOT | OPT_JSON | OPT_EXPLAIN,
	.run = run,
};
