/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/recheck.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "engine/fitness.h"
#include "engine/flow.h"
#include "engine/numbers.h"
#include "engine/run.h"
#include "engine/under_load.h"
#include "engine/watch.h"
#include "engine/writers.h"
#include "kinds/function.h"
#include "plan/change.h"
#include "profile/site.h"
#include "sys/clock.h"
#include "sys/kernel_log.h"
#include "sys/kernel_names.h"
#include "sys/state.h"

/* A look waits so long for another run's lock. A recheck may wait twice in its unit's 300 s. */
#define LOCK_WAIT_US UINT64_C(100000000)
#define QUIET_US UINT64_C(3600000000)
#define FORGOTTEN_US (24 * QUIET_US)

enum { FINDINGS_MOST = 32 }; /* kept for a node that flaps */

struct later_look {
	struct recheck *of;
	struct record *record;
	struct flow flow;
	struct watch watch;
	struct run run;
	struct verdict v;
};

/* Whether there is a verdict to check, and no other run is responsible for it. */
static bool is_due(struct later_look *l)
{
	const struct status *status = &l->of->status;
	enum flow_state state = flow_state(l->record);

	/* A run ended before it had recorded why it withdrew work: the gate must find out. */
	if (status->claim_lost || status->new_user_space ||
	    (state != FLOW_ADMITTED && state != FLOW_LAPSED))
		return false;
	watch_load(l->of->root, &l->watch);
	watch_look(l->of->root, &l->watch);
	return !watch_lost(&l->watch);
}

/* The netdev or RDMA device of the check's function or VF is in a container. */
static bool is_of_container(const struct root *root, const struct change *c)
{
	bool net = str_starts(c->target, "carrier:") || str_starts(c->target, "speed:");
	bool rdma = str_starts(c->target, "rdma-link:") || str_starts(c->target, "rdma-speed:") ||
		    str_starts(c->target, "port-errors:");
	cleanup_free char *addr = NULL;

	return (net || rdma) && function_or_vf(root, c->on.name, c->on.vf, &addr, NULL) == 0 &&
	       function_gave_away(root, addr, net ? "net" : "infiniband");
}

/*
 * Each look since the verdict has read the kernel's log as far back as it went, and the log of a
 * busy kernel does not go back to the verdict.
 */
static bool is_overwritten(const struct change *c)
{
	return c->now.fault == FAULT_GATE_LOG_LOST;
}

/*
 * The target of a check, or the netdev of a sysctl, is in a container. Other changes of the
 * function are judged as before.
 */
static bool is_given_away(const struct root *root, const struct change *c)
{
	cleanup_free char *netdev = c->covered ? NULL : sysctl_interface(c->target);

	if (netdev) /* the record of an older railhead does not say whose netdev it was */
		return !root_exists(root, "%s", c->target) &&
		       !root_exists(root, "/sys/class/net/%s", netdev);
	return is_of_container(root, c);
}

static void spare(struct run *run)
{
	for (size_t i = 0; i < run->plan.list.n; i++) {
		struct change *c = run->plan.list.v[i];

		if (!change_holds(c) && (is_overwritten(c) || is_given_away(run->root, c)))
			c->now.state = CHANGE_UNSUPPORTED;
	}
}

/*
 * The kernel's log may lose a GPU's fault (by its limited size, or by `dmesg -C`), so a silent log
 * does not clear the fault.
 */
static bool lapsed_by_log(const struct later_look *l)
{
	for (size_t i = 0; i < l->run.plan.list.n; i++) {
		const struct change *c = l->run.plan.list.v[i];

		if (str_starts(c->target, "gpu-xid:") &&
		    findings_find(&l->record->verdict.findings, c->id))
			return true;
	}
	return false;
}

/*
 * Warns once that the node is not looked at until a gate judges it by another profile. A node that
 * railhead.conf admits without a profile has none to change.
 */
static int warn_of_profile(struct later_look *l)
{
	const struct verdict *was = &l->record->verdict;
	bool lacks =
		l->run.status != RUN_OK && (was->kind == VERDICT_OFF || was->kind == VERDICT_NONE);
	const char *why = l->run.status == RUN_OK ? "the profile has changed" : l->run.why.text;
	cleanup_free char *text = xasprintf("railhead has not looked at the node since the "
					    "verdict: %s; run `railhead gate --again`",
					    why);

	if (flow_state(l->record) != FLOW_ADMITTED)
		return 0;
	verdict_copy(&l->v, was);
	findings_drop(&l->v.findings, FAULT_PROFILE_CHANGED);
	if (!lacks)
		findings_add(&l->v.findings, &(struct finding){.fault = FAULT_PROFILE_CHANGED,
							       .on_fail = ON_FAIL_WARN,
							       .why = text});
	return 1;
}

