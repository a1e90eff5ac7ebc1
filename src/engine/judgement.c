/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/judgement.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "boot/service.h"
#include "boot/busy.h"
#include "boot/view.h"
#include "engine/fitness.h"
#include "engine/journal.h"
#include "engine/numbers.h"
#include "engine/under_load.h"
#include "engine/watch.h"
#include "gate/basis.h"
#include "plan/change.h"
#include "profile/section.h"
#include "profile/yaml.h"
#include "sys/clock.h"
#include "sys/kernel_log.h"
#include "sys/state.h"

enum {
	LOCK_WAIT_US = 30 * 1000000,
	PROBES_WAIT_US = 30 * 1000000,	 /* while udev loads drivers */
	STOP_LOCK_WAIT_US = 2 * 1000000, /* the same shutdown may end the holder of the lock */
	CHECKS_WAIT_US = 10 * 1000000,
	/* A retry comes after an eighth of the time waited so far, within these limits. */
	RETRY_LEAST_US = 15 * 1000000,
	RETRY_MOST_US = 120 * 1000000,
	RETRY_SLACK_US = 2 * 1000000, /* of the timer */
	BEGUN_MOST = 3, /* gates of the unit that were killed; a fourth would be killed too */
};

/* A judgement in progress. */
struct work {
	struct judgement *j;
	struct record *record;
	struct flow flow;
	struct run run;
	char *label; /* of the profile, for its kernel arguments */
	struct verdict v;
	bool goes_on; /* a retry, which continues from the recorded looks and numbers */
};

/* --- looks and numbers --------------------------------------------------------------------- */

/* A reason about the arguments of the next boot. */
#define NEXT_BOOT "kernel_args/next_boot"

static void block(struct verdict *v, enum fault fault, const char *id, const char *why)
{
	findings_say(&v->findings, fault, id, why);
	v->kind = VERDICT_BLOCKED;
	v->admit = false;
}

/* --- kernel arguments ------------------------------------------------------------------------ */

static struct kargs_want want_kargs(const struct work *w)
{
	return (struct kargs_want){.root = w->run.root,
				   .node = &w->run.node,
				   .kargs = &w->run.kargs,
				   .profile = w->label};
}

static const struct change *next_boot(const struct work *w)
{
	return plan_find(&w->run.plan, NEXT_BOOT);
}

/* Before the looks: what earlier boots left, and arguments that the next boot would not have. */
static void arrive(struct work *w)
{
	struct kargs_want want = want_kargs(w);
	struct err err = {0};

	if (next_boot(w) && boot_arrive(&want, &err) < 0)
		w->j->complain(err.text); /* the look at the arguments reports what follows */
}

/* Arguments that this boot lacks are tried by the next one, so this one is not measured. */
static bool wants_reboot(const struct work *w)
{
	const struct change *c = next_boot(w);

	return c && c->reboot && (c->now.state == CHANGE_DIFFERS || c->now.state == CHANGE_WAITS);
}

static void wait_for_reboot(struct work *w)
{
	w->v = (struct verdict){.kind = VERDICT_WAITING};
	findings_say(&w->v.findings, FAULT_BOOT_ARGS_DIFFER, NEXT_BOOT,
		     or_empty(next_boot(w)->now.why));
	w->v.otherwise = VERDICT_BLOCKED;
	strv_add(&w->v.awaited, "a reboot into other kernel arguments");
}

static void say_refused(struct work *w, const struct settled *s)
{
	cleanup_free char *names = strv_some(&s->news, NAMED_MAX), *text = NULL;

	if (s->result != TRIAL_UNFIT)
		return;
	text = xasprintf("kernel arguments are REFUSED: %s failed in their "
			 "trial and held before; the next boot has the earlier arguments. Correct "
			 "kernel_args and the profile's version, or repair what failed and run "
			 "`railhead apply --retry`",
			 names);
	block(&w->v, FAULT_BOOT_ARGS_UNFIT, NEXT_BOOT, text);
}

/*
 * Kernel arguments that arrived become the good ones, unless something fails that held before: the
 * thresholds of the profile do not matter for that.
 */
