/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/service.h"
#include "cmd/cmd.h"
#include "engine/freeze.h"
#include "engine/journal.h"
#include "engine/watch.h"
#include "plan/change.h"
#include "plan/render.h"
#include "profile/search.h"
#include "profile/section.h"
#include "profile/yaml.h"
#include "report/pager.h"
#include "report/progress.h"
#include "sections/derived.h"

static void vcomplain(const char *fmt, va_list ap)
{
	fputs("railhead: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

void complain(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vcomplain(fmt, ap);
	va_end(ap);
}

int fail(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vcomplain(fmt, ap);
	va_end(ap);
	return code;
}

size_t print_diags(FILE *out, const struct diags *diags)
{
	for (size_t i = 0; diags && i < diags->list.n; i++) {
		cleanup_free char *line = diag_format(&diags->list.v[i]);

		fprintf(out, "%s\n", line);
	}
	return diags ? diags->errors : 0;
}

int exit_of_run(enum run_status status)
{
	static const int codes[] = {
		[RUN_OK] = EXIT_OK,	      [RUN_OFF] = EXIT_OK,
		[RUN_SPECIAL] = EXIT_OK,      [RUN_NONE] = EXIT_NO_MATCH,
		[RUN_TWO] = EXIT_NO_MATCH,    [RUN_INVALID] = EXIT_INVALID,
		[RUN_CHANGED] = EXIT_INVALID, [RUN_UNFIT] = EXIT_INVALID,
	};

	return codes[status];
}

int exit_of_end(enum run_end end, enum run_status status)
{
	static const int codes[] = {
		[END_DONE] = EXIT_OK,	    [END_REFUSED] = EXIT_OK,
		[END_UNKNOWN] = EXIT_USAGE, [END_BROKEN] = EXIT_INTERNAL,
		[END_FAILED] = EXIT_FAILED,
	};

	return end == END_NO_PROFILE ? exit_of_run(status) : codes[end];
}

int explain_run(const struct run *run)
{
	print_diags(stderr, run_diags(run));
	return fail(exit_of_run(run->status), "%s", run->why.text);
}

void say_warnings(const struct status *s)
{
	if (s->record.unreadable)
		complain("%s", s->record.unreadable);
	for (size_t i = 0; i < s->warnings.n; i++)
		complain("%s", s->warnings.v[i]);
}

void say_frozen_anew(const struct run *run)
{
	if (!run->was)
		return;
	complain("switched this boot's profile from %s to %s %.12s", run->was, run->profile->name,
		 run->profile->digest);
	journal_frozen(run);
}

const struct root *profiles_root(struct invocation *inv)
{
	if (inv->root.live || profile_dirs_exist(&inv->root))
		return &inv->root;
	if (inv->foreign.fd < 0) {
		if (root_init(&inv->foreign, NULL, NULL) < 0)
			return &inv->root;
		/* with named files, only bases and drop-ins may come from the search path */
		if (!inv->nargs && !inv->profile)
			fprintf(stderr,
				"note: %s has no profiles; railhead uses the profiles of this "
				"machine\n",
				inv->root.path);
	}
	return &inv->foreign;
}

bool open_look(struct invocation *inv, const struct record *record, struct run *run, int *code)
{
	struct run_options opt = {
		.profile = inv->profile, .profiles = profiles_root(inv), .freeze = FREEZE_IGNORE};
	struct err err = {0};

	if (record_open_run(record, &inv->root, &opt, run, &err) < 0) {
		*code = fail(EXIT_INTERNAL, "%s", err.text);
		return false;
	}
	if (run->status != RUN_OK) {
		*code = explain_run(run);
		run_close(run);
		return false;
	}
	if (inv->profile && !inv->json && !profile_fits(run->profile, &run->node)) {
		bool is_file = !profile_is_name(inv->profile);

		fprintf(stderr,
			"note: %s is not for this machine: its match: does not hold (railhead "
			"match --explain%s%s)\n",
			run->profile->name, is_file ? " " : "", is_file ? inv->profile : "");
	}
	return true;
}

void look_at_all(struct run *run, const struct record *record, enum stage running)
{
	const struct section_ctx ctx = run_sections(run);

	gate_plan(&ctx, &run->plan);
	run_look(run, STAGES_ALL, running);
	if (running == STAGE_GATE)
		record_recall_figures(record, run->profile, &run->plan);
}

bool load_named(struct invocation *inv, const char *arg, const struct node *node,
		struct profile **ret)
{
	cleanup(diags_free) struct diags diags = {0};
	struct err err = {0};
	int r = profile_load_named(profiles_root(inv), arg, node, ret, &diags, &err);

	diags_sort(&diags, arg);
	/* on a node, the profile's own diagnostics have been printed before */
	if (r < 0 || !node)
		print_diags(stderr, &diags);
	if (r < 0)
		complain("%s", err.text);
	return r == 0;
}

bool profile_fits(const struct profile *p, const struct node *node)
{
	return !p->abstract && conditions_hold(node, profile_section(p, "match"), NULL);
}

static int by_fts_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

FTS *open_walk(char *dir)
{
	char *paths[] = {dir, NULL};

	return fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_fts_name);
}

void complain_text(const char *text)
{
	complain("%s", text);
}

int open_target(const struct root *root, bool wait, int code)
{
	struct err err = {0};

	fflush(stdout);
	if (!root->live || service_open_target(wait, &err) == 0)
		return code;
	return fail(EXIT_INTERNAL, "%s", err.text);
}

void show_progress(const struct run *run, enum stage stage, bool begins)
{
	if (!begins)
		progress_end();
	else if (is_watched(run))
		progress_begin(stage_name(stage));
}

struct screen begin_page(const struct invocation *inv)
{
	struct screen screen = screen_look();

	if (!inv->no_pager)
		pager_begin();
	return screen;
}

void print_json(json_t *doc)
{
	bool before = screen_raw(true);

	json_dumpf(doc, stdout, JSON_INDENT(2));
	putchar('\n');
	screen_raw(before);
	json_decref(doc);
}

void gather_kargs(const struct root *root, const struct node *node, const struct profile *p,
		  struct kargs *ret, struct strv *unknown)
{
	cleanup(derived_free) struct derived derived;

	derive_kargs(root, node, p, &derived);
	for (size_t i = 0; i < derived.list.n; i++) {
		const struct derived_section *d = &derived.list.v[i];

		for (size_t j = 0; j < d->kargs.n; j++)
			kargs_add(ret, d->kargs.v[j].text, d->kargs.v[j].origin);
		for (size_t j = 0; j < d->unknown.n; j++) {
			const struct unknown *u = &d->unknown.v[j];
			cleanup_free char *line =
				xasprintf("%s:%u:%u: %s: %s", u->at.file ? u->at.file : "profile",
					  u->at.line, u->at.col, d->section, u->text);

			strv_add(unknown, line);
		}
	}
}

struct karg_heading heading_of(const struct profile *p)
{
	const char *arch = ynode_text(profile_section(p, "match"), "arch", "");

	return (struct karg_heading){p->name, p->version, *arch ? arch : NULL};
}

bool is_watched(const struct run *run)
{
	return run->opt.freeze != FREEZE_BOOT && isatty(STDERR_FILENO) && isatty(STDOUT_FILENO);
}

static void sink_change(void *data, enum stage stage, const struct change *c)
{
	cleanup_free char *reason = finding_reason(&c->now);
	const struct run *run = data;

	journal_change(run, stage, c);
	if (is_watched(run))
		return;
	/*
	 * In a unit stderr goes to the journal again, and to the console of a boot: only lines that
	 * a person at the console must see go there, too.
	 */
	if (run->opt.freeze == FREEZE_BOOT && c->now.state != CHANGE_FAILED)
		return;
	fprintf(stderr, "%s: %s: %s%s%s\n", stage_name(stage), c->id, state_name(c->now.state),
		reason ? ": " : "", or_empty(reason));
}

static void sink_progress(void *data, enum stage stage, const char *text)
{
	(void)data;
	fprintf(stderr, "%s: %s\n", stage_name(stage), text);
}

struct sink make_sink(const struct run *run)
{
	return (struct sink){(void *)run, sink_change, sink_progress};
}
