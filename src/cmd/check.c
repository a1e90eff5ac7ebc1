/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check: validates files, or all files that a boot of a tree reads, offline; reports all errors. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "boot/seal.h"
#include "cmd/cmd.h"
#include "kinds/claim.h"
#include "loader/grub.h"
#include "plan/change.h"
#include "profile/json_schema.h"
#include "profile/search.h"
#include "sections/derived.h"
#include "sections/kernel_line.h"

static json_t *diag_to_json(const struct diag *d)
{
	return json_pack("{s:s, s:i, s:i, s:s, s:s, s:s, s:s, s:s?}", "file",
			 d->at.file ? d->at.file : "", "line", (int)d->at.line, "column",
			 (int)d->at.col, "key", d->key ? d->key : "", "severity",
			 d->warning ? "warning" : "error", "code", d->code, "message", d->text,
			 "remedy", diag_remedy(d));
}

/* The machine that profiles are judged for. */
struct machine {
	const struct root *root;
	struct node *node; /* NULL: unknown */
	bool parses_kargs; /* its GRUB parses arguments as a script */
	char *sealed;	   /* why other kernel arguments would lock a disk; or NULL */
};

/* The state of one run of check. */
struct check {
	const struct root *profiles; /* has the search path */
	const struct machine *machine;
	const struct strv *bases_in; /* --bases */
	bool strict;		     /* warnings are errors */
	const struct plan *plan;     /* of the machine, with its profile; or NULL */
	json_t *files;		     /* the findings as JSON; NULL: they are printed */
	struct diags told;	     /* the printed diagnostics of all files */
};

/* A judged file: a profile, or a drop-in of a profile. */
struct verdict_of_file {
	struct profile *profile;
	bool dropin;
	char *target; /* of a drop-in: the file of its profile, or NULL */
};

static json_t *file_to_json(const char *path, const struct verdict_of_file *f, bool good,
			    const struct diags *diags)
{
	const struct profile *p = f->profile;
	json_t *list = json_array();

	for (size_t i = 0; i < diags->list.n; i++)
		json_array_append_new(list, diag_to_json(&diags->list.v[i]));
	return json_pack("{s:s, s:b, s:o, s:s*, s:s*, s:s*, s:o*}", "path", path, "ok", good,
			 "diagnostics", list, "name", p ? p->name : NULL, "version",
			 p ? p->version : NULL, "digest", p ? p->digest : NULL, "dropin_of",
			 f->dropin ? json_pack("s?", f->target) : NULL);
}

static void print_good(const char *path, const struct verdict_of_file *f)
{
	if (f->profile)
		printf("%s: ok, profile %s%s%s, digest %.12s\n", path, f->profile->name,
		       *f->profile->version ? " " : "", f->profile->version, f->profile->digest);
	else if (f->target)
		printf("%s: ok, drop-in of %s\n", path, f->target);
	else if (!f->dropin)
		printf("%s: ok\n", path);
	else
		printf("%s: ok, a drop-in of a profile that is missing or invalid\n", path);
}

/* An error only where a trial would be needed to bring the arguments. */
static void judge_seal(const struct machine *m, const struct kargs *wanted, struct place at,
		       const char *key, struct diags *diags)
{
	cleanup_kargs struct kargs missing = {0};

	if (!m->sealed)
		return;
	kargs_missing(wanted, m->node->cmdline, &missing);
	diags->code = "seal";
	if (missing.n)
		diag_error(diags, at, key, "%s", m->sealed);
	diags->code = NULL;
}

/* Checks each argument on its way through the boot loader of the machine or tree. */
static void judge_passage(const struct derived_section *d, struct place at, struct diags *diags)
{
	struct err err = {0};

	for (size_t i = 0; i < d->kargs.n; i++)
		if (karg_check_parsed(d->kargs.v[i].text, &err) < 0)
			diag_error(diags, at, d->section, "%s", err.text);
}

/* Checks the known arguments of all sections together, as the boot does. */
static void judge_kargs(const struct profile *p, const struct machine *m, struct diags *diags)
{
	cleanup_kargs struct kargs wanted = {0};
	const char *first = NULL;
	struct place at = {0};
	struct derived derived;
	struct err err = {0};

	derive_kargs(m->root, m->node, p, &derived);
	diags->code = "kernel-arguments";
	for (size_t i = 0; i < derived.list.n; i++) {
		const struct derived_section *d = &derived.list.v[i];

		for (size_t j = 0; j < d->kargs.n; j++)
			kargs_add(&wanted, d->kargs.v[j].text, NULL);
		if (!first && d->kargs.n) {
			first = d->section;
			at = profile_section(p, first)->at;
		}
		if (m->parses_kargs)
			judge_passage(d, profile_section(p, d->section)->at, diags);
	}
	derived_free(&derived);
	if (first && kargs_check(&wanted, &err) < 0)
		diag_error(diags, at, first, "%s", err.text);
	diags->code = NULL;
	if (first)
		judge_seal(m, &wanted, at, first, diags);
}