static void settle(struct work *w)
{
	cleanup_outcome struct outcome o = {.profile = w->run.profile->name,
					    .waits = w->v.kind == VERDICT_WAITING,
					    .reboots = wants_reboot(w)};
	cleanup_settled struct settled s = {0};
	struct kargs_want want = want_kargs(w);
	struct err err = {0};
	int r;

	if (!next_boot(w))
		return;
	o.waits &= !o.reboots;
	fitness_look(&w->run, &w->record->measurements, &o);
	r = boot_settle(&want, &o, &s, &err);
	say_refused(w, &s);
	w->flow.reboots = s.reboots;
	w->j->reboot = s.reboot;
	if (r < 0 && s.unrecorded) {
		w->j->complain(err.text);
	} else if (r < 0) {
		cleanup_free char *text =
			xasprintf("the verdict on kernel arguments (%s) could not be recorded: %s",
				  next_boot(w)->desired, err.text);

		block(&w->v, FAULT_BOOT_TRIAL_OPEN, NEXT_BOOT, text);
	} else if (s.result != TRIAL_NONE) {
		w->j->complain(ENV_FILE_NAME
			       ": the outcome of the trial of kernel arguments is recorded");
	}
}

/* Without a profile nobody knows which arguments are wanted. */
static void leave_unjudged(struct work *w)
{
	struct err err = {0};

	if (boot_leave_unjudged(w->run.root, &w->run.node, &err) < 0 && err.code != -ENOENT)
		w->j->complain(err.text);
}

/* The next gate of the retry timer looks again, until the time of waiting is over. */
static bool is_busy(struct work *w)
{
	cleanup_free char *busy = w->j->unit && w->run.site.reboot ? busy_why(w->run.root) : NULL;
	cleanup_free char *text = NULL;

	if (!busy)
		return false;
	text = xasprintf("railhead does not reboot now: %s", busy);
	findings_say(&w->v.findings, FAULT_BOOT_ARGS_DIFFER, NEXT_BOOT, text);
	return true;
}

/* Last, so that nothing comes between an armed trial and its reboot. */
static void arm(struct work *w)
{
	cleanup_free char *text = NULL;
	struct kargs_want want = want_kargs(w);
	struct err err = {0};

	w->j->may_reboot = w->run.site.reboot;
	if (w->v.kind != VERDICT_WAITING || !wants_reboot(w) || is_busy(w))
		return;
	if (boot_arm(&want, &err) >= 0) {
		w->j->reboot = true;
		return;
	}
	text = xasprintf("%s. The trial could not be armed: %s", or_empty(next_boot(w)->now.why),
			 err.text);
	verdict_free(&w->v); /* its reason is the reboot, which does not come */
	w->v = (struct verdict){0};
	block(&w->v, FAULT_BOOT_TRIAL_OPEN, NEXT_BOOT, text);
}

/* --- looks and numbers, again ---------------------------------------------------------------- */

/* The figures are judged whether or not the thresholds fit. */
static void say_calibration(struct work *w)
{
	const struct ynode *on =
		ynode_get(profile_section(w->run.profile, "gate"), "calibrated_on");
	const struct section_ctx ctx = run_sections(&w->run);
	cleanup_free char *difference = NULL, *text = NULL;
	cleanup_strv struct strv now = {0};

	if (!on)
		return;
	basis_take(&ctx, &now);
	difference = basis_difference(&now, on);
	if (!difference)
		return;
	text = xasprintf("this node has %s: the thresholds may not fit", difference);
	findings_add(&w->v.findings,
		     &(struct finding){
			     .id = (char *)"gate/calibrated_on",
			     .fault = FAULT_GATE_CALIBRATION,
			     .on_fail = ON_FAIL_WARN,
			     .why = text,
			     .remedy = (char *)"run `railhead calibrate` on nodes like this one"});
}

enum { NAMED = 3 }; /* at most this many benchmarks are named, the others counted */

static void blame_load(struct change *c, const struct strv *loaded)
{
	free(c->now.load);
	c->now.load = strv_some(loaded, NAMED);
	c->now.late = !c->of_load;
}

/* The result of a look before the load. */
struct first_look {
	bool held;
	char *observed; /* or NULL */
};

static bool may_settle(const struct plan *plan, const struct first_look *before)
{
	for (size_t i = 0; i < plan->list.n; i++)
		if (before[i].held && !change_holds(plan->list.v[i]) && plan->list.v[i]->settles)
			return true;
	return false;
}

/* A counter may rise under load and still hold, so the record keeps the value before. */
static void compare(struct change *c, struct first_look *before, const struct strv *loaded)
{
	if (before->observed && c->now.found && !streq(before->observed, c->now.found)) {
		free(c->now.before);
		c->now.before = take_ptr(before->observed);
	}
	if (before->held && !change_holds(c))
		blame_load(c, loaded);
	free(before->observed);
}

/*
 * The benchmarks are the first load since the machine was switched on: link errors, and carriers
 * that are lost under load, appear only now.
 */
