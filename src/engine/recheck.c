/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/recheck.h"

#include <errno.h>
#include <time.h>

#include "base/mem.h"
#include "engine/culprit.h"
#include "engine/flow.h"
#include "engine/journal.h"
#include "engine/run.h"
#include "engine/watch.h"
#include "sys/clock.h"
#include "sys/state.h"

struct later_look {
	struct recheck *of;
	struct record *record;
	struct flow flow;
	struct run run;
	struct verdict v;
};

/* Neither a verdict to look at, nor one that others are at work on. */
static bool is_due(const struct recheck *r)
{
	enum flow_state state = flow_state(&r->status.record);
	cleanup(watch_free) struct watch watch = {0};

	if (r->status.new_user_space || (state != FLOW_ADMITTED && state != FLOW_LAPSED))
		return false;
	watch_load(r->root, &watch);
	watch_look(r->root, &watch);
	return !watch_lost(&watch);
}

/* What held when the node was judged, or was made so, and does not now. */
static void blame_others(struct run *run)
{
	for (size_t i = 0; i < run->plan.list.n; i++) {
		struct change *c = run->plan.list.v[i];
		cleanup_free char *found = NULL, *by = NULL;

		if (c->state != CHANGE_DIFFERS || !c->kind->set)
			continue;
		found = take_ptr(c->reason);
		by = culprit_of(run->root, c);
		change_reason(c, "%s%sso since the node was judged: another program set it%s%s%s",
			      found ? found : "", found ? "; " : "", by ? " (" : "", by ? by : "",
			      by ? ")" : "");
	}
}

/* Whether there is a verdict in l->v: this boot's profile was looked at. */
static int look_and_judge(struct later_look *l)
{
	struct run_options opt = {.freeze = FREEZE_BOOT};
	cleanup(watch_free) struct watch watch = {0};
	struct stage_result result;
	struct err err = {0};
	int r = run_open(l->of->root, &opt, &l->run, &err);

	if (r < 0) {
		l->of->complain(err.text);
		return r;
	}
	if (l->run.status != RUN_OK || !streq(record_digest(l->record), l->run.profile->digest)) {
		run_close(&l->run);
		return 0;
	}
	l->flow.run = &l->run;
	/* VFs that a guest or a container has are as they should be. */
	watch_load(l->of->root, &watch);
	watch_spare(&watch, &l->run.plan);
	run_look_gate(&l->run, 0, &result);
	blame_others(&l->run);
	plan_take_drift(&l->run.plan);
	gate_judge(l->run.profile, &l->run.plan, &l->record->measurements, &l->v);
	if (!l->v.admit)
		l->v.kind = VERDICT_LAPSED;
	if (!record_says(l->record, &l->v))
		record_set_stage(l->record, &l->run, STAGES_ALL, &result);
	return 1;
}

static enum flow_event event_of(const struct later_look *l, enum flow_state was)
{
	if (was == FLOW_LAPSED)
		return l->v.admit ? FLOW_DEVICE_BACK : FLOW_DEVICE_AWAY;
	return l->v.admit ? FLOW_STILL_SO : FLOW_DRIFTED;
}

/* drifts: a look that finds the node changed counts. *ret: whether it is so and does not count. */
static int look(struct recheck *r, bool counts, bool *ret)
{
	struct later_look l = {
		.of = r,
		.record = &r->status.record,
		.flow = {.root = r->root, .status = &r->status, .complain = r->complain}};
	enum flow_state was = flow_state(l.record);
	int found = look_and_judge(&l);

	if (found <= 0)
		return found;
	r->looked = true;
	*ret = was == FLOW_ADMITTED && !l.v.admit && !counts;
	if (!*ret && !record_says(l.record, &l.v)) {
		found = flow_move(&l.flow, event_of(&l, was), &l.v);
		r->news = l.flow.news;
		r->admitted = found == 0 && was == FLOW_LAPSED && l.v.admit;
	}
	verdict_free(&l.v);
	run_close(&l.run);
	return found < 0 ? found : 0;
}

/* With the lock, which others may have in the pause between two looks. */
static int look_locked(struct recheck *r, bool counts, bool *ret)
{
	cleanup_close int lock = -1;
	struct err err = {0};

	*ret = false;
	lock = state_lock(r->root, clock_usec(), &err);
	if (lock < 0)
		return 0;
	status_free(&r->status);
	r->looked = false;
	status_load(r->root, &r->status);
	return is_due(r) ? look(r, counts, ret) : 0;
}

static void pause_for(uint64_t usec)
{
	struct timespec t = {(time_t)(usec / 1000000), (long)(usec % 1000000) * 1000};

	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

int recheck_run(struct recheck *r)
{
	bool again;
	int found = look_locked(r, false, &again);

	if (found < 0 || !again)
		return found;
	pause_for(r->pause_usec);
	return look_locked(r, true, &again);
}

void recheck_free(struct recheck *r)
{
	status_free(&r->status);
}
