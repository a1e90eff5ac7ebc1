/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * apply: one stage (the boot units) or all of them (by hand). Only the boot units and the
 * script of initramfs-tools may end in a reboot; by hand railhead says that one is due.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "boot/service.h"
#include "cmd/cmd.h"
#include "engine/flow.h"
#include "engine/journal.h"
#include "engine/watch.h"
#include "plan/render.h"
#include "report/changes.h"
#include "report/progress.h"
#include "sys/clock.h"
#include "sys/manager.h"
#include "sys/state.h"

/*
 * Budgets, in microseconds: each below its unit's TimeoutStartSec, so that railhead ends
 * and says why before systemd ends it.
 */
static const uint64_t stage_budget[] = {
	[STAGE_INITRD] = 90 * 1000000ULL,
	[STAGE_EARLY] = 90 * 1000000ULL,
	[STAGE_DEVICES] = 150 * 1000000ULL,
};

enum { LOCK_WAIT_US = 10 * 1000000 };

struct apply {
	struct invocation *inv;
	bool unit;	/* part of a boot, not by hand */
	bool initramfs; /* of packaging/initramfs-tools/railhead, which reboots for us */
	struct status status;
	struct flow flow;
	bool reboot;
	bool may_reboot; /* railhead.conf */
	int code;
};

static void worse(struct apply *a, int code)
{
	/* The first failure counts, and outranks a pending reboot. */
	if (code != EXIT_OK && (a->code == EXIT_OK || a->code == EXIT_REBOOT))
		a->code = code;
}

static void move(struct apply *a, enum flow_event event, const struct verdict *v)
{
	if (flow_move(&a->flow, event, v) < 0)
		worse(a, EXIT_INTERNAL);
}

static void add_premises(const struct run *run, struct reasons *reasons)
{
	for (size_t i = 0; i < run->plan.list.n; i++) {
		const struct change *c = run->plan.list.v[i];
		cleanup_free char *text = render_premise(c);

		if (text)
			reasons_add(reasons, fault_of_change(c), text);
	}
}

/*
 * Before the gate has spoken a node waits; after it, a stage that is run again leaves the
 * verdict alone as long as nothing that keeps work out failed and the profile is the same.
 */
static void stage_verdict(struct apply *a, const struct run *run, unsigned int stages,
			  const struct stage_result *result)
{
	bool same = streq(record_digest(&a->status.record), run->profile->digest);
	enum flow_event event = same ? FLOW_STAGE_HELD : FLOW_STAGE_OTHER;
	struct measurements nothing = {0};
	struct plan failed = {0};
	struct verdict v;

	for (size_t i = 0; i < run->plan.list.n; i++)
		if (run_covers(run->plan.list.v[i], stages, result->stage) &&
		    run->plan.list.v[i]->state == CHANGE_FAILED)
			vec_push(&failed.list, run->plan.list.v[i]);
	gate_judge(run->profile, &failed, &nothing, &v);
	if (v.admit) {
		verdict_free(&v);
		verdict_simple(&v, VERDICT_WAITING, FAULT_GATE_UNJUDGED,
			       "the gate has not judged this profile yet");
		add_premises(run, &v.reasons);
	} else {
		event = FLOW_STAGE_FAILED;
	}
	record_set_profile(&a->status.record, run->profile);
	move(a, event, &v);
	verdict_free(&v);
	vec_free(&failed.list);
}

/* Kernel arguments that will not come have an exit code of their own. */
static int code_of_failures(const struct run *run, const struct stage_result *result)
{
	size_t args = 0;

	for (size_t i = 0; i < run->plan.list.n; i++)
		args += run->plan.list.v[i]->kind == &kind_bootenv &&
			run->plan.list.v[i]->state == CHANGE_FAILED;
	if (!result->count[CHANGE_FAILED])
		return EXIT_OK;
	return args == result->count[CHANGE_FAILED] ? EXIT_ARGS : EXIT_FAILED;
}

static void record_no_run(struct apply *a, const struct run *run, enum stage stage)
{
	const struct verdict *was = &a->status.record.verdict;
	struct err err = {0};
	struct verdict v;

	worse(a, explain_run(run));
	if (run->status == RUN_SPECIAL)
		return; /* rescue, kdump, containers: nothing at all is written */
	if (stage == STAGE_EARLY && run_withdraw(run, &err) < 0)
		complain("%s", err.text);
	run_verdict(run, &v);
	record_set_profile(&a->status.record, run->profile);
	/* A stage does not let work in: what the gate let in before may stay. */
	v.admit &= was->admit && was->kind == v.kind;
	move(a, v.admit ? FLOW_STAGE_NO_PROFILE_STILL : FLOW_STAGE_NO_PROFILE, &v);
	verdict_free(&v);
}

