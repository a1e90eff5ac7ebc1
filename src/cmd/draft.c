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
	cleanup(match_free) struct match match = {0};
	struct err err = {0};

	if (match_profiles(profiles_root(inv), node, NULL, false, &match, &err) < 0)
		return NULL;
	/* the search path may have the draft itself already */
	return match.chosen && !streq(match.chosen->name, or_empty(name))
		       ? xstrdup(match.chosen->name)
		       : NULL;
}

static int run(struct invocation *inv)
{
	const char *wanted = inv->nargs ? inv->args[0] : NULL;
	cleanup_str struct str text = {0};
	cleanup_free char *name = NULL, *fits = NULL;
	cleanup(node_free) struct node node = {0};
	struct err err = {0};
	bool way_in;

	if (wanted && !profile_name_is_valid(wanted))
		return fail(EXIT_USAGE,
			    "draft: '%s' is not a profile's name: lower case letters, digits and . "
			    "_ -, without .yaml",
			    wanted);
	if (node_survey(&inv->root, &node, &err) < 0)
		return fail(EXIT_INTERNAL, "%s", err.text);
	fits = find_fitting(inv, &node, wanted);
	if (draft_profile(&inv->root, &node, wanted, fits, &name, &way_in, &text, &err) < 0)
		return fail(EXIT_NO_MATCH, "draft: %s", err.text);
	if (!way_in)
		complain("warning: " DRAFT_NO_WAY_IN);
	if (fits)
		complain("note: the profile %s is for this machine already (railhead show %s)",
			 fits, fits);
	fputs(str_get(&text), stdout);
	if (!isatty(STDOUT_FILENO))
		complain("save the profile as %s.yaml, because a profile has the name of its file",
			 name);
	return EXIT_OK;
}

const struct verb verb_draft = {
	.name = "draft",
	.args = "[NAME]",
	.help = "write a starter profile for this node",
	.options = OPT_ROOT,
	.max_args = 1,
	.run = run,
};