static void look_after_load(struct work *w, const struct strv *loaded, struct stage_result *result)
{
	const struct plan *plan = &w->run.plan;
	cleanup_free struct first_look *before = xcalloc(plan->list.n, sizeof(*before));
	struct stage_result after;

	for (size_t i = 0; i < plan->list.n; i++) {
		struct change *c = plan->list.v[i];

		before[i] = (struct first_look){change_holds(c),
						c->now.found ? xstrdup(c->now.found) : NULL};
		change_loaded(c);
	}
	run_look_gate(&w->run, 0, &after);
	if (may_settle(plan, before))
		run_look_gate(&w->run, CHECKS_WAIT_US, &after);
	memcpy(result->count, after.count, sizeof(result->count));
	for (size_t i = 0; i < plan->list.n; i++)
		compare(plan->list.v[i], &before[i], loaded);
}

/* Records the checks whose counters need a load: they were looked at once, and not judged. */
static void say_unjudged(struct work *w)
{
	const struct plan *plan = &w->run.plan;

	for (size_t i = 0; i < plan->list.n; i++) {
		const struct change *c = plan->list.v[i];

		if (c->of_load && c->now.state == CHANGE_SAME &&
		    !strv_contains(&w->record->numbers.unjudged, c->on.key))
			strv_add(&w->record->numbers.unjudged, c->on.key);
	}
}

/* The changes that no line of the profile asks for have no place. */
static bool asks_for_anything(const struct run *run)
{
	const struct ynode *checks = ynode_get(profile_section(run->profile, "gate"), "checks");

	for (size_t i = 0; i < run->plan.list.n; i++)
		if (run->plan.list.v[i]->origin.file)
			return true;
	return checks && checks->items.n;
}

static void judge_all(struct work *w)
{
	record_looked(w->record, &w->run.plan, w->j->interval);
	gate_judge(w->run.profile, &w->run.plan, &w->record->measurements, &w->v);
	if (w->goes_on)
		under_load_keep(w->record, &w->run, &w->v);
	if (!asks_for_anything(&w->run))
		block(&w->v, FAULT_PROFILE_EMPTY, NULL,
		      "the profile has no setting and no check for this node, so ready would mean "
		      "nothing; write what the node must have, such as expect: {cpu_sockets: 2}");
}

/* A node whose losses would pass unseen is not ready; /run may have room later. */
static void wait_for_watch(struct work *w, const struct err *why)
{
	verdict_simple(&w->v, VERDICT_WAITING, FAULT_GATE_FAILED, why->text);
	w->v.otherwise = VERDICT_BLOCKED;
	strv_add(&w->v.awaited, "the watch of devices");
}

static void look_and_measure(struct work *w)
{
	cleanup_strv struct strv loaded = {0};
	struct stage_result result;
	struct err err = {0};
	bool unwatched, reboots;
	int r = 0;

	/* Before the first look, because each loss from here on causes an event. */
	unwatched = watch_begin(&w->run, &err) < 0;
	w->j->at_work(&w->run, STAGE_GATE, true);
	run_look_gate(&w->run, CHECKS_WAIT_US, &result);
	reboots = wants_reboot(w);
	if (!unwatched && !reboots)
		r = w->goes_on ? numbers_take_rest(&w->run, w->record, &loaded, &err)
			       : numbers_take(&w->run, w->j->again, w->record, &loaded, &err);
	if (loaded.n)
		look_after_load(w, &loaded, &result);
	else if (!w->goes_on)
		say_unjudged(w);
	if (unwatched)
		wait_for_watch(w, &err);
	else if (reboots)
		wait_for_reboot(w);
	else if (r < 0)
		verdict_simple(&w->v, VERDICT_BLOCKED, FAULT_GATE_FAILED, err.text);
	else
		judge_all(w);
	if (kernel_log_save(w->run.log, &err) < 0)
		w->j->complain(err.text);
	say_calibration(w);
	w->j->at_work(&w->run, STAGE_GATE, false);
	result.duration = clock_usec() - result.started;
	record_set_profile(w->record, w->run.profile);
	record_set_stage(w->record, &w->run, STAGES_ALL, &result);
	journal_stage(&w->run, STAGES(STAGE_GATE), &result);
}

/*
 * Whether the looks alone keep work out. Then nothing is measured, and the verdict follows from the
 * looks and the numbers that exist.
 */
static bool looks_keep_out(struct work *w)
{
	const struct measurements nothing = {0};
	struct stage_result result;
	bool keep_out;

	run_look_gate(&w->run, 0, &result);
	if (wants_reboot(w))
		return false;
	record_looked(w->record, &w->run.plan, w->j->interval);
	gate_judge(w->run.profile, &w->run.plan, &nothing, &w->v);
	keep_out = !w->v.admit;
	verdict_free(&w->v);
	if (!keep_out)
		return false;
	judge_all(w);
	record_set_stage(w->record, &w->run, STAGES_ALL, &result);
	return true;
}

