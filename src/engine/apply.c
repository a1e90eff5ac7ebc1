/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/apply.h"

#include <string.h>

#include "base/mem.h"
#include "boot/service.h"
#include "boot/view.h"
#include "engine/hold_back.h"
#include "engine/journal.h"
#include "engine/watch.h"
#include "plan/change.h"
#include "profile/section.h"
#include "sys/clock.h"
#include "sys/manager.h"
#include "sys/state.h"

/*
 * Budgets in microseconds. Each is shorter than TimeoutStartSec of its unit, so that railhead ends
 * and reports the reason before systemd kills it.
 */
static const uint64_t stage_budget[] = {
	[STAGE_INITRD] = 90 * 1000000ULL,
	[STAGE_EARLY] = 90 * 1000000ULL,
	[STAGE_DEVICES] = 150 * 1000000ULL,
};

enum { LOCK_WAIT_US = 10 * 1000000 };

static void move(struct apply *a, enum flow_event event, const struct verdict *v)
{
	struct flow flow = {.root = a->root, .status = &a->status, .complain = a->complain};

	if (flow_move(&flow, event, v) < 0)
		run_end_at(&a->end, END_BROKEN);
}

/* --- the verdict --------------------------------------------------------------------------- */

void apply_premises(const struct run *run, struct findings *ret)
{
	for (size_t i = 0; i < run->plan.list.n; i++)
		if (change_broken_premise(run->plan.list.v[i]))
			findings_add_change(ret, run->plan.list.v[i], 0);
}

/*
 * Before the gate has judged, the node waits. Afterwards, a stage that runs again leaves the
 * verdict alone if the profile is the same and no failure keeps work out.
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
		    run->plan.list.v[i]->now.state == CHANGE_FAILED)
			vec_push(&failed.list, run->plan.list.v[i]);
	gate_judge(run->profile, &failed, &nothing, &v);
	if (v.admit) {
		verdict_free(&v);
		verdict_simple(&v, VERDICT_WAITING, FAULT_GATE_UNJUDGED,
			       "the gate has not judged this profile yet");
		apply_premises(run, &v.findings);
	} else {
		event = FLOW_STAGE_FAILED;
	}
	if (!same)
		record_forget_figures(&a->status.record);
	record_set_profile(&a->status.record, run->profile);
	move(a, event, &v);
	verdict_free(&v);
	vec_free(&failed.list);
}

static void no_profile(struct apply *a, const struct run *run, enum stage stage)
{
	const struct verdict *was = &a->status.record.verdict;
	struct err err = {0};
	struct verdict v;

	run_end_at(&a->end, END_NO_PROFILE);
	a->run_status = run->status;
	if (run->status == RUN_SPECIAL)
		return; /* rescue, kdump, containers: nothing is written */
	if (stage == STAGE_EARLY && run_withdraw(run, &err) < 0)
		a->complain(err.text);
	run_verdict(run, &v);
	record_set_profile(&a->status.record, run->profile);
	/* A stage never admits work; it may keep the gate's admission. */
	v.admit &= was->admit && was->kind == v.kind;
	move(a, v.admit ? FLOW_STAGE_NO_PROFILE_STILL : FLOW_STAGE_NO_PROFILE, &v);
	verdict_free(&v);
}

/* --- a stage ------------------------------------------------------------------------------- */

static int open_run(struct apply *a, enum stage stage, struct node *known, struct run *run)
{
	struct run_options opt = {.profile = a->profile,
				  .freeze = a->unit ? FREEZE_BOOT : FREEZE_ANEW,
				  .survey = known};
	struct err err = {0};
	int r = run_open(a->root, &opt, run, &err);

	/* Only a boot waits for hardware; a run by hand reports missing hardware at once. */
	if (r == 0 && run->status == RUN_OK && stage == STAGE_DEVICES && a->unit && a->root->live) {
		struct sink sink = a->sink(run);

		opt.waited = run_wait_devices(run, &sink);
		if (opt.waited) {
			run_close(run);
			r = run_open(a->root, &opt, run, &err);
		}
	}
	if (r < 0) {
		a->complain(err.text);
		run_end_at(&a->end, END_BROKEN);
	}
	return r;
}

/*
 * In a run by hand on a node with admitted work, devices that this run made again are not losses.
 * If the verdict has lapsed, losses remain until the gate or apply --device runs.
 */
static void watch_again(struct apply *a, const struct run *run)
{
	struct watch watch;
	struct err err = {0};

	watch_load(a->root, &watch);
	if (watch.list.n && a->status.record.verdict.admit && watch_begin(run, &err) < 0)
		a->complain(err.text);
	watch_free(&watch);
}

/*
 * Why stage early has to do the work of stage initrd too; NULL if initrd has done it. The script of
 * initramfs-tools leaves its log in every case.
 */