bool check_text(const struct root *root, const char *text, struct diags *ret)
{
	const struct machine any = {.root = root};
	cleanup_profile struct profile *p = NULL;
	int r = profile_check_text(root, "<stdin>", text, &p, ret);

	if (p)
		judge_kargs(p, &any, ret);
	return r == 0 && !ret->errors;
}

/* A warning only, because the machine may be at fault instead of the profile. */
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
		diags->code = "empty-set";
		diag_warn(diags, at->at, key, "%s", fault);
		diags->code = NULL;
	}
	device_sets_free(&sets);
}

/* Files that two sections set: plan and gate fail both changes. */
static void judge_contests(const struct plan *plan, const struct machine *m, struct diags *diags)
{
	const struct kind_ctx ctx = {.root = m->root, .node = m->node};

	diags->code = "contested-file";
	for (size_t i = 0; plan && i < plan->list.n; i++) {
		struct change *c = plan->list.v[i];
		struct claim claim cleanup_claim = {0};

		if (c->contests.list.n && claim_find(&ctx, c, &claim, NULL) == 0 && claim.contest)
			diag_error(diags, c->origin, c->id, "%s", claim.contest);
	}
	diags->code = NULL;
}

static bool is_told(const struct diags *told, const struct diag *d)
{
	for (size_t i = 0; i < told->list.n; i++) {
		const struct diag *o = &told->list.v[i];

		if (o->at.line == d->at.line && o->at.col == d->at.col &&
		    streq(o->at.file, d->at.file) && streq(o->key, d->key) &&
		    streq(o->text, d->text))
			return true;
	}
	return false;
}

/* Prints each error of a base once, and only a count for each profile that extends the base. */
static void print_new(struct check *c, const char *path, const struct diags *diags)
{
	size_t again = 0;

	for (size_t i = 0; i < diags->list.n; i++) {
		const struct diag *d = &diags->list.v[i];
		cleanup_free char *line = diag_format(d);

		if (is_told(&c->told, d)) {
			again += c->strict || !d->warning;
			continue;
		}
		printf("%s\n", line);
		diag_copy(&c->told, d);
	}
	if (again)
		printf("%s: %zu error%s, listed above\n", path, again, again == 1 ? "" : "s");
}

/* Reports a file, its type and its errors; returns an exit code. */
static int report(struct check *c, const char *path, const struct verdict_of_file *f,
		  struct diags *diags)
{
	bool good = c->strict ? !diags->list.n : !diags->errors;

	diags_sort(diags, path);
	if (c->files)
		json_array_append_new(c->files, file_to_json(path, f, good, diags));
	else
		print_new(c, path, diags);
	if (!c->files && good)
		print_good(path, f);
	return good ? EXIT_OK : EXIT_INVALID;
}

static void judge_profile(const struct check *c, const struct machine *m, const struct profile *p,
			  bool below, struct diags *diags)
{
	profile_check_unmerged(c->profiles, p, below, c->bases_in, diags);
	judge_kargs(p, m, diags);
	if (!m->node)
		return;
	kernel_lines_judge_files(m->root, p, diags);
	warn_of_sets(p, m, diags);
	judge_contests(c->plan, m, diags);
}

static void say_of_file(struct diags *diags, const char *path, const char *text)
{
	diags->code = "file";
	diag_error(diags, (struct place){.file = path}, "", "%s", text);
	diags->code = NULL;
}

/*
 * Reports the errors of a file; returns an exit code. m: the machine that the file is for; its node
 * is NULL if unknown. name: from the search path; NULL: the caller gave the path. ties: those of
 * all profiles, or NULL.
 */
