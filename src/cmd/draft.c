/* SPDX-License-Identifier: GPL-2.0-or-later */
/* draft [NAME]: a starter profile for this node or snapshot, on stdout. */
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/cmd.h"
#include "profile/draft.h"
#include "profile/search.h"

/* The profile that the search path has for this node, or NULL; the caller frees. */
static char *find_fitting(struct invocation *inv, const struct node *node, const char *name)
{
	struct match match = {0};
	struct err err = {0};
	char *fits = NULL;

	if (match_profiles(profiles_root(inv), node, NULL, false, &match, &err) < 0)
		return NULL;
	/* the search path may have the draft itself already */
	if (match.chosen && !streq(match.chosen->name, name ?: ""))
		fits = xstrdup(match.chosen->name);
	match_free(&match);
	return fits;
}

static int run(struct invocation *inv)
{
	const char *wanted = inv->nargs ? inv->args[0] : NULL;
	cleanup_str struct str text = {0};
	cleanup_free char *name = NULL, *fits = NULL;
	struct err err = {0};
	struct node node;
	bool way_in;
	int code = EXIT_OK;

	if (wanted && !profile_name_is_valid(wanted))
		return fail(EXIT_USAGE,
			    "draft: '%s' is not a profile's name: lower case letters, digits and . "
			    "_ -, without .yaml",
			    wanted);
	if (node_survey(&inv->root, &node, &err) < 0)
		return fail(EXIT_INTERNAL, "%s", err.text);
	fits = find_fitting(inv, &node, wanted);
	if (draft_profile(&inv->root, &node, wanted, fits, &name, &way_in, &text, &err) < 0) {
		complain("draft: %s", err.text);
		code = EXIT_NO_MATCH;
	} else {
		if (!way_in)
			complain("warning: " DRAFT_NO_WAY_IN);
		if (fits)
			complain("note: the profile %s is for this machine already (railhead show "
				 "%s)",
				 fits, fits);
		fputs(str_get(&text), stdout);
		if (!isatty(STDOUT_FILENO))
			fprintf(stderr,
				"railhead: save the profile as %s.yaml, because a profile has "
				"the name of its file\n",
				name);
	}
	node_free(&node);
	return code;
}

const struct verb verb_draft = {
	.name = "draft",
	.args = "[NAME]",
	.help = "write a starter profile for this node",
	.options = OPT_ROOT,
	.max_args = 1,
	.run = run,
};
