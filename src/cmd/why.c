/* SPDX-License-Identifier: GPL-2.0-or-later */
/* why: from a line of the profile to the current value and its other writers. */
#include "base/mem.h"
#include "base/str.h"
#include "cmd/cmd.h"
#include "engine/why.h"
#include "profile/rows.h"
#include "report/why.h"

enum { SHOWN = 6 }; /* of the keys that the user may mean */

/* A key of the language is spelt right, even if the profile does not have it. */
static bool is_key_of_language(const char *asked)
{
	cleanup(rows_free) struct rows rows = {0};

	rows_of(schema_profile(), &rows);
	return rows_find(&rows, asked);
}

static int unknown(const struct run *run, const char *asked, const struct why *why)
{
	cleanup_free char *said = str_printable(asked, UNKNOWN_MAX);
	cleanup_free char *list = strv_some(&why->near, SHOWN);

	if (why->near.n)
		complain("profile %s has no change, key or device '%s'; did you mean %s?",
			 run->profile->name, said, list);
	else if (is_key_of_language(asked))
		complain("profile %s does not set '%s', so railhead leaves it alone; `railhead "
			 "explain` describes the key",
			 run->profile->name, said);
	else
		complain("profile %s has no change, key or device '%s'; `railhead plan --all` "
			 "lists the changes, `railhead show %s` the keys",
			 run->profile->name, said, run->profile->name);
	return EXIT_USAGE;
}

/* Before a boot with railhead an absent device may still come (plan); afterwards not (verify). */
static enum stage stage_of(const struct record *r)
{
	return r->stage[STAGE_DEVICES].ran || r->stage[STAGE_GATE].ran ? STAGE_GATE : STAGE_COUNT;
}

static int run_why(struct invocation *inv)
{
	struct status status;
	struct run run;
	struct why why;
	int code = EXIT_OK;

	status_load(&inv->root, &status);
	if (!open_look(inv, &status.record, &run, &code)) {
		status_free(&status);
		return code;
	}
	look_at_all(&run, &status.record, stage_of(&status.record));
	if (!why_ask(&run, &status.record, inv->args[0], &why)) {
		code = unknown(&run, inv->args[0], &why);
	} else if (inv->json) {
		say_warnings(&status);
		print_json(why_to_json(&run, &status.record, &why));
	} else {
		struct screen screen = begin_page(inv);

		why_render(stdout, &run, &status.record, &why, &screen);
	}
	why_free(&why);
	status_free(&status);
	run_close(&run);
	return code;
}

const struct verb verb_why = {
	.name = "why",
	.args = "ID|KEY|DEVICE",
	.help = "explain a value: its line in the profile, who else sets it, what happened",
	.options = OPT_ROOT | OPT_JSON | OPT_PROFILE | OPT_SCREEN,
	.min_args = 1,
	.max_args = 1,
	.run = run_why,
};