/* --- the verdict --------------------------------------------------------------------------- */

/* A gate by hand restarts the time of waiting. */
static void wait_or_give_up(struct work *w)
{
	struct waiting *waiting = &w->record->waiting;
	uint64_t now = clock_usec();

	if (w->v.kind != VERDICT_WAITING)
		return;
	if (!waiting->until || (!w->j->unit && !w->goes_on)) {
		waiting->since = now;
		waiting->until = now + gate_wait(w->run.profile);
	}
	waiting->looked = now;
	if (now >= waiting->until)
		verdict_give_up(&w->v, now - waiting->since);
}

static enum flow_event event_of(const struct verdict *v, bool has_profile)
{
	if (!has_profile)
		return v->admit ? FLOW_NO_PROFILE_ADMITS : FLOW_NO_PROFILE;
	if (v->admit)
		return FLOW_JUDGED_ADMITS;
	return v->kind == VERDICT_WAITING ? FLOW_JUDGED_WAITS : FLOW_JUDGED_KEEPS_OUT;
}

/* Ends the judgement, and reports everything that could not be written. */
static int conclude(struct work *w, enum flow_event event)
{
	int r;

	if (w->v.admit)
		record_hold(w->record, &w->run.plan);
	r = flow_move(&w->flow, event, &w->v);
	w->j->end = r < 0 ? JUDGEMENT_FAILED : JUDGEMENT_MADE;
	w->j->admitted = r == 0 && w->v.admit;
	w->j->show = !w->goes_on || w->flow.news || !w->j->unit;
	return r;
}

static int conclude_killed(struct work *w)
{
	cleanup_free char *text = xasprintf(
		"the gate began %u times, and each time was killed or failed before its verdict; "
		"see `journalctl -u railhead-gate` and the kernel log (out of memory?), and run "
		"`railhead gate`",
		w->record->begun);

	verdict_simple(&w->v, VERDICT_BLOCKED, FAULT_GATE_KILLED, text);
	return conclude(w, FLOW_GATE_KILLED);
}

static int judge(struct work *w)
{
	if (w->run.status != RUN_OK) {
		run_verdict(&w->run, &w->v);
		record_set_profile(w->record, w->run.profile);
		leave_unjudged(w);
	} else {
		arrive(w);
		if (!w->goes_on || !looks_keep_out(w))
			look_and_measure(w);
	}
	run_warn_of_unread(&w->run, &w->v);
	wait_or_give_up(w);
	if (w->run.status == RUN_OK) {
		settle(w);
		arm(w);
	}
	return conclude(w, event_of(&w->v, w->run.status == RUN_OK));
}

/* Also finishes the work of a judgement that was killed after it had admitted work. */
static int stand(struct work *w)
{
	w->j->end = JUDGEMENT_STANDS;
	w->j->admitted = true;
	flow_move(&w->flow, FLOW_GATE, NULL);
	return 0;
}

static enum flow_event gate_event(const struct work *w)
{
	bool same =
		w->run.status == RUN_OK && streq(record_digest(w->record), w->run.profile->digest);

	return same && !w->j->again ? FLOW_GATE : FLOW_GATE_AGAIN;
}

/* With the run open. */
static int run_opened(struct work *w, enum flow_event event)
{
	enum flow_state state = flow_state(w->record);

	if (w->run.status == RUN_SPECIAL) {
		run_verdict(&w->run, &w->v);
		record_set_profile(w->record, w->run.profile);
		return conclude(w, FLOW_GATE_SPECIAL);
	}
	if (state == FLOW_AT_WORK && w->j->unit && w->record->begun >= BEGUN_MOST)
		return conclude_killed(w);
	if (!w->j->retry)
		event = gate_event(w);
	if (event == FLOW_GATE && state == FLOW_ADMITTED)
		return stand(w);
	flow_move(&w->flow, event, NULL);
	return judge(w);
}

static int open_run(struct work *w, struct err *err)
{
	struct run_options opt = {.profile = w->j->profile,
				  .freeze = w->j->unit ? FREEZE_BOOT : FREEZE_ANEW};
	int r = record_open_run(w->record, w->j->root, &opt, &w->run, err);

	/* Only a boot waits for hardware. */
	if (r == 0 && w->run.status == RUN_OK && w->j->unit &&
	    run_wait_probes(&w->run, PROBES_WAIT_US)) {
		run_close(&w->run);
		r = record_open_run(w->record, w->j->root, &opt, &w->run, err);
	}
	return r;
}