static int open_run(struct apply *a, enum stage stage, struct run *run)
{
	struct run_options opt = {.profile = a->inv->profile,
				  .freeze = a->unit ? FREEZE_BOOT : FREEZE_ANEW,
				  .retry = a->inv->retry};
	struct err err = {0};
	int r = run_open(&a->inv->root, &opt, run, &err);

	/* Only a boot waits for hardware; by hand what is missing is said at once. */
	if (r == 0 && run->status == RUN_OK && stage == STAGE_DEVICES && a->unit &&
	    a->inv->root.live) {
		struct sink sink = make_sink(run);

		opt.waited = run_wait_devices(run, &sink);
		if (opt.waited) {
			run_close(run);
			r = run_open(&a->inv->root, &opt, run, &err);
		}
	}
	if (r < 0) {
		complain("%s", err.text);
		worse(a, EXIT_INTERNAL);
	}
	return r;
}

static void print_stage(const struct run *run, unsigned int stages,
			const struct stage_result *result)
{
	struct screen screen = screen_look();

	if (is_watched(run))
		changes_render(stdout, run, stages, result->stage, &screen);
	printf("%s: %zu matched, %zu set, %zu failed, %zu waiting, %.3f s\n",
	       stage_name(result->stage), result->count[CHANGE_SAME], result->count[CHANGE_SET],
	       result->count[CHANGE_FAILED],
	       result->count[CHANGE_WAITS] + result->count[CHANGE_DIFFERS],
	       (double)result->duration / 1e6);
}

/* In a boot the gate reports them. */
static void complain_of_premises(const struct run *run)
{
	struct reasons texts = {0};

	add_premises(run, &texts);
	for (size_t i = 0; i < texts.list.n; i++)
		complain("%s", texts.list.v[i].text);
	reasons_free(&texts);
}

/*
 * By hand on a node that works: what was made anew here was not lost. Where the verdict has
 * lapsed, what is lost stays so until the gate or apply --device.
 */
static void watch_again(struct apply *a, const struct run *run)
{
	struct watch watch;
	struct err err = {0};

	watch_load(&a->inv->root, &watch);
	if (watch.list.n && a->status.record.verdict.admit && watch_begin(run, &err) < 0)
		complain("%s", err.text);
	watch_free(&watch);
}

/*
 * Why stage early has to do the work of stage initrd too; NULL if that is done. The script of
 * initramfs-tools leaves its log however it ends.
 */
static const char *lack_of_initramfs(const struct apply *a, enum stage stage)
{
	if (stage != STAGE_EARLY || !a->unit || a->status.record.stage[STAGE_INITRD].ran)
		return NULL;
	if (root_exists(&a->inv->root, "/run/railhead/initramfs.log"))
		return "the initrd stage began in the initramfs and left no result (why is in the "
		       "kernel's log), so stage early did its work: options of modules that the "
		       "initramfs loaded are not set";
	return "the initrd stage did not run in the initramfs, or railhead-initrd.service failed "
	       "there, so stage early did its work: a reboot for kernel arguments takes longer, "
	       "and options of modules that the initramfs loaded are not set; if it has no "
	       "railhead in it, make it anew (dracut --force, update-initramfs -u)";
}

/* Returns false if no further stage makes sense. */
static bool apply_stage(struct apply *a, enum stage stage)
{
	uint64_t deadline = clock_usec() + stage_budget[stage];
	const char *lack = lack_of_initramfs(a, stage);
	unsigned int also = lack ? STAGES(STAGE_INITRD) : 0;
	struct stage_result result;
	struct sink sink;
	struct run run;

	if (open_run(a, stage, &run) < 0)
		return false;
	if (run.status != RUN_OK) {
		record_no_run(a, &run, stage);
		run_close(&run);
		return false;
	}
	if (lack)
		complain("early: %s", lack);
	say_frozen_anew(&run);
	sink = make_sink(&run);
	if (is_watched(&run))
		progress_begin(stage_name(stage));
	run_apply(&run, stage, also, deadline, &sink, &result);
	progress_end();
	journal_stage(&run, STAGES(stage) | also, &result);
	record_set_stage(&a->status.record, &run, STAGES(stage) | also, &result);
	record_set_lack(&a->status.record, stage, lack);
	stage_verdict(a, &run, STAGES(stage) | also, &result);
	if (stage == STAGE_DEVICES && result.count[CHANGE_SET])
		watch_again(a, &run);
	if (!a->inv->json)
		print_stage(&run, STAGES(stage) | also, &result);
	if (stage == STAGE_DEVICES && !a->unit)
		complain_of_premises(&run);
	worse(a, code_of_failures(&run, &result));
	a->reboot |= result.reboot;
	a->may_reboot = run.site.reboot;
	run_close(&run);
	return true;
}

