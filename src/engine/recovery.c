/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/recovery.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "boot/service.h"
#include "engine/journal.h"
#include "plan/change.h"
#include "sys/clock.h"
#include "sys/state.h"
#include "sys/uevent.h"

enum {
	/* The sum is below TimeoutStartSec of railhead-device@.service. */
	LOCK_WAIT_US = 660 * 1000000, /* behind the run that handles all losses, or behind a gate */
	APPLY_US = 150 * 1000000,
	CHECKS_WAIT_US = 30 * 1000000, /* a port trains its link again */
	ROUNDS = 6,		       /* of one run; later losses have their own events */
};

struct device_run {
	struct recovery *of;
	const struct root *root;
	struct record *record;
	struct watch watch;
	struct flow flow;
	struct findings failures; /* of this run: each failed change */
};

static void broken(struct device_run *d, const struct err *err)
{
	d->of->complain(err->text);
	run_end_at(&d->of->end, END_BROKEN);
}

static bool open_run(struct device_run *d, struct run *run, uint64_t waited)
{
	struct run_options opt = {.freeze = FREEZE_BOOT, .waited = waited};
	struct err err = {0};

	if (run_open(d->root, &opt, run, &err) < 0) {
		broken(d, &err);
		return false;
	}
	return true;
}

static void no_profile(struct device_run *d, const struct run *run)
{
	d->of->explain(run);
	run_end_at(&d->of->end, END_NO_PROFILE);
	d->of->run_status = run->status;
}

/* --- readiness --------------------------------------------------------------------------- */

static void move(struct device_run *d, const struct run *run, enum flow_event event,
		 const struct verdict *v)
{
	d->flow.run = run;
	if (flow_move(&d->flow, event, v) < 0)
		run_end_at(&d->of->end, END_BROKEN);
	d->flow.run = NULL;
}

static bool is_on_bus(const struct root *root, const struct watched *w)
{
	return root_exists(root, "/sys/bus/pci/devices/%s", w->addr);
}

/* The fault of a lost function, and the remedy. */
struct loss {
	enum fault fault;
	const char *next;
};

static struct loss loss_of(const struct root *root, const struct watched *w)
{
	if (w->flapping)
		return (struct loss){
			FAULT_PCI_FLAPS,
			"the device came back too often in ten minutes, so railhead leaves it "
			"alone; see the kernel "
			"log "
			"(AER, DPC, link), reseat or replace it, then run `railhead apply` and "
			"`railhead gate`"};
	if (w->tried && w->state == WATCHED_COMING)
		return (struct loss){FAULT_PCI_INCOMPLETE,
				     "the driver has not made the netdev or RDMA device, or udev "
				     "has not named the device; see the kernel log, then run "
				     "`railhead apply --device` with its "
				     "address"};
	if (w->tried && w->state == WATCHED_BACK)
		return (struct loss){FAULT_PCI_NOT_RESTORED,
				     "part of the profile could not be applied again; mend the "
				     "failures above, then run "
				     "`railhead apply --device` with its address"};
	switch (w->state) {
	case WATCHED_AWAY:
		return (struct loss){
			is_on_bus(root, w) ? FAULT_PCI_UNBOUND : FAULT_PCI_LOST,
			"railhead applies the profile to the device when its driver is back; see "
			"the kernel log, `lspci` and `modprobe`"};
	case WATCHED_COMING:
		return (struct loss){FAULT_PCI_RETURNS, "its driver has not made its devices yet"};
	default:
		return (struct loss){FAULT_PCI_RETURNS,
				     "the profile is being applied to the device"};
	}
}

static void add_lost(const struct device_run *d, struct verdict *v)
{
	for (size_t i = 0; i < d->watch.list.n; i++) {
		const struct watched *w = &d->watch.list.v[i];
		cleanup_free char *text = NULL;
		struct loss loss;

		if (!w->lost_at)
			continue;
		loss = loss_of(d->root, w);
		text = xasprintf("%s; %s", w->why, loss.next);
		findings_say(&v->findings, loss.fault, w->addr, text);
	}
}

/* The verdict that the lapse ends was given without these, and so is the next one. */
static void keep_skipped(const struct device_run *d, struct verdict *v)
{
	const struct strv *skipped = &d->record->verdict.skipped;

	for (size_t i = 0; i < skipped->n; i++)
		strv_add(&v->skipped, skipped->v[i]);
}

static void withdraw(struct device_run *d)
{
	struct verdict v = {.kind = VERDICT_LAPSED};

	keep_skipped(d, &v);
	add_lost(d, &v);
	d->flow.watch = &d->watch;
	move(d, NULL, FLOW_DEVICE_LOST, &v);
	verdict_free(&v);
}

