/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match: the profile that fits this node, and why the other profiles do not. */
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/cmd.h"
#include "report/explain.h"

static int run(struct invocation *inv)
{
	struct err err = {0};
	struct run_options opt = {.profiles = profiles_root(inv),
				  .files = inv->args,
				  .nfiles = (size_t)inv->nargs,
				  .all = inv->explain || inv->json,
				  .freeze = FREEZE_IGNORE};
	cleanup(run_close) struct run run = {0};

	if (run_open(&inv->root, &opt, &run, &err) < 0)
		return fail(EXIT_INTERNAL, "%s", err.text);
	if (inv->json) {
		print_json(match_to_json(&run.match, &run.node));
	} else {
		if (inv->explain)
			match_render(stdout, &run.match, &run.node, begin_page(inv).terminal);
		if (run.match.result == MATCH_ONE)
			printf("%s\n", run.match.chosen->name);
	}
	/* A match succeeds even if the profile can't be planned here, which plan reports. */
	return run.match.result == MATCH_ONE ? EXIT_OK : explain_run(&run);
}

const struct verb verb_match = {
	.name = "match",
	.args = "[PROFILE...]",
	.help = "print the profile that fits this node; --explain compares all of them",
	.options = OPT_ROOT | OPT_JSON | OPT_EXPLAIN | OPT_SCREEN,
	.max_args = 1000,
	.run = run,
};