static int check_one(struct check *c, const struct machine *m, const char *path, const char *name,
		     const struct diags *ties)
{
	const char *shown = name || !streq(path, "-") ? path : "<stdin>";
	struct verdict_of_file f = {.dropin = !name && profile_is_dropin(path)};
	struct diags diags = {0};
	struct err err = {0};
	int code, r;

	if (f.dropin)
		r = profile_check_dropin(c->profiles, path, c->bases_in, &f.target, &diags, &err);
	else if (name)
		r = profile_load_named(c->profiles, name, m->node, &f.profile, &diags, &err);
	else
		r = profile_load_checked(c->profiles, path, c->bases_in, m->node, &f.profile,
					 &diags, &err);
	if (r < 0 && !diags.errors)
		say_of_file(&diags, shown, name ? err.text : err_of_path(r));
	if (f.profile)
		judge_profile(c, m, f.profile, name, &diags);
	for (size_t i = 0; ties && i < ties->list.n; i++)
		if (streq(ties->list.v[i].at.file, path))
			diag_copy(&diags, &ties->list.v[i]);
	code = report(c, shown, &f, &diags);
	diags_free(&diags);
	profile_free(f.profile);
	free(f.target);
	return code;
}

/* --- directories --------------------------------------------------------------------------- */

/* Reports a fault of a path that names no profile. */
static int report_path(struct check *c, const char *path, const char *text)
{
	cleanup(diags_free) struct diags diags = {0};

	say_of_file(&diags, path, text);
	return report(c, path, &(struct verdict_of_file){0}, &diags);
}

/* True for a link to /dev/null, which masks a profile and has no content to check. */
static bool is_mask(const FTSENT *e)
{
	struct stat st;

	return e->fts_info == FTS_SL && stat(e->fts_accpath, &st) == 0 && S_ISCHR(st.st_mode);
}

/* Returns an exit code, EXIT_OK for a skipped entry. *n counts the profiles and drop-ins. */
static int check_entry(struct check *c, FTS *fts, FTSENT *e, size_t *n)
{
	bool hidden = *e->fts_name == '.' && e->fts_level > FTS_ROOTLEVEL;

	if (e->fts_info == FTS_D && hidden)
		fts_set(fts, e, FTS_SKIP);
	if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR || e->fts_info == FTS_NS)
		return report_path(c, e->fts_path, err_of_path(-e->fts_errno));
	if (e->fts_info == FTS_D || e->fts_info == FTS_DP || !profile_is_file_name(e->fts_name) ||
	    is_mask(e))
		return EXIT_OK;
	++*n;
	return check_one(c, c->machine, e->fts_path, NULL, NULL);
}

/* Checks all *.yaml below a directory, by name; skips hidden files and linked directories. */
static int check_directory(struct check *c, char *dir)
{
	FTS *fts = open_walk(dir);
	size_t n = 0;
	int code = EXIT_OK;
	FTSENT *e;

	if (!fts)
		return report_path(c, dir, err_of_path(-errno));
	while ((e = fts_read(fts)))
		if (check_entry(c, fts, e, &n))
			code = EXIT_INVALID;
	fts_close(fts);
	if (!n && code == EXIT_OK)
		return report_path(
			c, dir,
			"no *.yaml below this directory; give the directory of the profiles");
	return code;
}