static void stay_lapsed(struct device_run *d, const struct run *run, struct verdict *v)
{
	verdict_lapse(v);
	for (size_t i = 0; i < d->failures.list.n; i++)
		findings_add(&v->findings, &d->failures.list.v[i]);
	add_lost(d, v);
	move(d, run, FLOW_DEVICE_AWAY, v);
}

/* --- what is back ------------------------------------------------------------------------ */

static bool any_in(const struct device_run *d, enum watched_state state)
{
	for (size_t i = 0; i < d->watch.list.n; i++) {
		const struct watched *w = &d->watch.list.v[i];

		if (w->state == state && !w->tried && !w->flapping)
			return true;
	}
	return false;
}

static bool none_is_coming(void *arg)
{
	struct device_run *d = arg;

	watch_look(d->root, &d->watch);
	return !any_in(d, WATCHED_COMING);
}

/* Returns the time of waiting, as run_wait_devices() does. */
static uint64_t wait_for_coming(struct device_run *d, const struct run *run)
{
	uint64_t started = clock_usec();

	if (none_is_coming(d))
		return 0;
	uevent_wait(none_is_coming, d, started + run_device_wait(run->profile));
	for (size_t i = 0; i < d->watch.list.n; i++)
		if (d->watch.list.v[i].state == WATCHED_COMING)
			d->watch.list.v[i].tried = true;
	return clock_usec() - started;
}

/*
 * A flapping function is left alone, because it would make the node ready and not ready for ever.
 */
static void leave_flapping(struct device_run *d)
{
	struct err err = {0};

	for (size_t i = 0; i < d->watch.list.n; i++) {
		struct watched *w = &d->watch.list.v[i];

		if (w->state != WATCHED_BACK || w->flapping || !watch_flaps(w))
			continue;
		w->flapping = true;
		if (watch_store_lost(d->root, w, &err) < 0)
			d->of->complain(err.text);
	}
	for (size_t i = 0; i < d->watch.list.n; i++)
		d->watch.list.v[i].tried |= d->watch.list.v[i].flapping;
}

/* Whether a change of the function failed; keeps what was found. */
static bool failed(struct device_run *d, const struct run *run, const struct watched *w)
{
	size_t before = d->failures.list.n;

	for (size_t i = 0; i < run->plan.list.n; i++) {
		const struct change *c = run->plan.list.v[i];

		if (c->now.state == CHANGE_FAILED &&
		    strncmp(c->lane, w->addr, strlen(w->addr)) == 0)
			findings_add_change(&d->failures, c, 0);
	}
	return d->failures.list.n > before;
}

static void note_back(struct device_run *d, const struct run *run, struct watched *w,
		      const struct stage_result *result)
{
	struct err err = {0};

	if (failed(d, run, w)) {
		w->tried = true;
		return;
	}
	record_set_device(d->record,
			  &(struct record_device){xstrdup(w->addr), xstrdup(w->why), w->lost_at,
						  clock_usec(), result->duration});
	if (watch_store_back(d->root, w, &err) < 0) {
		broken(d, &err);
		w->tried = true;
	}
}

/* Applies the profile to the complete functions; their state must be up to date. */
static void apply_back(struct device_run *d, struct run *run)
{
	uint64_t deadline = clock_usec() + APPLY_US;
	struct sink sink = d->of->sink(run);
	struct stage_result result;

	watch_keep_back(&d->watch, &run->plan);
	run_apply(run, STAGE_DEVICES, 0, deadline, &sink, &result);
	journal_stage(run, STAGES(STAGE_DEVICES), &result);
	d->of->applied += result.count[CHANGE_SET];
	for (size_t i = 0; i < d->watch.list.n; i++)
		if (d->watch.list.v[i].state == WATCHED_BACK && !d->watch.list.v[i].tried)
			note_back(d, run, &d->watch.list.v[i], &result);
	if (result.count[CHANGE_FAILED])
		run_end_at(&d->of->end, END_FAILED);
}

/* Handles losses. Returns false if nothing more can be done now. */
static bool bring_back(struct device_run *d)
{
	struct verdict v = {0};
	struct run run;
	uint64_t waited;

	withdraw(d);
	keep_skipped(d, &v);
	leave_flapping(d);
	if (!open_run(d, &run, 0))
		return false;
	if (run.status != RUN_OK) {
		no_profile(d, &run);
		findings_say(&v.findings, run.why.fault, NULL, run.why.text);
		stay_lapsed(d, &run, &v);
		goto out;
	}
	waited = wait_for_coming(d, &run);
	if (waited) {
		run_close(&run);
		if (!open_run(d, &run, waited))
			return false;
	}
	if (run.status == RUN_OK && any_in(d, WATCHED_BACK)) {
		apply_back(d, &run);
		run_close(&run);
		return true;
	}
	stay_lapsed(d, &run, &v);
out:
	verdict_free(&v);
	run_close(&run);
	return false;
}

