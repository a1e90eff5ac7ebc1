/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens a run: mode of the boot, survey, match, freeze, plan. */
#include "engine/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/mode.h"
#include "checks/xid.h"
#include "engine/freeze.h"
#include "engine/hold_back.h"
#include "kinds/kind.h"
#include "profile/search.h"
#include "profile/section.h"
#include "sections/sections.h"
#include "sys/acs.h"

static void say(struct run *run, enum run_status status, enum fault fault, const char *text)
{
	run->status = status;
	err_set(&run->why, -ECANCELED, "%s", text);
	err_fault(&run->why, -ECANCELED, fault);
}

/* Returns false if nothing may be done in this boot. */
static bool may_run(struct run *run)
{
	cleanup_free char *why = NULL;

	switch (boot_mode(run->root, run->node.cmdline, &why)) {
	case BOOT_NORMAL:
		return true;
	case BOOT_OFF:
		say(run, RUN_OFF, FAULT_BOOT_OFF,
		    why ? why : "railhead=off is on the kernel command line");
		return false;
	case BOOT_SPECIAL:
		break;
	}
	say(run, RUN_SPECIAL, FAULT_BOOT_SPECIAL, why ? why : "this is not a normal boot");
	return false;
}

static void load_given(struct run *run)
{
	struct err why = {0};
	int r = profile_load_named(run->profiles, run->given, &run->node, &run->loaded, &run->diags,
				   &why);
	cleanup_free char *text = NULL;

	run->profile = run->loaded;
	if (r == 0)
		return;
	text = run->diags.errors ? xasprintf("%s has errors", run->given) : xstrdup(why.text);
	say(run, RUN_INVALID, run->diags.errors ? FAULT_PROFILE_INVALID : FAULT_PROFILE_UNKNOWN,
	    text);
}

static int find_match(struct run *run, struct err *err)
{
	cleanup_free char *pin = kargs_value(run->node.cmdline, "railhead.profile");
	int r = 0;

	if (run->opt.nfiles)
		match_files(run->profiles, &run->node, run->opt.files, run->opt.nfiles,
			    run->opt.all, &run->match);
	else
		r = match_profiles(run->profiles, &run->node, pin, run->opt.all, &run->match, err);
	if (r < 0)
		return r;
	switch (run->match.result) {
	case MATCH_ONE:
		run->profile = run->match.chosen->profile;
		break;
	case MATCH_NONE:
		say(run, RUN_NONE, FAULT_PROFILE_NONE, run->match.why.text);
		break;
	case MATCH_TWO:
		say(run, RUN_TWO, FAULT_PROFILE_TWO, run->match.why.text);
		break;
	case MATCH_INVALID:
		say(run, RUN_INVALID,
		    run->match.why.fault ? run->match.why.fault : FAULT_PROFILE_INVALID,
		    run->match.why.text);
		break;
	}
	return 0;
}

static void unfit(struct run *run, const struct err *why)
{
	cleanup_free char *text = xasprintf("profile %s does not fit this machine: %s",
					    run->profile->name, why->text);

	say(run, RUN_UNFIT, FAULT_PROFILE_UNFIT, text);
}

struct section_ctx run_sections(const struct run *run)
{
	return (struct section_ctx){.root = run->root,
				    .node = &run->node,
				    .profile = run->profile,
				    .sets = &run->sets,
				    .kargs = &run->kargs};
}

static void make_plan(struct run *run)
{
	const struct section_ctx ctx = run_sections(run);
	struct err why = {0};

	device_sets_prepare(run->root, &run->node, run->profile->devices.v,
			    run->profile->devices.n);
	if (device_sets_resolve(&run->node, run->profile->devices.v, run->profile->devices.n,
				&run->sets, &why) < 0 ||
	    sections_kargs(&ctx, &run->kargs, &why) < 0)
		unfit(run, &why);
	else
		sections_emit(&ctx, &run->plan);
	hold_back(&ctx, &run->plan);
	if (run->opt.lessons)
		plan_learn(&run->plan, run->opt.lessons);
	run->opt.lessons = NULL; /* the caller's */
}