static int open_and_run(struct work *w, enum flow_event event)
{
	struct err err = {0};
	int r = open_run(w, &err);

	if (r < 0) {
		w->j->complain(err.text);
		return r;
	}
	w->flow.run = &w->run;
	w->j->opened(&w->run);
	w->label = w->run.status == RUN_OK ? profile_label(w->run.profile) : NULL;
	r = run_opened(w, event);
	free(w->label);
	run_close(&w->run);
	verdict_free(&w->v);
	return r;
}

/* --- retries ------------------------------------------------------------------------------- */

static bool is_due(const struct waiting *w)
{
	uint64_t now = clock_usec(), gap = (w->looked - w->since) / 8;

	if (gap < RETRY_LEAST_US)
		gap = RETRY_LEAST_US;
	if (gap > RETRY_MOST_US)
		gap = RETRY_MOST_US;
	return now >= w->until || now + RETRY_SLACK_US >= w->looked + gap;
}

static int retry(struct work *w)
{
	enum flow_state state = flow_state(w->record);
	bool looked = w->record->stage[STAGE_GATE].ran && !w->j->status.claim_lost;
	enum flow_event event = looked ? FLOW_RETRY : FLOW_RETRY_WHOLE;

	w->goes_on = looked && state == FLOW_WAITING;
	if (w->goes_on ? !w->j->unit || is_due(&w->record->waiting)
		       : flow_find(event, state)->next == FLOW_BIT(FLOW_AT_WORK))
		return open_and_run(w, event);
	w->j->end = JUDGEMENT_NOT_DUE;
	w->j->admitted = state == FLOW_ADMITTED;
	flow_move(&w->flow, event, NULL);
	return 0;
}

/* The target that `admit` starts also starts the gate's unit, which must not fail then. */
static bool is_let_in(const struct judgement *j)
{
	return j->unit && !j->again && record_is_let_in(&j->status.record) &&
	       flow_state(&j->status.record) != FLOW_AT_WORK;
}

static int run_locked(struct judgement *j)
{
	struct work w = {.j = j,
			 .record = &j->status.record,
			 .flow = {.root = j->root,
				  .status = &j->status,
				  .complain = j->complain,
				  .retries = j->retry}};

	status_load(j->root, &j->status);
	if (j->status.new_user_space)
		flow_move(&w.flow, FLOW_USER_SPACE, NULL);
	if (j->retry)
		return retry(&w);
	if (is_let_in(j)) {
		j->end = JUDGEMENT_LET_IN;
		j->admitted = true;
		return flow_move(&w.flow, FLOW_GATE_LET_IN, NULL);
	}
	return open_and_run(&w, FLOW_GATE);
}

/*
 * Starts the retry timer after a gate of the unit that left no verdict, because nothing else would
 * look again in this boot.
 */
static void come_back(struct judgement *j)
{
	struct err err = {0};

	if (j->unit && !j->admitted && service_retry(j->root, true, &err) < 0)
		j->complain(err.text);
}

int judgement_run(struct judgement *j)
{
	cleanup_close int lock = -1;
	struct err err = {0};
	int r;

	lock = state_lock(j->root, clock_usec() + LOCK_WAIT_US, &err);
	if (lock < 0)
		j->complain(err.text);
	r = lock < 0 ? lock : run_locked(j);
	if (r < 0)
		come_back(j);
	return r;
}

/* --- the end of the unit ------------------------------------------------------------------- */

static enum flow_event event_of_stop(const struct record *r, bool reboots)
{
	if (!r->judged)
		return FLOW_NO_RECORD;
	return reboots ? FLOW_STOPPED_REBOOTS : FLOW_STOPPED;
}

/* However the unit ended, its verdict is withdrawn. */
int judgement_stop(struct judgement *j)
{
	struct flow flow = {.root = j->root, .status = &j->status, .complain = j->complain};
	bool reboots = service_reboots(j->root);
	cleanup_close int lock = -1;
	struct err err = {0};
	struct verdict v;
	int r;

	lock = state_lock(j->root, clock_usec() + STOP_LOCK_WAIT_US, &err);
	if (lock < 0) {
		j->complain(err.text);
		return lock;
	}
	status_load(j->root, &j->status);
	verdict_simple(&v, VERDICT_WAITING, FAULT_GATE_STOPPED,
		       "railhead-gate.service was stopped; its next start judges again");
	r = flow_move(&flow, event_of_stop(&j->status.record, reboots), &v);
	verdict_free(&v);
	return r;
}

void judgement_free(struct judgement *j)
{
	status_free(&j->status);
}