/* The look is by the profile of the verdict, and the files of the node say otherwise. */
static void warn_of_files(struct later_look *l)
{
	struct finding f = {.fault = FAULT_PROFILE_CHANGED,
			    .on_fail = ON_FAIL_WARN,
			    .why = l->run.why.text,
			    .remedy = (char *)"railhead goes on looking at the node by the profile "
					      "of the verdict; run `railhead apply` and `railhead "
					      "gate` for the new one"};

	if (l->run.why.code)
		findings_add(&l->v.findings, &f);
}

/* A device's losses are the reason of the device's own lapse, without another writer to blame. */
static bool held_when_judged(const struct record *r, const struct change *c)
{
	const struct finding *was = findings_find(&r->verdict.findings, c->id);

	return was ? was->drifted : flow_state(r) == FLOW_ADMITTED;
}

/* Looks for the writers of the changes that held when the node was judged, and do not hold now. */
static void blame_others(struct later_look *l)
{
	struct run *run = &l->run;
	cleanup(writer_files_free) struct writer_files files = {0};

	for (size_t i = 0; i < run->plan.list.n; i++) {
		struct change *c = run->plan.list.v[i];

		if (c->now.state != CHANGE_DIFFERS || !c->kind->set || c->came_later ||
		    !held_when_judged(l->record, c))
			continue;
		if (!files.root)
			writer_files_read(run->root, &files);
		c->now.drifted = true;
		free(c->now.by);
		c->now.by = writers_blame(&files, c);
	}
}

/* A timer that goes by the calendar (systemctl edit) has no interval but the one that was seen. */
static uint64_t find_interval(const struct later_look *l)
{
	uint64_t seen = clock_usec() - l->record->last_look.at;

	if (l->of->interval)
		return l->of->interval;
	return l->record->last_look.at && seen > RECHECK_EVERY_US ? seen : 0;
}

/* Returns whether l->v has a verdict, for which the run must have this boot's profile. */
static int look_and_judge(struct later_look *l)
{
	/* where the verdict had no profile, an earlier one of this boot is not the one to look by
	 */
	struct run_options opt = {.freeze = *record_digest(l->record) ? FREEZE_LATER : FREEZE_BOOT};
	struct findings unanswered = {0};
	struct stage_result result;
	struct err err = {0};
	int r = record_open_run(l->record, l->of->root, &opt, &l->run, &err);

	if (r < 0) {
		l->of->complain(err.text);
		return r;
	}
	if (l->run.status != RUN_OK || !streq(record_digest(l->record), l->run.profile->digest)) {
		r = warn_of_profile(l);
		if (!r)
			run_close(&l->run);
		return r;
	}
	l->flow.run = &l->run;
	record_recall_held(l->record, &l->run.plan);
	record_recall_counters(l->record, &l->run.plan);
	/* VFs in a guest or a container are in their correct state. */
	watch_spare(&l->watch, &l->run.plan);
	run_look_gate(&l->run, 0, &result);
	record_looked(l->record, &l->run.plan, find_interval(l));
	if (kernel_log_save(l->run.log, &err) < 0)
		l->of->complain(err.text);
	spare(&l->run);
	plan_take_drift(&l->run.plan, &l->record->verdict.skipped);
	blame_others(l);
	fitness_learn(&l->run);
	numbers_ask(&l->run, l->record, &unanswered);
	gate_judge(l->run.profile, &l->run.plan, &l->record->measurements, &l->v);
	for (size_t i = 0; i < unanswered.list.n; i++)
		findings_add(&l->v.findings, &unanswered.list.v[i]);
	findings_free(&unanswered);
	under_load_keep(l->record, &l->run, &l->v);
	warn_of_files(l);
	run_warn_of_unread(&l->run, &l->v);
	if (!l->v.admit)
		verdict_lapse(&l->v);
	if (!record_says(l->record, &l->v))
		record_set_stage(l->record, &l->run, STAGES_ALL, &result);
	return 1;
}

/* --- what comes and goes ------------------------------------------------------------------ */

static bool has_finding(const struct findings *l, const struct finding *now)
{
	for (size_t i = 0; i < l->list.n; i++)
		if (finding_same(&l->list.v[i], now))
			return true;
	return false;
}

