/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/flow.h"

#include <errno.h>

#include "base/mem.h"
#include "boot/service.h"
#include "engine/freeze.h"
#include "engine/history.h"
#include "engine/journal.h"
#include "engine/numbers.h"
#include "engine/pass.h"
#include "engine/watch.h"
#include "sys/clock.h"

/* --- the table --------------------------------------------------------------------------- */

#define UNJUDGED FLOW_BIT(FLOW_UNJUDGED)
#define AT_WORK FLOW_BIT(FLOW_AT_WORK)
#define WAITING FLOW_BIT(FLOW_WAITING)
#define ADMITTED FLOW_BIT(FLOW_ADMITTED)
#define LAPSED FLOW_BIT(FLOW_LAPSED)
#define KEPT_OUT FLOW_BIT(FLOW_KEPT_OUT)
#define ANY (FLOW_BIT(FLOW_STATE_COUNT) - 1)
#define BUT(states) (ANY & ~(states))
#define SAME FLOW_SAME
#define NEVER FLOW_NEVER

#define GATE_BEGINS (FLOW_BEGINS | FLOW_RECORDS | FLOW_TRIAL_BEGINS)
#define STANDS_DOWN (FLOW_UNWATCHES | FLOW_DROPS_PASS | FLOW_JUDGES | FLOW_CLAIMS)
#define STOPS (FLOW_UNWATCHES | FLOW_WITHDRAWS | FLOW_JUDGES | FLOW_RECORDS)
#define ENDS (FLOW_JOURNALS | FLOW_HISTORY)
#define OPENS (FLOW_JUDGES | FLOW_WAIT_OVER | FLOW_CLAIMS)

/*
 * Judgements from "at work" and from "waiting" differ only in this: from "waiting" a retry goes on,
 * with nothing to withdraw and no trial to end.
 */
