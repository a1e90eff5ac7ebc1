/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check: validates files, or all that a boot of a tree reads, offline; all errors, not the first.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "boot/seal.h"
#include "cmd/cmd.h"
#include "profile/json_schema.h"
#include "profile/search.h"
#include "sections/derived.h"

static json_t *diag_to_json(const struct diag *d)
{
	return json_pack("{s:s, s:i, s:i, s:s, s:s, s:s}", "file", d->at.file ? d->at.file : "",
			 "line", (int)d->at.line, "column", (int)d->at.col, "key",
			 d->key ? d->key : "", "severity", d->warning ? "warning" : "error",
			 "message", d->text);
}

/* The machine that profiles are judged for. */
struct machine {
	const struct root *root;
	struct node *node; /* NULL: none is known */
	struct seals seals;
};

/* What a file is judged as: a profile, or a drop-in of one. */
struct verdict_of_file {
	struct profile *profile;
	bool dropin;
	char *target; /* of a drop-in: its profile's file, or NULL */
};

static json_t *file_to_json(const char *path, const struct verdict_of_file *f, bool good,
			    const struct diags *diags)
{
	json_t *list = json_array(), *obj;

	for (size_t i = 0; i < diags->list.n; i++)
		json_array_append_new(list, diag_to_json(&diags->list.v[i]));
	obj = json_pack("{s:s, s:b, s:o}", "path", path, "ok", good, "diagnostics", list);
	if (f->profile)
		json_object_update_new(obj, json_pack("{s:s, s:s, s:s}", "name", f->profile->name,
						      "version", f->profile->version, "digest",
						      f->profile->digest));
	if (f->dropin)
		json_object_set_new(obj, "dropin_of",
				    f->target ? json_string(f->target) : json_null());
	return obj;
}

static void print_good(const char *path, const struct verdict_of_file *f)
{
	if (f->profile)
		printf("%s: ok, profile %s %s, digest %.12s\n", path, f->profile->name,
		       f->profile->version, f->profile->digest);
	else if (f->target)
		printf("%s: ok, drop-in of %s\n", path, f->target);
	else if (!f->dropin)
		printf("%s: ok\n", path);
	else
		printf("%s: ok, a drop-in by itself: no valid profile that it belongs to was "
		       "found\n",
		       path);
}

/* What its kernel arguments would do to the machine beyond what they are for. */
static void warn_of_seals(const struct seals *seals, struct place at, const char *key,
			  struct diags *diags)
{
	for (size_t i = 0; i < seals->list.n; i++) {
		cleanup_free char *text = seal_sentence(&seals->list.v[i]);

		diag_warn(diags, at, key, "%s", text);
	}
}

/* The arguments of all sections together, as far as they are known: the boot's own check. */
static void judge_kargs(const struct profile *p, const struct machine *m, struct diags *diags)
{
	const char *key = profile_section(p, "kernel_args") ? "kernel_args" : "hugepages";
	const struct ynode *at = profile_section(p, key);
	cleanup_kargs struct kargs wanted = {0};
	struct derived derived;
	struct err err = {0};

	if (!at)
		return;
	derive_kargs(m->root, m->node, p, &derived);
	for (size_t i = 0; i < derived.list.n; i++)
		for (size_t j = 0; j < derived.list.v[i].kargs.n; j++)
			kargs_add(&wanted, derived.list.v[i].kargs.v[j].text, NULL);
	derived_free(&derived);
	if (!wanted.n)
		return;
	if (kargs_check(&wanted, &err) < 0)
		diag_error(diags, at->at, key, "%s", err.text);
	warn_of_seals(&m->seals, at->at, key, diags);
}

/* A fault of the machine as well as of the profile: a warning, since only a node can tell. */
static void warn_of_sets(const struct profile *p, const struct machine *m, struct diags *diags)
{
	const struct ynode *devices = profile_section(p, "devices");
	struct device_sets sets = {0};
	struct err err = {0};

	device_sets_prepare(m->root, m->node, p->devices.v, p->devices.n);
	if (device_sets_resolve(m->node, p->devices.v, p->devices.n, &sets, &err) < 0)
		return; /* its in: is wrong, which a rule has reported */
	for (size_t i = 0; i < sets.set.n; i++) {
		const struct device_set *set = &sets.set.v[i];
		const struct ynode *at = ynode_get(devices, set->sel->name);
		cleanup_free char *key = xasprintf("devices.%s", set->sel->name), *fault = NULL;

		if (!at || device_set_holds(set))
			continue;
		fault = device_set_fault(m->node, p->devices.v, p->devices.n, set);
		diag_warn(diags, at->at, key, "%s", fault);
	}
	device_sets_free(&sets);
}

/* A file, what it is, and all that is wrong with it; returns an exit code. */
static int report(const char *path, const struct verdict_of_file *f, const struct diags *diags,
		  json_t *files)
{
	if (files)
		json_array_append_new(files, file_to_json(path, f, !diags->errors, diags));
	else
		print_diags(stdout, diags);
	if (!files && !diags->errors)
		print_good(path, f);
	return diags->errors ? EXIT_INVALID : EXIT_OK;
}

static void judge_profile(const struct root *root, const struct machine *m, const struct profile *p,
			  bool below, struct diags *diags)
{
	profile_check_unmerged(root, p, below, diags);
	judge_kargs(p, m, diags);
	if (m->node)
		warn_of_sets(p, m, diags);
}

