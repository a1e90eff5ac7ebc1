/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check PROFILE...: validates files offline; all errors, not the first. */
#include <stdio.h>

#include "cmd/cmd.h"

static int check_one(const struct root *root, const char *path)
{
	cleanup_profile struct profile *profile = NULL;
	struct diags diags = {0};
	struct err err = {0};
	int r = profile_load(root, path, false, NULL, &profile, &diags, &err);
	size_t errors = print_diags(stdout, &diags);
	int code = EXIT_OK;

	if (errors || r < 0) {
		code = EXIT_INVALID;
		if (!errors)
			complain("%s", err.text);
	} else {
		printf("%s: ok, profile %s %s, digest %.12s\n", path, profile->name,
		       profile->version ? profile->version : "", profile->digest);
	}
	diags_free(&diags);
	return code;
}

static int run(struct invocation *inv)
{
	int code = EXIT_OK;

	for (int i = 0; i < inv->nargs; i++) {
		int one = check_one(&inv->root, inv->args[i]);

		if (one)
			code = one;
	}
	return code;
}

const struct verb verb_check = {
	.name = "check",
	.args = "PROFILE...",
	.help = "validate profiles offline: every error, with its place and what would be right",
	.options = OPT_ROOT,
	.min_args = 1,
	.max_args = 1000,
	.run = run,
};