const struct flow_row flow_rows[] = {
	{FLOW_USER_SPACE, UNJUDGED, SAME, FLOW_FORGETS | FLOW_UNWATCHES},
	{FLOW_USER_SPACE, BUT(UNJUDGED), NEVER, 0},
	{FLOW_NO_RECORD, UNJUDGED, SAME, FLOW_UNWATCHES | FLOW_WITHDRAWS},
	{FLOW_NO_RECORD, BUT(UNJUDGED), NEVER, 0},
	{FLOW_STAGE_BEGINS, ADMITTED, NEVER, 0},
	{FLOW_STAGE_BEGINS, BUT(ADMITTED), SAME, FLOW_WITHDRAWS},
	{FLOW_STAGE_HELD, UNJUDGED, SAME, FLOW_JUDGES | FLOW_WAIT_OVER | FLOW_RECORDS},
	{FLOW_STAGE_HELD, BUT(UNJUDGED), SAME, FLOW_RECORDS},
	/* The items that another profile waited for are not looked for again. */
	{FLOW_STAGE_OTHER, ANY, UNJUDGED, FLOW_JUDGES | FLOW_WAIT_OVER | FLOW_RECORDS},
	{FLOW_STAGE_FAILED, ANY, KEPT_OUT, FLOW_JUDGES | FLOW_RECORDS},
	{FLOW_STAGE_NO_PROFILE, ANY, KEPT_OUT, FLOW_JUDGES | FLOW_RECORDS | FLOW_JOURNALS},
	{FLOW_STAGE_NO_PROFILE_STILL, ADMITTED, SAME, FLOW_JUDGES | FLOW_RECORDS | FLOW_JOURNALS},
	{FLOW_STAGE_NO_PROFILE_STILL, BUT(ADMITTED), NEVER, 0},

	{FLOW_GATE, ADMITTED, SAME, FLOW_RENEWS | FLOW_TRIAL_OVER},
	{FLOW_GATE, BUT(ADMITTED), AT_WORK, GATE_BEGINS},
	{FLOW_GATE_AGAIN, ANY, AT_WORK, GATE_BEGINS},
	{FLOW_GATE_LET_IN, AT_WORK, NEVER, 0},
	{FLOW_GATE_LET_IN, BUT(AT_WORK), SAME, 0},
	{FLOW_GATE_KILLED, AT_WORK, KEPT_OUT, STANDS_DOWN | ENDS | FLOW_RETRY_OFF},
	{FLOW_GATE_KILLED, BUT(AT_WORK), NEVER, 0},
	{FLOW_GATE_SPECIAL, ANY, KEPT_OUT,
	 FLOW_UNWATCHES | FLOW_WITHDRAWS | FLOW_JUDGES | FLOW_JOURNALS | FLOW_TRIAL_OVER |
		 FLOW_RETRY_OFF},
	{FLOW_RETRY, UNJUDGED | AT_WORK, AT_WORK, GATE_BEGINS},
	{FLOW_RETRY, WAITING, SAME, 0},
	{FLOW_RETRY, ADMITTED, SAME, FLOW_RENEWS | FLOW_RETRY_OFF},
	{FLOW_RETRY, LAPSED | KEPT_OUT, SAME, FLOW_RETRY_OFF},
	{FLOW_RETRY_WHOLE, ANY, AT_WORK, GATE_BEGINS},
	{FLOW_JUDGED_ADMITS, AT_WORK, ADMITTED,
	 OPENS | FLOW_STORES_PASS | ENDS | FLOW_TRIAL_OVER | FLOW_RETRY_OFF | FLOW_HAND_TIMER_OFF},
	{FLOW_JUDGED_ADMITS, WAITING, ADMITTED,
	 OPENS | FLOW_STORES_PASS | ENDS | FLOW_RETRY_OFF | FLOW_HAND_TIMER_OFF},
	{FLOW_JUDGED_ADMITS, BUT(AT_WORK | WAITING), NEVER, 0},
	{FLOW_JUDGED_WAITS, AT_WORK, WAITING, STANDS_DOWN | ENDS | FLOW_TRIAL_OVER | FLOW_RETRY_ON},
	{FLOW_JUDGED_WAITS, WAITING, SAME, STANDS_DOWN | ENDS | FLOW_RETRY_ON},
	{FLOW_JUDGED_WAITS, BUT(AT_WORK | WAITING), NEVER, 0},
	{FLOW_JUDGED_KEEPS_OUT, AT_WORK, KEPT_OUT,
	 STANDS_DOWN | ENDS | FLOW_TRIAL_OVER | FLOW_RETRY_OFF},
	{FLOW_JUDGED_KEEPS_OUT, WAITING, KEPT_OUT, STANDS_DOWN | ENDS | FLOW_RETRY_OFF},
	{FLOW_JUDGED_KEEPS_OUT, BUT(AT_WORK | WAITING), NEVER, 0},
	{FLOW_NO_PROFILE, AT_WORK, KEPT_OUT,
	 FLOW_UNWATCHES | FLOW_JUDGES | FLOW_CLAIMS | ENDS | FLOW_TRIAL_OVER | FLOW_RETRY_OFF},
	{FLOW_NO_PROFILE, WAITING, KEPT_OUT,
	 FLOW_UNWATCHES | FLOW_JUDGES | FLOW_CLAIMS | ENDS | FLOW_RETRY_OFF},
	{FLOW_NO_PROFILE, BUT(AT_WORK | WAITING), NEVER, 0},
	{FLOW_NO_PROFILE_ADMITS, AT_WORK, ADMITTED,
	 FLOW_UNWATCHES | OPENS | ENDS | FLOW_TRIAL_OVER | FLOW_RETRY_OFF | FLOW_HAND_TIMER_OFF},
	{FLOW_NO_PROFILE_ADMITS, WAITING, ADMITTED,
	 FLOW_UNWATCHES | OPENS | ENDS | FLOW_RETRY_OFF | FLOW_HAND_TIMER_OFF},
	{FLOW_NO_PROFILE_ADMITS, BUT(AT_WORK | WAITING), NEVER, 0},
	/*
	 * The retry timer's gate judges again, and admits work once there is room for the record.
	 * The record on disk may be older and disagree: it is replaced or removed.
	 */
	{FLOW_NOT_WRITTEN, ADMITTED, UNJUDGED,
	 FLOW_UNWATCHES | FLOW_DROPS_PASS | FLOW_JUDGES | FLOW_WAIT_OVER | FLOW_RECORDS |
		 FLOW_JOURNALS | FLOW_TRIAL_OVER | FLOW_RETRY_ON},
	{FLOW_NOT_WRITTEN, BUT(ADMITTED), NEVER, 0},
	/* If a boot has waited, its retries go on, and its time of waiting continues. */
	{FLOW_STOPPED, ANY, UNJUDGED | WAITING, STOPS},
	{FLOW_STOPPED_REBOOTS, ANY, UNJUDGED | WAITING, STOPS | FLOW_KEEPS_PASS},
	{FLOW_RENEW, ANY, SAME, FLOW_RENEWS},
	{FLOW_LOOKED, ADMITTED | LAPSED, SAME, FLOW_RECORDS},
	{FLOW_LOOKED, BUT(ADMITTED | LAPSED), NEVER, 0},

	{FLOW_DEVICE, ADMITTED | LAPSED, SAME, 0},
	{FLOW_DEVICE, BUT(ADMITTED | LAPSED), SAME, FLOW_REFUSES},
	{FLOW_DEVICE_LOST, ADMITTED, LAPSED,
	 FLOW_WITHDRAWS | FLOW_DROPS_PASS | FLOW_KEEPS_LOSS | FLOW_JUDGES | FLOW_RECORDS |
		 FLOW_JOURNALS},
	{FLOW_DEVICE_LOST, LAPSED, SAME, FLOW_DROPS_PASS | FLOW_KEEPS_LOSS},
	{FLOW_DEVICE_LOST, BUT(ADMITTED | LAPSED), NEVER, 0},
	{FLOW_DEVICE_AWAY, LAPSED, SAME, FLOW_JUDGES | FLOW_RECORDS | FLOW_JOURNALS},
	{FLOW_DEVICE_AWAY, BUT(LAPSED), NEVER, 0},
	{FLOW_DEVICE_BACK, LAPSED, ADMITTED, OPENS | FLOW_JOURNALS},
	{FLOW_DEVICE_BACK, BUT(LAPSED), NEVER, 0},

	{FLOW_DRIFTED, ADMITTED, LAPSED,
	 FLOW_WITHDRAWS | FLOW_DROPS_PASS | FLOW_JUDGES | FLOW_RECORDS | FLOW_JOURNALS},
	{FLOW_DRIFTED, BUT(ADMITTED), NEVER, 0},
	{FLOW_STILL_SO, ADMITTED, SAME, FLOW_JUDGES | FLOW_CLAIMS | FLOW_JOURNALS},
	{FLOW_STILL_SO, BUT(ADMITTED), NEVER, 0},

	{FLOW_ADMIT, WAITING | LAPSED | KEPT_OUT, SAME, FLOW_CLAIMS | FLOW_JOURNALS_HAND},
	{FLOW_ADMIT, UNJUDGED | AT_WORK | ADMITTED, SAME, FLOW_REFUSES},
	{FLOW_ADMIT_ENDS, ANY, SAME, FLOW_HAND_OVER | FLOW_RECORDS | FLOW_HAND_TIMER_OFF},
};