/* A unit runs in another directory. */
static char *absolute(const char *arg)
{
	char *path = profile_is_name(arg) ? NULL : realpath(arg, NULL);

	return path ? path : xstrdup(arg);
}

/*
 * The units of a boot after the first one act on the profile that the first one froze. Where its
 * files have not changed, the other profiles of the search path need not be read again.
 */
static bool load_frozen(struct run *run, const struct frozen *f)
{
	if (!f->name || run->opt.nfiles)
		return false;
	if (profile_load_named(run->profiles, f->name, &run->node, &run->loaded, &run->diags,
			       NULL) == 0 &&
	    streq(run->loaded->digest, f->digest)) {
		run->profile = run->loaded;
		return true;
	}
	profile_free(run->loaded);
	run->loaded = NULL;
	diags_free(&run->diags);
	return false;
}

/*
 * For a look after the verdict: the frozen profile, by its files or, if they say otherwise now, by
 * its own text. run->why then has the reason.
 */
static bool load_judged(struct run *run, const struct frozen *f)
{
	struct err why = {0};
	int r;

	if (run->opt.freeze != FREEZE_LATER || !f->name)
		return false;
	r = profile_load_named(run->profiles, run->given ? run->given : f->name, &run->node,
			       &run->loaded, &run->diags, &why);
	if (r == 0 && !streq(run->loaded->digest, f->digest))
		r = err_set(&why, -ESTALE, "the profile has changed");
	else if (r == -ENOENT)
		err_set(&why, r, "the file of the profile is gone");
	diags_free(&run->diags);
	if (r < 0) { /* a directory of profiles that is absent is in why, too */
		profile_free(run->loaded);
		run->loaded = frozen_profile(run->root, f);
		if (run->loaded)
			run->why = why;
	}
	run->profile = run->loaded;
	return run->loaded;
}

/* This run's --profile, that of the run that froze the profile, the frozen one, or a match. */
static int find_profile(struct run *run, struct err *err)
{
	struct frozen f = {0};
	int r = 0;

	if (!run->opt.profile &&
	    (run->opt.freeze == FREEZE_BOOT || run->opt.freeze == FREEZE_LATER))
		frozen_read(run->root, &f);
	run->given = run->opt.profile ? absolute(run->opt.profile) : take_ptr(f.given);
	if (load_judged(run, &f))
		r = 0;
	else if (run->given)
		load_given(run);
	else if (!load_frozen(run, &f))
		r = find_match(run, err);
	frozen_free(&f);
	return r;
}

static int choose(struct run *run, struct err *err)
{
	struct err why = {0};
	int r = find_profile(run, err);

	if (r < 0 || run->status != RUN_OK)
		return r;
	r = freeze_profile(run->root, run->profile, run->given, run->opt.freeze, &run->was, &why);
	if (r == -ESTALE) {
		say(run, RUN_CHANGED, FAULT_PROFILE_CHANGED, why.text);
		return 0;
	}
	if (r < 0)
		return err_copy(err, r, &why);
	make_plan(run);
	return 0;
}

/* Unreadable policy stops every run that writes or judges, because policy must not be guessed. */
static bool site_is_sound(struct run *run)
{
	site_load(run->root, &run->site, &run->diags);
	if (!run->diags.errors || run->opt.freeze == FREEZE_IGNORE)
		return true;
	say(run, RUN_INVALID, FAULT_HOST_CONF, "railhead.conf, or a drop-in of it, is invalid");
	return false;
}

static int survey(struct run *run, struct err *err)
{
	struct node *known = run->opt.survey;

	if (!known || !known->root)
		return node_survey(run->root, &run->node, err);
	run->node = *known;
	*known = (struct node){0};
	return 0;
}