/*
 * Prints what is wrong, or adds it to files; returns an exit code. m: the machine that it
 * is for; its node is NULL where none is known. name: of the search path; NULL: path is the
 * caller's own. ties: those of all profiles, or NULL.
 */
static int check_one(const struct root *root, const struct machine *m, const char *path,
		     const char *name, const struct diags *ties, json_t *files)
{
	struct verdict_of_file f = {.dropin = !name && profile_is_dropin(path)};
	struct diags diags = {0};
	struct err err = {0};
	int code, r;

	if (f.dropin)
		r = profile_check_dropin(root, path, &f.target, &diags, &err);
	else if (name)
		r = profile_load_named(root, name, m->node, &f.profile, &diags, &err);
	else
		r = profile_load(root, path, false, m->node, &f.profile, &diags, &err);
	if (r < 0 && !diags.errors)
		diag_error(&diags, (struct place){.file = path}, "", "%s",
			   name ? err.text : strerror(-r));
	if (f.profile)
		judge_profile(root, m, f.profile, name, &diags);
	for (size_t i = 0; ties && i < ties->list.n; i++)
		if (streq(ties->list.v[i].at.file, path))
			diag_error(&diags, ties->list.v[i].at, ties->list.v[i].key, "%s",
				   ties->list.v[i].text);
	code = report(path, &f, &diags, files);
	diags_free(&diags);
	profile_free(f.profile);
	free(f.target);
	return code;
}

/* --- all that a boot of a tree would read ---------------------------------------------------- */

static int check_site(const struct root *root, json_t *files)
{
	struct verdict_of_file f = {0};
	struct diags diags = {0};
	struct site site;
	int code = EXIT_OK;

	site_load(root, &site, &diags);
	if (diags.errors || root_exists(root, SITE_FILE))
		code = report(SITE_FILE, &f, &diags, files);
	diags_free(&diags);
	return code;
}

/* The profile that the boot would choose is judged against the machine, each other one without. */
static int check_tree(const struct root *root, const struct machine *m, const struct run *run,
		      json_t *files)
{
	const char *chosen = run->match.chosen ? run->match.chosen->name : "";
	const struct machine any = {.root = root};
	struct profile_files found = {0};
	struct diags ties = {0};
	struct err err = {0};
	int code = EXIT_OK;

	if (profile_files_list(root, &found, &err) < 0) {
		complain("%s", err.text);
		return EXIT_INTERNAL;
	}
	if (!m->node)
		match_ties(root, &ties);
	for (size_t i = 0; i < found.list.n; i++) {
		const struct profile_file *f = &found.list.v[i];
		const struct machine *of = streq(f->name, chosen) ? m : &any;

		if (!f->masked && !f->overridden_by &&
		    check_one(root, of, f->path, f->name, &ties, files))
			code = EXIT_INVALID;
	}
	if (check_site(root, files))
		code = EXIT_INVALID;
	if (code == EXIT_OK && m->node && run->status != RUN_OK)
		code = explain_run(run);
	diags_free(&ties);
	profile_files_free(&found);
	return code;
}

static int open_tree(struct invocation *inv, const struct machine *m, json_t *files)
{
	struct run_options opt = {.freeze = FREEZE_IGNORE};
	struct err err = {0};
	struct run run;
	int code;

	if (run_open(&inv->root, &opt, &run, &err) < 0) {
		complain("%s", err.text);
		return EXIT_INTERNAL;
	}
	code = check_tree(&inv->root, m, &run, files);
	run_close(&run);
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

static int check_files(struct invocation *inv)
{
	json_t *files = inv->json ? json_array() : NULL;
	const struct root *profiles = inv->nargs ? profiles_root(inv) : &inv->root;
	struct machine m = {.root = &inv->root};
	struct node node = {0};
	struct err err = {0};
	int code = EXIT_OK;

	/* An author's own machine is not the one that the profile is for. */
	if (inv->root_path && node_survey(&inv->root, &node, &err) < 0) {
		complain("%s", err.text);
		code = EXIT_INTERNAL;
	}
	if (cpus_count(&node.cpus) || node_functions(&node)->n) {
		m.node = &node; /* else the tree holds profiles, and no machine */
		seals_find(&inv->root, &m.seals);
	}
	for (int i = 0; i < inv->nargs && code != EXIT_INTERNAL; i++) {
		int one = check_one(profiles, &m, inv->args[i], NULL, NULL, files);

		if (one)
			code = one;
	}
	if (!inv->nargs && code == EXIT_OK) {
		inv->root.as_booted = true;
		code = open_tree(inv, &m, files);
	}
	if (files)
		print_json(json_pack("{s:o}", "files", files));
	seals_free(&m.seals);
	node_free(&node);
	return code;
}

static int run(struct invocation *inv)
{
	if (inv->schema && !inv->nargs)
		return print_schema();
	if (inv->schema || (!inv->nargs && !inv->root_path)) {
		complain("check: %s; see railhead check --help",
			 inv->nargs ? "--schema takes no PROFILE" : "too few arguments");
		return EXIT_USAGE;
	}
	return check_files(inv);
}

const struct verb verb_check = {
	.name = "check",
	.args = "[PROFILE...]",
	.help = "validate profiles offline; report every error with its place and the fix",
	.options = OPT_ROOT | OPT_JSON | OPT_SCHEMA,
	.min_args = 0, /* none with --schema, or --root */
	.max_args = 1000,
	.run = run,
};