const size_t flow_row_count = sizeof(flow_rows) / sizeof(*flow_rows);

const struct flow_row *flow_find(enum flow_event event, enum flow_state from)
{
	for (size_t i = 0; i < flow_row_count; i++)
		if (flow_rows[i].event == event && flow_rows[i].from & FLOW_BIT(from))
			return &flow_rows[i];
	return NULL;
}

static unsigned int next_of(const struct flow_row *row, enum flow_state from)
{
	return row->next == FLOW_SAME ? FLOW_BIT(from) : row->next;
}

/* --- words ------------------------------------------------------------------------------- */

const char *flow_state_name(enum flow_state s)
{
	static const char *const names[FLOW_STATE_COUNT] = {
		[FLOW_UNJUDGED] = "unjudged", [FLOW_AT_WORK] = "at work",
		[FLOW_WAITING] = "waiting",   [FLOW_ADMITTED] = "admitted",
		[FLOW_LAPSED] = "lapsed",     [FLOW_KEPT_OUT] = "kept out",
	};

	return names[s];
}

const char *flow_event_name(enum flow_event e)
{
	static const char *const names[FLOW_EVENT_COUNT] = {
		[FLOW_USER_SPACE] = "a soft-reboot has begun another user space",
		[FLOW_NO_RECORD] = "a stage begins, or the gate's unit is stopped, while no "
				   "verdict is recorded",
		[FLOW_STAGE_BEGINS] = "a stage begins while no work is admitted",
		[FLOW_STAGE_HELD] = "a stage ends, and nothing that keeps work out failed",
		[FLOW_STAGE_OTHER] =
			"a stage ends with another profile, and nothing that keeps work out failed",
		[FLOW_STAGE_FAILED] = "a stage failed",
		[FLOW_STAGE_NO_PROFILE] = "a stage has no profile to apply",
		[FLOW_STAGE_NO_PROFILE_STILL] =
			"a stage has no profile to apply, although a gate has admitted work",
		[FLOW_GATE] = "a gate begins, with the profile of the record",
		[FLOW_GATE_AGAIN] =
			"a gate begins, with --again, with another profile or with none",
		[FLOW_GATE_LET_IN] = "the gate's unit starts while work is admitted by hand",
		[FLOW_GATE_KILLED] = "the gate's unit starts after several that were killed",
		[FLOW_GATE_SPECIAL] =
			"a gate begins where nothing may be written (rescue, kdump, a container)",
		[FLOW_RETRY] = "a retry is due",
		[FLOW_RETRY_WHOLE] = "a retry is due, without an earlier look to continue from",
		[FLOW_JUDGED_ADMITS] = "the gate's verdict admits work",
		[FLOW_JUDGED_WAITS] = "the gate's verdict waits",
		[FLOW_JUDGED_KEEPS_OUT] = "the gate's verdict keeps work out",
		[FLOW_NO_PROFILE] = "the gate has no profile to judge by",
		[FLOW_NO_PROFILE_ADMITS] = "the gate has no profile, and railhead.conf admits work",
		[FLOW_NOT_WRITTEN] = "a verdict that admits work can't be written",
		[FLOW_STOPPED] = "the gate's unit is stopped",
		[FLOW_STOPPED_REBOOTS] = "the gate's unit is stopped by a reboot",
		[FLOW_RENEW] = "readers must be informed again, before labels lapse",
		[FLOW_LOOKED] = "a later look finds nothing new",
		[FLOW_DEVICE] = "a device that is watched has an event",
		[FLOW_DEVICE_LOST] = "a device is lost",
		[FLOW_DEVICE_AWAY] = "a look after a loss keeps work out",
		[FLOW_DEVICE_BACK] = "a look after a loss admits work",
		[FLOW_DRIFTED] = "two later looks find that the node changed",
		[FLOW_STILL_SO] = "a later look admits work, with other warnings",
		[FLOW_ADMIT] = "a person admits work",
		[FLOW_ADMIT_ENDS] = "an admission by a person ends",
	};

	return names[e];
}

