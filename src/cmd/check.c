/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check PROFILE...: validates files offline; all errors, not the first. */
#include <stdio.h>

#include "cmd/cmd.h"
#include "profile/json_schema.h"

static json_t *diag_to_json(const struct diag *d)
{
	return json_pack("{s:s, s:i, s:i, s:s, s:s, s:s}", "file", d->at.file ? d->at.file : "",
			 "line", (int)d->at.line, "column", (int)d->at.col, "key",
			 d->key ? d->key : "", "severity", d->warning ? "warning" : "error",
			 "message", d->text);
}

static json_t *file_to_json(const char *path, const struct profile *profile,
			    const struct diags *diags)
{
	json_t *list = json_array(), *obj;

	for (size_t i = 0; i < diags->list.n; i++)
		json_array_append_new(list, diag_to_json(&diags->list.v[i]));
	obj = json_pack("{s:s, s:b, s:o}", "path", path, "ok", profile && !diags->errors,
			"diagnostics", list);
	if (profile)
		json_object_update_new(obj, json_pack("{s:s, s:s, s:s}", "name", profile->name,
						      "version",
						      profile->version ? profile->version : "",
						      "digest", profile->digest));
	return obj;
}

/* Prints what is wrong, or adds it to files; returns an exit code. */
static int check_one(const struct root *root, const char *path, json_t *files)
{
	cleanup_profile struct profile *profile = NULL;
	struct diags diags = {0};
	struct err err = {0};
	int r = profile_load(root, path, false, NULL, &profile, &diags, &err);
	int code = r < 0 || diags.errors ? EXIT_INVALID : EXIT_OK;

	if (code && !diags.errors)
		complain("%s", err.text);
	if (files)
		json_array_append_new(files, file_to_json(path, code ? NULL : profile, &diags));
	else
		print_diags(stdout, &diags);
	if (!files && !code)
		printf("%s: ok, profile %s %s, digest %.12s\n", path, profile->name,
		       profile->version ? profile->version : "", profile->digest);
	diags_free(&diags);
	return code;
}

static int print_schema(void)
{
	json_t *doc = json_schema();

	json_dumpf(doc, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
	putchar('\n');
	json_decref(doc);
	return EXIT_OK;
}

static int run(struct invocation *inv)
{
	json_t *files;
	int code = EXIT_OK;

	if (inv->schema && !inv->nargs)
		return print_schema();
	if (inv->schema || !inv->nargs) {
		complain("check: %s; see railhead check --help",
			 inv->nargs ? "--schema takes no PROFILE" : "too few arguments");
		return EXIT_USAGE;
	}
	files = inv->json ? json_array() : NULL;
	for (int i = 0; i < inv->nargs; i++) {
		int one = check_one(&inv->root, inv->args[i], files);

		if (one)
			code = one;
	}
	if (files)
		print_json(json_pack("{s:o}", "files", files));
	return code;
}

const struct verb verb_check = {
	.name = "check",
	.args = "PROFILE...",
	.help = "validate profiles offline: every error, with its place and what would be right",
	.options = OPT_ROOT | OPT_JSON | OPT_SCHEMA,
	.min_args = 0, /* none with --schema */
	.max_args = 1000,
	.run = run,
};