static void reboot_now(struct apply *a)
{
	struct err err = {0};

	printf("kernel arguments were written; rebooting to bring them into force\n");
	fflush(stdout);
	if (a->initramfs) {
		/* Whatever else failed: with other arguments it may not. */
		a->code = EXIT_REBOOT;
		return;
	}
	if (service_reboot(&a->inv->root, &err) < 0)
		complain("reboot: %s", err.text);
	worse(a, EXIT_INTERNAL);
}

static void apply_stages(struct apply *a)
{
	enum stage first = a->inv->stage_name ? a->inv->stage : STAGE_INITRD;
	enum stage last = a->inv->stage_name ? a->inv->stage : STAGE_DEVICES;

	for (enum stage s = first; s <= last; s++) {
		if (!apply_stage(a, s))
			return;
		if (a->reboot && a->unit && a->may_reboot) {
			reboot_now(a);
			return;
		}
	}
	if (a->reboot && !a->unit)
		worse(a, EXIT_REBOOT);
	else if (a->reboot)
		complain("a reboot is due: kernel arguments were written, and %s says reboot: "
			 "false",
			 SITE_FILE);
}

/* There is no service manager yet that could tell who runs us, or reboot. */
static bool in_initramfs_script(const struct invocation *inv)
{
	return inv->stage_name && inv->stage == STAGE_INITRD && getenv("RAILHEAD_INITRAMFS");
}

/*
 * Where systemd counts no soft-reboots (254, 255) the unit of stage early begins another user
 * space, unless it had failed in this one and is only started again.
 */
static bool begins_user_space(const struct apply *a)
{
	return a->unit && a->inv->stage_name && a->inv->stage == STAGE_EARLY &&
	       a->status.record.stage[STAGE_EARLY].ran && !manager_has_booted();
}

static int run(struct invocation *inv)
{
	struct apply a = {.inv = inv, .initramfs = in_initramfs_script(inv)};
	cleanup_close int lock = -1;
	struct err err = {0};

	a.unit = a.initramfs || in_own_service();
	if (inv->device)
		return apply_device(inv);
	if (inv->stage_name && inv->stage == STAGE_GATE) {
		complain("apply: the gate stage is `railhead gate`");
		return EXIT_USAGE;
	}
	lock = state_lock(&inv->root, clock_usec() + LOCK_WAIT_US, &err);
	if (lock < 0) {
		complain("%s", err.text);
		return EXIT_INTERNAL;
	}
	status_load(&inv->root, &a.status);
	/* First thing in a boot: nothing of an earlier one admits work any more. */
	if (a.unit && inv->stage_name && inv->stage == STAGE_INITRD)
		status_of_initramfs(&a.status);
	else if (begins_user_space(&a))
		status_leave_user_space(&a.status);
	a.flow = (struct flow){.root = &inv->root, .status = &a.status, .complain = complain_text};
	if (a.status.new_user_space)
		move(&a, FLOW_USER_SPACE, NULL);
	/* In early again: what others were told outlives a boot, and initrd told them nothing. */
	if (!record_admits(&a.status.record))
		move(&a, FLOW_STAGE_BEGINS, NULL);
	apply_stages(&a);
	say_warnings(&a.status);
	if (inv->json)
		print_json(record_to_json(&a.status.record));
	status_free(&a.status);
	return a.code;
}

const struct verb verb_apply = {
	.name = "apply",
	.args = "",
	.help = "apply the profile; a second run writes nothing",
	.options = OPT_ROOT | OPT_JSON | OPT_STAGE | OPT_PROFILE | OPT_RETRY | OPT_DEVICE,
	.writes = true,
	.run = run,
};