/* --- the state --------------------------------------------------------------------------- */

enum flow_state flow_state(const struct record *r)
{
	if (!r->judged)
		return FLOW_UNJUDGED;
	if (r->verdict.admit)
		return FLOW_ADMITTED;
	if (r->begun)
		return FLOW_AT_WORK;
	switch (r->verdict.kind) {
	case VERDICT_WAITING:
		return r->waiting.until ? FLOW_WAITING : FLOW_UNJUDGED;
	case VERDICT_LAPSED:
		return FLOW_LAPSED;
	default:
		return FLOW_KEPT_OUT;
	}
}

/* --- acts -------------------------------------------------------------------------------- */

/* An event in progress. */
struct move {
	struct flow *f;
	struct record *record;
	unsigned int acts;
	bool waited, by_hand;	/* before the event */
	uint64_t waited_usec;	/* before the event */
	struct history history; /* with this boot; empty: not written */
	struct err first;	/* from the record and its claims */
};

static bool does(const struct move *m, unsigned int acts)
{
	return m->acts & acts;
}

static void note(struct move *m, int r, const struct err *err)
{
	if (r < 0)
		m->f->complain(err->text);
	if (r < 0 && !m->first.code)
		err_copy(&m->first, r, err);
}

/* An error that leaves the verdict standing. */
static void note_lesser(struct move *m, int r, const struct err *err, const char *more)
{
	cleanup_free char *text = xasprintf("%s%s", err->text, more);

	if (r < 0)
		m->f->complain(text);
}