/* --- the verdict again ---------------------------------------------------------------------- */

static void judge_again(struct device_run *d)
{
	struct stage_result result;
	struct verdict v;
	struct run run;

	if (!open_run(d, &run, 0))
		return;
	if (run.status != RUN_OK) {
		no_profile(d, &run);
		verdict_simple(&v, VERDICT_LAPSED, run.why.fault, run.why.text);
		keep_skipped(d, &v);
	} else {
		record_recall_held(d->record, &run.plan);
		watch_spare(&d->watch, &run.plan);
		run_look_gate(&run, CHECKS_WAIT_US, &result);
		plan_take_drift(&run.plan, &d->record->verdict.skipped);
		record_looked(d->record, &run.plan, d->record->last_look.interval);
		gate_judge(run.profile, &run.plan, &d->record->measurements, &v);
		record_set_stage(d->record, &run, STAGES_ALL, &result);
	}
	if (v.admit && record_is_held_back(d->record)) {
		verdict_free(&v);
		verdict_simple(&v, VERDICT_LAPSED, FAULT_HOST_FLAPS, RECORD_HELD_BACK);
		keep_skipped(d, &v);
	}
	if (v.admit)
		move(d, &run, FLOW_DEVICE_BACK, &v);
	else
		stay_lapsed(d, &run, &v);
	verdict_free(&v);
	run_close(&run);
}

/*
 * A device may have been reset without its directories being made again, so its values are checked.
 */
static bool values_hold(struct device_run *d, struct watched *w)
{
	bool hold = true;
	struct run run;

	if (!open_run(d, &run, 0))
		return true;
	if (run.status == RUN_OK)
		run_look(&run, STAGES(STAGE_DEVICES), STAGE_DEVICES);
	for (size_t i = 0; hold && i < run.plan.list.n; i++) {
		const struct change *c = run.plan.list.v[i];

		if (c->now.state != CHANGE_DIFFERS || !c->kind->set || !streq(c->lane, w->addr))
			continue;
		hold = false;
		w->lost_at = clock_usec();
		snprintf(w->why, sizeof(w->why), "%.60s was '%.40s'", c->id,
			 c->now.found ? c->now.found : "nothing");
	}
	run_close(&run);
	return hold;
}

static void remember_gained(struct device_run *d)
{
	struct err err = {0};

	for (size_t i = 0; i < d->watch.list.n; i++) {
		struct watched *w = &d->watch.list.v[i];

		if (w->gained && watch_store_gained(d->root, w, &err) < 0)
			d->of->complain(err.text);
	}
}

static void rounds(struct device_run *d, struct watched *asked)
{
	for (int round = 0; round < ROUNDS; round++) {
		watch_look(d->root, &d->watch);
		if (watch_lost(&d->watch)) {
			d->of->lost = true;
			if (!bring_back(d))
				return;
		} else if (!d->record->verdict.admit) {
			judge_again(d);
			if (!d->record->verdict.admit)
				return;
		} else if (round > 0 || !asked || values_hold(d, asked)) {
			remember_gained(d);
			return;
		} /* else the device is lost now, and the next round handles it */
	}
}

static void run_locked(struct device_run *d)
{
	enum flow_state was = flow_state(d->record);
	struct watched *asked = watch_find(&d->watch, d->of->device);

	/* Before the gate has judged, the gate or a later stage reports missing devices. */
	if (flow_find(FLOW_DEVICE, was)->acts & FLOW_REFUSES) {
		d->of->end = END_REFUSED;
		return;
	}
	if (!asked && !d->of->unit) {
		d->of->end = END_UNKNOWN;
		return;
	}
	rounds(d, asked);
	d->of->admitted = (was == FLOW_LAPSED || d->of->lost) && d->record->verdict.admit;
}

void recovery_run(struct recovery *r)
{
	struct device_run d = {
		.of = r,
		.root = r->root,
		.record = &r->status.record,
		.flow = {.root = r->root, .status = &r->status, .complain = r->complain}};
	cleanup_close int lock = -1;
	struct err err = {0};

	lock = state_lock(r->root, clock_usec() + LOCK_WAIT_US, &err);
	if (lock < 0) {
		broken(&d, &err);
		return;
	}
	status_load(r->root, &r->status);
	watch_load(r->root, &d.watch);
	run_locked(&d);
	/* Nothing else would look again in this boot. */
	if (r->end == END_BROKEN && r->unit && !r->status.record.verdict.admit &&
	    service_retry(r->root, true, &err) < 0)
		r->complain(err.text);
	findings_free(&d.failures);
	watch_free(&d.watch);
}

void recovery_free(struct recovery *r)
{
	status_free(&r->status);
}