struct node run_take_survey(struct run *run)
{
	struct node moved = run->node;

	run->node = (struct node){0};
	return moved;
}

int run_open(const struct root *root, const struct run_options *opt, struct run *ret,
	     struct err *err)
{
	bool sound;
	int r;

	memset(ret, 0, sizeof(*ret));
	ret->root = root;
	ret->profiles = opt->profiles ? opt->profiles : root;
	ret->opt = *opt;
	r = survey(ret, err);
	if (r < 0)
		return r;
	ret->acs = acs_new(root);
	ret->log = kernel_log_new(root, XID_BEGIN);
	sound = site_is_sound(ret);
	/* A plan may be made anywhere; only runs that could write check the mode. */
	if (opt->freeze != FREEZE_IGNORE && !may_run(ret))
		return 0;
	if (!sound)
		return 0;
	diags_free(&ret->diags); /* of a file that binds only runs that write */
	r = choose(ret, err);
	if (r < 0)
		run_close(ret);
	return r;
}

int run_withdraw(const struct run *run, struct err *err)
{
	int r = 0;

	for (const struct section *const *s = sections; r == 0 && *s; s++)
		if ((*s)->lasting && root_exists(run->root, "%s", (*s)->lasting))
			r = file_remove(run->root, (*s)->lasting, err);
	return r;
}

void run_close(struct run *run)
{
	plan_free(&run->plan);
	stored_free(missing_list_stored, &run->missing);
	acs_free(run->acs);
	kernel_log_free(run->log);
	kargs_free(&run->kargs);
	device_sets_free(&run->sets);
	match_free(&run->match);
	profile_free(run->loaded);
	diags_free(&run->diags);
	node_free(&run->node);
	free(run->given);
	free(run->was);
}

const struct diags *run_diags(const struct run *run)
{
	return run->match.chosen ? &run->match.chosen->diags : &run->diags;
}

/* --- its verdict ------------------------------------------------------------------------- */

void run_verdict(const struct run *run, struct verdict *ret)
{
	static const enum verdict_kind kinds[] = {
		[RUN_OFF] = VERDICT_OFF,	 [RUN_SPECIAL] = VERDICT_OFF,
		[RUN_NONE] = VERDICT_NONE,	 [RUN_TWO] = VERDICT_BLOCKED,
		[RUN_INVALID] = VERDICT_BLOCKED, [RUN_CHANGED] = VERDICT_BLOCKED,
		[RUN_UNFIT] = VERDICT_BLOCKED,
	};
	const struct diags *diags = run_diags(run);
	enum fault fault = run->why.fault;

	verdict_simple(ret, kinds[run->status], fault, run->why.text);
	ret->admit = (run->status == RUN_OFF && run->site.admit_off) ||
		     (run->status == RUN_NONE && run->site.admit_none);
	if (ret->admit)
		findings_say(&ret->findings, fault, NULL,
			     run->status == RUN_OFF
				     ? "railhead.conf still admits work (admit_off)"
				     : "railhead.conf still admits work (admit_none)");
	for (size_t i = 0; run->status == RUN_INVALID && i < diags->list.n; i++) {
		cleanup_free char *line = diag_format(&diags->list.v[i]);

		findings_say(&ret->findings, fault, NULL, line);
	}
}

void run_warn_of_unread(const struct run *run, struct verdict *v)
{
	cleanup(diags_free) struct diags unread = {0};

	profile_files_unread(run->profiles, &unread);
	for (size_t i = 0; i < unread.list.n; i++) {
		cleanup_free char *line = diag_format(&unread.list.v[i]);

		findings_add(&v->findings, &(struct finding){.fault = FAULT_PROFILE_UNREAD,
							     .on_fail = ON_FAIL_WARN,
							     .why = line});
	}
}

void run_end_at(enum run_end *end, enum run_end at)
{
	if (*end == END_DONE || (*end == END_NO_PROFILE && at == END_BROKEN))
		*end = at;
}