#define NO_HISTORY "; `railhead history` lacks this boot"
#define MEASURES_AGAIN "; the next boot measures again"

static void keep_losses(struct move *m)
{
	struct watch *watch = m->f->watch;
	struct err err = {0};

	for (size_t i = 0; watch && i < watch->list.n; i++)
		if (watch->list.v[i].lost_at)
			note_lesser(m, watch_store_lost(m->f->root, &watch->list.v[i], &err), &err,
				    "");
}

/*
 * Withdraws claims before the record changes. A failure here is not final, because status_store()
 * tries again if the record is written, and returns the error.
 */
static void take_back(struct move *m)
{
	const struct root *root = m->f->root;
	struct err err = {0};

	if (does(m, FLOW_FORGETS))
		freeze_forget(root);
	if (does(m, FLOW_UNWATCHES))
		watch_end(root);
	if (does(m, FLOW_WITHDRAWS))
		note_lesser(m, status_withdraw(root, m->f->status, &err), &err, "");
	if (does(m, FLOW_KEEPS_PASS))
		note_lesser(m, pass_keep(root, m->record, &err), &err, MEASURES_AGAIN);
	if (does(m, FLOW_DROPS_PASS))
		note_lesser(m, pass_store(root, m->record, NULL, &err), &err, "");
	if (does(m, FLOW_KEEPS_LOSS))
		keep_losses(m);
}

static int write_history(void *move, struct err *err)
{
	struct move *m = move;

	return history_write(m->f->root, &m->history, err);
}

/* The trends are part of the record, so they are found before the record is written. */
static void take_history(struct move *m)
{
	const struct flow *f = m->f;
	struct boot_past boot;
	struct err err = {0};
	int r;

	if (!f->news || m->record->verdict.kind == VERDICT_OFF)
		return;
	history_of_record(m->record, f->run, &boot);
	boot.waited = m->waited_usec;
	boot.reboots = f->reboots;
	r = history_look(f->root, &err);
	if (r < 0)
		boot_past_free(&boot);
	else
		r = history_add(f->root, &boot, &m->history, &err);
	note_lesser(m, r, &err, m->history.boots.n ? "" : NO_HISTORY);
	history_trends_told(&m->history, &m->record->trends);
}

static void set_record(struct move *m, const struct verdict *v)
{
	if (does(m, FLOW_HAND_OVER)) {
		journal_admitted(m->f->root, m->record, m->f->over);
		record_end_window(&m->record->admission);
	}
	if (does(m, FLOW_JUDGES)) {
		m->f->news = !record_says(m->record, v);
		record_set_verdict(m->record, v);
	}
	if (does(m, FLOW_HISTORY))
		take_history(m);
	if (does(m, FLOW_BEGINS))
		record_begin(m->record);
	if (does(m, FLOW_WAIT_OVER))
		m->record->waiting = (struct waiting){0};
}

static void write_record(struct move *m)
{
	struct err err = {0};

	if (m->record->unreadable && (does(m, FLOW_CLAIMS) || does(m, FLOW_RECORDS))) {
		journal_unreadable(m->f->root, m->record->unreadable);
		free(take_ptr(m->record->unreadable));
	}
	if (does(m, FLOW_CLAIMS))
		note(m, status_admit(m->f->root, m->f->status, &err), &err);
	else if (does(m, FLOW_RECORDS))
		note(m, status_store(m->f->root, m->f->status, &err), &err);
}