/*
 * For a node that flaps, keeps the union of all reasons, because faults that alternate are not
 * news.
 */
static void keep_reasons(struct later_look *l)
{
	const struct verdict *before = &l->record->verdict;
	struct verdict all;

	if (before->findings.list.n > FINDINGS_MOST)
		return;
	verdict_copy(&all, before);
	for (size_t i = 0; i < l->v.findings.list.n; i++)
		if (!has_finding(&before->findings, &l->v.findings.list.v[i]))
			findings_add(&all.findings, &l->v.findings.list.v[i]);
	verdict_free(&l->v);
	l->v = all;
}

/*
 * Counts the lapse, because two writers of one value would make the node ready and not ready for
 * ever. Call with l->v of a look that keeps work out.
 */
static void count_lapse(struct later_look *l, enum flow_state was)
{
	struct drift *drift = &l->record->drift;
	uint64_t now = clock_usec();

	if (was == FLOW_ADMITTED && now > drift->quiet_at + FORGOTTEN_US)
		drift->lapses = 0;
	drift->lapses += was == FLOW_ADMITTED;
	drift->quiet_at = now + QUIET_US;
	if (drift->lapses < RECORD_LAPSES_MOST)
		return;
	findings_say(&l->v.findings, FAULT_HOST_FLAPS, NULL, RECORD_HELD_BACK);
	if (was == FLOW_LAPSED)
		keep_reasons(l);
}

static enum flow_event event_of(const struct later_look *l, enum flow_state was)
{
	if (was == FLOW_LAPSED)
		return l->v.admit ? FLOW_DEVICE_BACK : FLOW_DEVICE_AWAY;
	return l->v.admit ? FLOW_STILL_SO : FLOW_DRIFTED;
}

/* Moves the verdict if the verdict or its reasons have changed. */
static int move(struct later_look *l)
{
	enum flow_state was = flow_state(l->record);
	bool heals = was == FLOW_LAPSED && l->v.admit;
	bool flaps = l->record->drift.lapses >= RECORD_LAPSES_MOST;
	int r;

	if (!l->v.admit)
		count_lapse(l, was);
	/* the start of the hour must be recorded again */
	if ((heals && (record_is_held_back(l->record) || lapsed_by_log(l))) ||
	    (record_says(l->record, &l->v) && !(flaps && was == FLOW_LAPSED)))
		return flow_move(&l->flow, FLOW_LOOKED, NULL);
	r = flow_move(&l->flow, event_of(l, was), &l->v);
	l->of->news = l->flow.news;
	l->of->admitted = r == 0 && heals;
	return r;
}

/*
 * *first: judged_at of the record at a first look that found a change of the node; 0: no such look.
 * If this look is such a first look, *first becomes judged_at of the current verdict, else 0.
 */
static int look(struct later_look *l, uint64_t *first)
{
	uint64_t before = *first, judged = l->record->judged_at;
	int r = look_and_judge(l);

	*first = 0;
	if (r <= 0)
		return r;
	l->of->looked = true;
	if (flow_state(l->record) == FLOW_ADMITTED && !l->v.admit && before != judged)
		*first = judged;
	else
		r = move(l);
	verdict_free(&l->v);
	run_close(&l->run);
	return r < 0 ? r : 0;
}

/* Takes the lock only for the look, so that others may take it in the pause between two looks. */
static int look_locked(struct recheck *r, uint64_t *first)
{
	struct later_look l = {
		.of = r,
		.record = &r->status.record,
		.flow = {.root = r->root, .status = &r->status, .complain = r->complain}};
	cleanup_close int lock = -1;
	struct err err = {0};
	int found = 0;

	lock = state_lock(r->root, clock_usec() + LOCK_WAIT_US, &err);
	if (lock < 0) {
		err_wrap(&err, "railhead could not look at the node");
		r->complain(err.text);
		return lock;
	}
	status_free(&r->status);
	r->looked = false;
	status_load(r->root, &r->status);
	if (!site_ends_looks(r->root) && is_due(&l))
		found = look(&l, first);
	else
		flow_move(&l.flow, FLOW_RENEW, NULL);
	watch_free(&l.watch);
	return found;
}

int recheck_run(struct recheck *r)
{
	uint64_t first = 0;
	int found = look_locked(r, &first);

	if (found < 0 || !first)
		return found;
	poll(NULL, 0, (int)(r->pause_usec / 1000));
	return look_locked(r, &first);
}

void recheck_free(struct recheck *r)
{
	status_free(&r->status);
}