static const char *lack_of_initramfs(const struct apply *a, enum stage stage)
{
	if (stage != STAGE_EARLY || !a->unit || a->status.record.stage[STAGE_INITRD].ran)
		return NULL;
	if (root_exists(a->root, "/run/railhead/initramfs.log"))
		return "the initrd stage began in the initramfs and left no result (the kernel log "
		       "has the reason), so stage early did its work: options of modules that the "
		       "initramfs loaded are not set";
	return "the initrd stage did not run in the initramfs, or railhead-initrd.service failed "
	       "there, so stage early did its work: options of "
	       "modules that the initramfs loaded are not set; if the initramfs "
	       "does not contain railhead, make it again (dracut --force, update-initramfs -u)";
}

/* Not in the initramfs, which lacks the kernel's configuration with the default. */
static void let_panic(struct apply *a)
{
	struct err err = {0};

	if (service_begun_over(a->root, &err) < 0)
		a->complain(err.text);
}

/* By hand nothing is at stake that a power cycle does not end. */
static void guard_early(struct apply *a, const struct run *run)
{
	const struct section_ctx ctx = run_sections(run);
	cleanup_free char *text = NULL;
	struct err err = {0};

	if (!a->unit || hold_back_begin(&ctx, &run->plan, &err) == 0)
		return;
	text = xasprintf("early: the settings of sysctl, sysfs and mounts are set without "
			 "protection: if the node does not come up with them, it does not "
			 "in the next boot either (%s)",
			 err.text);
	a->complain(text);
}

/*
 * known: the survey of the previous stage, if that stage has set nothing; afterwards the survey of
 * this stage, by the same rule. Returns false if further stages make no sense.
 */
static bool apply_stage(struct apply *a, enum stage stage, struct node *known)
{
	uint64_t deadline = clock_usec() + stage_budget[stage];
	const char *lack = lack_of_initramfs(a, stage);
	cleanup_free char *warning = lack ? xasprintf("early: %s", lack) : NULL;
	unsigned int stages = STAGES(stage) | (lack ? STAGES(STAGE_INITRD) : 0);
	struct stage_result result;
	struct sink sink;
	struct run run;

	if (stage == STAGE_EARLY)
		let_panic(a);
	if (open_run(a, stage, known, &run) < 0)
		return false;
	a->opened(&run);
	if (run.status != RUN_OK) {
		no_profile(a, &run, stage);
		run_close(&run);
		return false;
	}
	if (warning)
		a->complain(warning);
	if (stage == STAGE_EARLY)
		guard_early(a, &run);
	sink = a->sink(&run);
	a->at_work(&run, stage, true);
	run_apply(&run, stage, stages & ~STAGES(stage), deadline, &sink, &result);
	a->at_work(&run, stage, false);
	journal_stage(&run, stages, &result);
	record_set_stage(&a->status.record, &run, stages, &result);
	record_set_lack(&a->status.record, stage, lack);
	stage_verdict(a, &run, stages, &result);
	if (stage == STAGE_DEVICES && result.count[CHANGE_SET])
		watch_again(a, &run);
	a->over(a, &run, stages, &result);
	run_end_at(&a->end, result.count[CHANGE_FAILED] ? END_FAILED : END_DONE);
	if (!result.wrote)
		*known = run_take_survey(&run);
	run_close(&run);
	return true;
}

/*
 * If systemd does not count soft-reboots (254, 255), the unit of stage early begins a new user
 * space, unless the unit had failed in the current user space and is only started again.
 */
static bool begins_user_space(const struct apply *a)
{
	return a->unit && a->first == STAGE_EARLY && a->status.record.stage[STAGE_EARLY].ran &&
	       !manager_has_booted();
}

static void run_locked(struct apply *a)
{
	struct node known = {0};
	struct err err = {0};

	/* First of all in a boot: no claim of an earlier boot may admit work. */
	if (a->unit && a->last == STAGE_INITRD)
		status_load_in_initramfs(a->root, &a->status);
	else
		status_load(a->root, &a->status);
	if (begins_user_space(a))
		status_leave_user_space(&a->status);
	if (a->status.new_user_space)
		move(a, FLOW_USER_SPACE, NULL);
	/*
	 * Again in early, because the files of other readers outlive a boot, and stage initrd does
	 * not publish.
	 */
	if (!a->status.record.judged)
		move(a, FLOW_NO_RECORD, NULL);
	else if (!record_admits(&a->status.record))
		move(a, FLOW_STAGE_BEGINS, NULL);
	if (a->retry && hold_back_forget(a->root, &err) < 0)
		a->complain(err.text);
	if (a->retry && boot_forgive(a->root, &err) < 0)
		a->complain(err.text);
	for (enum stage s = a->first; s <= a->last; s++)
		if (!apply_stage(a, s, &known))
			break;
	node_free(&known);
}

void apply_run(struct apply *a)
{
	cleanup_close int lock = -1;
	struct err err = {0};

	lock = state_lock(a->root, clock_usec() + LOCK_WAIT_US, &err);
	if (lock < 0) {
		a->complain(err.text);
		run_end_at(&a->end, END_BROKEN);
		return;
	}
	run_locked(a);
}

void apply_free(struct apply *a)
{
	status_free(&a->status);
}