static void tell(struct move *m)
{
	struct flow *f = m->f;
	struct err err = {0};

	if (does(m, FLOW_STORES_PASS))
		note_lesser(m, numbers_pass(f->run, m->record, &err), &err, MEASURES_AGAIN);
	if (does(m, FLOW_JOURNALS) && f->news)
		journal_verdict(f->root, m->record);
	if (does(m, FLOW_JOURNALS_HAND) && !m->first.code)
		journal_admitted(f->root, m->record, NULL);
	if (does(m, FLOW_RENEWS))
		status_renew(f->root, f->status);
}

/* A boot that never waited and had no admission by hand has no timer to stop. */
static void set_timers(struct move *m)
{
	const struct root *root = m->f->root;
	const char *cmdline = m->f->run ? m->f->run->node.cmdline : NULL;
	struct err err = {0};

	if (does(m, FLOW_TRIAL_BEGINS) && cmdline)
		note_lesser(m, service_trial_gate_begins(root, cmdline, &err), &err, "");
	if (does(m, FLOW_TRIAL_OVER) && cmdline)
		note_lesser(m, service_trial_over(root, cmdline, &m->f->run->plan, &err), &err, "");
	if (does(m, FLOW_RETRY_ON) || (does(m, FLOW_RETRY_OFF) && m->waited))
		note_lesser(m, service_retry(root, does(m, FLOW_RETRY_ON), &err), &err, "");
	if (does(m, FLOW_HAND_TIMER_OFF) && m->by_hand)
		note_lesser(m, service_window_over(root, "admit", &err), &err, "");
}

/* Replaces a verdict that could not be written: work is admitted once the record has room. */
static void take_back_verdict(struct move *m)
{
	cleanup_free char *text =
		xasprintf("the verdict '%s' could not be written: %s; the gate judges again soon",
			  verdict_name(m->record->verdict.kind), m->first.text);
	struct verdict v;

	verdict_simple(&v, VERDICT_WAITING, FAULT_HOST_RECORD, text);
	flow_move(m->f, FLOW_NOT_WRITTEN, &v);
	verdict_free(&v);
}

static int defect(const struct flow *f, enum flow_event event, enum flow_state from)
{
	cleanup_free char *text =
		xasprintf("a defect of railhead, please report it: '%s' while the node is '%s'; no "
			  "verdict was written",
			  flow_event_name(event), flow_state_name(from));

	f->complain(text);
	return -EPROTO;
}

static int make_move(struct move *m, enum flow_event event, enum flow_state from,
		     const struct verdict *v)
{
	const struct flow_row *row = flow_find(event, from);
	const struct record *r = m->record;
	struct err err = {0};

	take_back(m);
	set_record(m, v);
	if (!(next_of(row, from) & FLOW_BIT(flow_state(r))))
		return defect(m->f, event, from);
	write_record(m);
	if (does(m, FLOW_CLAIMS) && m->first.code && r->verdict.admit) {
		take_back_verdict(m);
		return m->first.code;
	}
	tell(m);
	set_timers(m);
	if (m->history.boots.n)
		note_lesser(m, history_apart(write_history, m, &err), &err, NO_HISTORY);
	return m->first.code;
}

int flow_move(struct flow *f, enum flow_event event, const struct verdict *v)
{
	struct record *r = &f->status->record;
	enum flow_state from = flow_state(r);
	const struct flow_row *row = flow_find(event, from);
	struct move m = {.f = f,
			 .record = r,
			 .waited = r->waiting.until || f->retries,
			 .by_hand = record_is_let_in(r),
			 .waited_usec = r->waiting.until ? clock_usec() - r->waiting.since : 0};
	int e;

	if (!row || row->next == FLOW_NEVER)
		return defect(f, event, from);
	m.acts = row->acts;
	e = make_move(&m, event, from, v);
	history_free(&m.history);
	return e;
}