static int check_arg(struct check *c, char *path)
{
	struct stat st;

	if (!streq(path, "-") && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return check_directory(c, path);
	return check_one(c, c->machine, path, NULL, NULL);
}

/* --- all that a boot of a tree would read ---------------------------------------------------- */

static int report_of(struct check *c, const char *path, const struct diags *all)
{
	cleanup(diags_free) struct diags of_path = {0};

	for (size_t i = 0; i < all->list.n; i++) {
		const struct diag *d = &all->list.v[i];

		if (streq(d->at.file, path))
			diag_copy(&of_path, d);
	}
	return report(c, path, &(struct verdict_of_file){0}, &of_path);
}

/* *n: the number of files. */
static int check_site(struct check *c, const struct root *root, size_t *n)
{
	cleanup_strv struct strv paths = {0};
	cleanup(diags_free) struct diags diags = {0}, unread = {0};
	struct site site;
	int code = EXIT_OK;

	site_load(root, &site, &diags);
	site_files(root, &paths, &unread);
	/* An unreadable directory is reported as a file. */
	for (size_t i = 0; i < unread.list.n; i++)
		strv_add(&paths, unread.list.v[i].at.file);
	for (size_t i = 0; i < paths.n; i++)
		if (report_of(c, paths.v[i], &diags) != EXIT_OK)
			code = EXIT_INVALID;
	*n = paths.n;
	return code;
}

static int complain_of_nothing(const struct root *root)
{
	return fail(EXIT_NO_MATCH,
		    "check: %s has no profiles in %s, %s or %s; install one there, or give the "
		    "path of a profile",
		    root->path, profile_dirs[0], profile_dirs[1], profile_dirs[2]);
}

/* Judges the profile that the boot would choose against the machine, other profiles alone. */
static int check_tree(struct check *c, const struct run *run)
{
	const struct root *root = c->profiles;
	const struct machine *m = c->machine;
	const char *chosen = run->match.chosen ? run->match.chosen->name : "";
	/* Profiles of another machine's may have another loader; those of an image have its own. */
	const struct machine any = {.root = root, .parses_kargs = !m->node && m->parses_kargs};
	cleanup(profile_files_free) struct profile_files found = {0};
	cleanup(diags_free) struct diags ties = {0}, unread = {0};
	struct err err = {0};
	int code = EXIT_OK;
	size_t n_site = 0;
	int r = profile_files_list(root, &found, &err);

	if (r == -EPERM)
		return report_path(c, root->path, err.text);
	if (r < 0)
		return fail(EXIT_INTERNAL, "%s", err.text);
	c->plan = run->status == RUN_OK ? &run->plan : NULL;
	if (!m->node)
		match_ties(root, &ties);
	for (size_t i = 0; i < found.list.n; i++) {
		const struct profile_file *f = &found.list.v[i];
		const struct machine *of = streq(f->name, chosen) ? m : &any;

		if (!f->masked && !f->overridden_by && check_one(c, of, f->path, f->name, &ties))
			code = EXIT_INVALID;
	}
	if (check_site(c, root, &n_site))
		code = EXIT_INVALID;
	profile_files_unread(root, &unread);
	for (size_t i = 0; i < unread.list.n; i++)
		code = report_of(c, unread.list.v[i].at.file, &unread);
	if (code == EXIT_OK && m->node && run->status != RUN_OK)
		return explain_run(run);
	if (code == EXIT_OK && !found.list.n && !n_site)
		return complain_of_nothing(root);
	return code;
}

static int open_tree(struct check *c)
{
	struct run_options opt = {.freeze = FREEZE_IGNORE};
	struct err err = {0};
	cleanup(run_close) struct run run = {0};

	if (run_open(c->profiles, &opt, &run, &err) < 0)
		return fail(EXIT_INTERNAL, "%s", err.text);
	return check_tree(c, &run);
}

static int print_schema(void)
{
	json_t *doc = json_schema();

	json_dumpf(doc, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
	putchar('\n');
	json_decref(doc);
	return EXIT_OK;
}

/* Checks each named file, or without files all that a boot of the tree reads. */
static int check_all(struct invocation *inv, struct check *c)
{
	int code = EXIT_OK;

	for (int i = 0; i < inv->nargs; i++)
		if (check_arg(c, inv->args[i]))
			code = EXIT_INVALID;
	if (inv->nargs)
		return code;
	inv->root.as_booted = true;
	return open_tree(c);
}

static int check_files(struct invocation *inv)
{
	struct machine m = {.root = &inv->root};
	struct check c = {.profiles = inv->nargs ? profiles_root(inv) : &inv->root,
			  .machine = &m,
			  .bases_in = inv->bases.n ? &inv->bases : NULL,
			  .strict = inv->strict,
			  .files = inv->json ? json_array() : NULL};
	struct node node = {0};
	struct err err = {0};
	int code = EXIT_OK;

	/* Without --root the machine is the author's, and the profile is for another one. */
	if (inv->root_path && node_survey(&inv->root, &node, &err) < 0)
		code = fail(EXIT_INTERNAL, "%s", err.text);
	m.parses_kargs = inv->root_path && grub_tree_parses_value(&inv->root);
	if (cpus_count(&node.cpus) || node_functions(&node)->n) {
		m.node = &node; /* otherwise the tree has profiles and no machine */
		m.sealed = seal_why_refused(&inv->root);
	}
	if (code == EXIT_OK)
		code = check_all(inv, &c);
	if (c.files)
		print_json(json_pack("{s:o}", "files", c.files));
	diags_free(&c.told);
	free(m.sealed);
	node_free(&node);
	return code;
}

static int run(struct invocation *inv)
{
	if (inv->schema && !inv->nargs)
		return print_schema();
	if (inv->schema || (!inv->nargs && !inv->root_path))
		return fail(EXIT_USAGE, "check: %s; see railhead check --help",
			    inv->nargs ? "--schema does not accept a PROFILE"
				       : "too few arguments");
	return check_files(inv);
}

const struct verb verb_check = {
	.name = "check",
	.args = "[PROFILE...]",
	.help = "validate profiles offline; report every error with its place and the fix",
	.options = OPT_ROOT | OPT_JSON | OPT_SCHEMA | OPT_BASES | OPT_STRICT,
	.min_args = 0, /* none with --schema or --root */
	.max_args = 1000,
	.run = run,
};
