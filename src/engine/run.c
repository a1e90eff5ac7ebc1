/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening a run: mode of the boot, survey, match, freeze, plan. */
#include "engine/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/mode.h"
#include "engine/freeze.h"

static void say(struct run *run, enum run_status status, const char *text)
{
	run->status = status;
	err_set(&run->why, -ECANCELED, "%s", text);
}

/* Returns false if nothing may be done in this boot. */
static bool may_run(struct run *run)
{
	cleanup_free char *why = NULL;

	switch (boot_mode(run->root, run->node.cmdline, &why)) {
	case BOOT_NORMAL:
		return true;
	case BOOT_OFF:
		say(run, RUN_OFF, why ? why : "railhead=off is on the kernel command line");
		return false;
	case BOOT_SPECIAL:
		break;
	}
	say(run, RUN_SPECIAL, why ? why : "this is no normal boot");
	return false;
}

static int load_file(struct run *run, struct err *err)
{
	int r = profile_load(run->root, run->opt.profile_file, false, &run->node, &run->loaded,
			     &run->diags, err);

	if (r < 0 && !run->diags.errors)
		return r;
	run->profile = run->loaded;
	if (r < 0 || run->diags.errors) {
		cleanup_free char *text = xasprintf("%s has errors", run->opt.profile_file);

		say(run, RUN_INVALID, text);
	}
	return 0;
}

static int find_match(struct run *run, struct err *err)
{
	cleanup_free char *pin = kargs_value(run->node.cmdline, "railhead.profile");
	int r = match_profiles(run->root, &run->node, pin, &run->match, err);

	if (r < 0)
		return r;
	switch (run->match.result) {
	case MATCH_ONE:
		run->profile = run->match.chosen->profile;
		break;
	case MATCH_NONE:
		say(run, RUN_NONE, run->match.why.text);
		break;
	case MATCH_TWO:
		say(run, RUN_TWO, run->match.why.text);
		break;
	case MATCH_INVALID:
		say(run, RUN_INVALID, run->match.why.text);
		break;
	}
	return 0;
}

static void unfit(struct run *run, const struct err *why)
{
	cleanup_free char *text = xasprintf("profile %s does not fit this machine: %s",
					    run->profile->name, why->text);

	say(run, RUN_UNFIT, text);
}

static void make_plan(struct run *run)
{
	struct step_ctx ctx = {run->root, &run->node, run->profile, &run->sets};
	struct err why = {0};

	device_sets_prepare(run->root, &run->node, run->profile->devices.v,
			    run->profile->devices.n);
	if (device_sets_resolve(&run->node, run->profile->devices.v, run->profile->devices.n,
				&run->sets, &why) < 0 ||
	    steps_kargs(&ctx, &run->kargs, &why) < 0 || steps_emit(&ctx, &run->plan, &why) < 0)
		unfit(run, &why);
}

static int choose(struct run *run, struct err *err)
{
	int r = run->opt.profile_file ? load_file(run, err) : find_match(run, err);
	struct err why = {0};

	if (r < 0 || run->status != RUN_OK)
		return r;
	r = freeze_profile(run->root, run->profile, run->opt.freeze, &why);
	if (r == -ESTALE) {
		say(run, RUN_CHANGED, why.text);
		return 0;
	}
	if (r < 0)
		return err_set(err, r, "%s", why.text);
	make_plan(run);
	return 0;
}

int run_open(const struct root *root, const struct run_options *opt, struct run *ret,
	     struct err *err)
{
	int r;

	memset(ret, 0, sizeof(*ret));
	ret->root = root;
	ret->opt = *opt;
	r = node_survey(root, &ret->node, err);
	if (r < 0)
		return r;
	/* A plan may be looked at anywhere; only what could write asks first. */
	if (opt->freeze != FREEZE_IGNORE && !may_run(ret))
		return 0;
	r = choose(ret, err);
	if (r < 0)
		run_close(ret);
	return r;
}

void run_close(struct run *run)
{
	plan_free(&run->plan);
	kargs_free(&run->kargs);
	device_sets_free(&run->sets);
	match_free(&run->match);
	profile_free(run->loaded);
	diags_free(&run->diags);
	node_free(&run->node);
}

const struct diags *run_diags(const struct run *run)
{
	if (run->opt.profile_file)
		return &run->diags;
	return run->match.chosen ? &run->match.chosen->diags : NULL;
}
