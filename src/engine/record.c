/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/record.h"

#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "kinds/cover.h"
#include "plan/change.h"
#include "plan/render.h"
#include "sections/judged.h"
#include "sections/sections.h"
#include "sys/clock.h"

static char *copy(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

void record_init(struct record *r, const char *boot_id)
{
	*r = (struct record){.boot_id = xstrdup(or_empty(boot_id)),
			     .verdict = {.kind = VERDICT_WAITING}};
}

/* --- stages ------------------------------------------------------------------------------ */

void record_set_profile(struct record *r, const struct profile *profile)
{
	stored_free(record_profile_stored, &r->profile);
	if (profile)
		r->profile = (struct record_profile){
			xstrdup(profile->name), xstrdup(or_empty(profile->version)),
			xstrdup(profile->digest), xstrdup(profile->file)};
}

const char *record_digest(const struct record *r)
{
	return or_empty(r->profile.digest);
}

void record_sets_add(struct record_sets *sets, const struct device_sets *device_sets)
{
	for (size_t i = 0; i < device_sets->set.n; i++) {
		const struct device_set *from = &device_sets->set.v[i];
		struct record_set set = {.name = xstrdup(from->sel->name)};

		for (size_t k = 0; k < from->fn.n; k++)
			strv_add(&set.addresses, from->fn.v[k]->addr);
		vec_push(&sets->list, set);
	}
}

/*
 * A change that apply can set is not a fault before apply has tried, because a plan is full of such
 * changes.
 */
static enum fault fault_to_record(const struct change *c)
{
	bool is_fault =
		c->now.state == CHANGE_FAILED ||
		(c->now.state == CHANGE_DIFFERS && (!c->kind->set || finding_was_refused(&c->now)));

	if (c->kind == &kind_benchmark)
		return c->now.fault;
	return is_fault ? fault_of_change(c) : FAULT_NONE;
}

struct record_change record_change_of(const struct change *c)
{
	cleanup_free char *origin = render_place(c->origin);
	struct record_change ret = {.section = (char *)c->section,
				    .kind = (char *)c->kind->name,
				    .target = c->target,
				    .origin = *origin ? origin : NULL,
				    .stage = c->stage,
				    .now = c->now,
				    .started = c->started,
				    .duration = c->duration};

	ret.now.id = c->id;
	ret.now.wanted = c->desired;
	ret.now.on_fail = c->on_fail;
	ret.now.fault = fault_to_record(c);
	if (!finding_was_refused(&c->now))
		ret.now.tried = (struct tried){0};
	stored_own(record_change_stored, &ret);
	return ret;
}

void record_set_stage(struct record *r, const struct run *run, unsigned int stages,
		      const struct stage_result *result)
{
	struct record_stage *stage = &r->stage[result->stage];

	stored_free(record_stage_stored, stage);
	*stage = (struct record_stage){
		.ran = true, .started = result->started, .duration = result->duration};
	memcpy(stage->count, result->count, sizeof(stage->count));
	vfs_works_find(run, stages, result, &stage->vfs);
	for (size_t i = 0; i < run->plan.list.n; i++) {
		const struct change *c = run->plan.list.v[i];

		if (run_covers(c, stages, result->stage) && c->now.state != CHANGE_UNKNOWN)
			vec_push(&stage->changes, record_change_of(c));
	}
	record_sets_free(&r->sets);
	record_sets_add(&r->sets, &run->sets);
	if (result->stage != STAGE_GATE)
		return;
	stored_free(missing_list_stored, &r->missing);
	r->missing = run->missing;
	stored_own(missing_list_stored, &r->missing);
}

/* The record of the change by the last stage that may have set it. */
static const struct record_change *find_latest(const struct record *r, const char *id)
{
	const struct record_change *latest = NULL;
	uint64_t at = 0;

	for (enum stage s = 0; s < STAGE_GATE; s++)
		for (size_t i = 0; i < r->stage[s].changes.n; i++) {
			const struct record_change *c = &r->stage[s].changes.v[i];

			if (!streq(c->now.id, id) || (latest && r->stage[s].started < at))
				continue;
			latest = c;
			at = r->stage[s].started;
		}
	return latest;
}

static void find_lessons(const struct record *r, struct lessons *ret)
{
	for (enum stage s = 0; s < STAGE_GATE; s++)
		for (size_t i = 0; i < r->stage[s].changes.n; i++) {
			const struct record_change *c = &r->stage[s].changes.v[i];
			struct tried tried = {s, c->now.fault, c->now.why, c->now.remedy,
					      c->now.follows};

			if (c->now.state == CHANGE_FAILED && c->now.why &&
			    find_latest(r, c->now.id) == c)
				vec_push(&ret->list,
					 ((struct lesson){c->now.id, or_empty(c->now.wanted),
							  tried}));
		}
}

int record_open_run(const struct record *r, const struct root *root, const struct run_options *opt,
		    struct run *ret, struct err *err)
{
	struct lessons lessons = {0};
	struct run_options own = *opt;
	int e;

	if (r)
		find_lessons(r, &lessons);
	own.lessons = &lessons;
	e = run_open(root, &own, ret, err);
	vec_free(&lessons.list);
	return e;
}

void record_recall_figures(const struct record *r, const struct profile *profile, struct plan *plan)
{
	if (!r->measured || !streq(record_digest(r), profile->digest))
		return;
	for (size_t i = 0; i < r->measurements.list.n; i++) {
		const struct measurement *m = &r->measurements.list.v[i];
		struct change *c = plan_find(plan, m->id);

		if (!c || c->kind != &kind_benchmark)
			continue;
		stored_free(finding_stored, &c->now);
		c->now = measurement_finding(m);
		c->now.found = m->measured;
		if (m->state == CHANGE_UNSUPPORTED && !measurement_holds(m))
			c->now.state = CHANGE_CANNOT_MEASURE;
		stored_own(finding_stored, &c->now);
	}
}

void record_set_lack(struct record *r, enum stage stage, const char *sentence)
{
	free(r->stage[stage].lacks);
	r->stage[stage].lacks = copy(sentence);
}

void record_set_device(struct record *r, const struct record_device *device)
{
	for (size_t i = 0; i < r->devices.n; i++)
		if (streq(r->devices.v[i].addr, device->addr)) {
			stored_free(record_device_stored, &r->devices.v[i]);
			r->devices.v[i] = *device;
			return;
		}
	vec_push(&r->devices, *device);
}

/* --- numbers ----------------------------------------------------------------------------- */

void record_set_measurements(struct record *r, struct measurements *m)
{
	measurements_free(&r->measurements);
	r->measurements = *m;
	r->measured = true;
	*m = (struct measurements){0};
}

void record_forget_figures(struct record *r)
{
	measurements_free(&r->measurements);
	r->measured = false;
}

static bool has_check(const struct measurements *m, size_t n, const char *check)
{
	for (size_t i = 0; i < n; i++)
		if (streq(m->list.v[i].check, check))
			return true;
	return false;
}

void record_replace_measurements(struct record *r, struct measurements *m)
{
	struct measurements *old = &r->measurements;
	size_t n = m->list.n;

	for (size_t i = 0; i < old->list.n; i++)
		if (has_check(m, n, old->list.v[i].check))
			measurement_free(&old->list.v[i]);
		else
			vec_push(&m->list, old->list.v[i]);
	old->list.n = 0;
	record_set_measurements(r, m);
}

void record_set_numbers(struct record *r, const struct record_numbers *numbers)
{
	stored_free(record_numbers_stored, &r->numbers);
	r->numbers = *numbers;
}

/* --- the verdict ------------------------------------------------------------------------- */

static void keep_counters(struct record *r, const struct change *c)
{
	struct record_counters kept = {.id = xstrdup(c->id)};

	for (size_t i = 0; i < c->still.list.n; i++)
		counts_add(&kept.counts, c->still.list.v[i].member, 0, c->still.list.v[i].value);
	vec_push(&r->counters, kept);
}

void record_looked(struct record *r, const struct plan *plan, uint64_t interval)
{
	r->last_look = (struct last_look){clock_usec(), time(NULL), interval, r->last_look.asked};
	for (size_t i = 0; i < r->counters.n; i++)
		stored_free(record_counters_stored, &r->counters.v[i]);
	r->counters.n = 0;
	for (size_t i = 0; i < plan->list.n; i++)
		if (plan->list.v[i]->still.list.n)
			keep_counters(r, plan->list.v[i]);
}

void record_recall_counters(const struct record *r, struct plan *plan)
{
	for (size_t i = 0; i < r->counters.n; i++) {
		struct change *c = plan_find(plan, r->counters.v[i].id);

		if (c)
			c->still_before = &r->counters.v[i].counts;
	}
}

void record_set_verdict(struct record *r, const struct verdict *v)
{
	struct verdict now;

	verdict_copy(&now, v);
	verdict_free(&r->verdict);
	r->verdict = now;
	r->judged = true;
	r->judged_at = clock_usec();
	if (v->kind == VERDICT_OFF || v->kind == VERDICT_NONE) /* nothing is looked at */
		r->last_look = (struct last_look){0};
	r->begun = 0;
	r->begun_at = 0;
}

static void drop_held(struct record *r)
{
	for (size_t i = 0; i < r->held.list.n; i++)
		stored_free(held_stored, &r->held.list.v[i]);
	vec_free(&r->held.list);
}

void record_hold(struct record *r, const struct plan *plan)
{
	drop_held(r);
	for (size_t i = 0; i < plan->list.n; i++) {
		const struct change *c = plan->list.v[i];
		struct finding held = {.id = c->id,
				       .on_fail = c->drift_warns ? ON_FAIL_WARN : c->on_fail,
				       .covers = c->now.covers};

		if (!change_holds(c) || c->foreign)
			continue;
		stored_own(held_stored, &held);
		strv_sort(&held.covers);
		vec_push(&r->held.list, held);
	}
}

static void miss(struct plan *plan, const struct finding *held)
{
	struct change *gone = judged(plan, "gate", (struct place){0}, held->id, "there",
				     xstrdup("gone"), false, "it " COVER_WAS "; " COVER_REMEDY);

	gone->on_fail = held->on_fail;
	gone->fault = FAULT_HOST_GONE;
}

void record_recall_held(const struct record *r, struct plan *plan)
{
	static const struct strv nothing;
	size_t n = plan->list.n, at = 0;

	/* Nothing is known of the verdict of an older railhead. */
	if (!r->held.list.n)
		return;
	for (size_t i = 0; i < n; i++)
		plan->list.v[i]->covered = &nothing;
	for (size_t i = 0; i < r->held.list.n; i++) {
		const struct finding *held = &r->held.list.v[i];
		size_t seen = 0;

		/* both are in the order of the profile */
		while (seen < n && !streq(plan->list.v[at % n]->id, held->id)) {
			at++;
			seen++;
		}
		if (seen < n)
			plan->list.v[at++ % n]->covered = &held->covers;
		else
			miss(plan, held);
	}
}

void record_set_simple(struct record *r, enum verdict_kind kind, enum fault fault,
		       const char *reason)
{
	struct verdict v;

	verdict_simple(&v, kind, fault, reason);
	record_set_verdict(r, &v);
	verdict_free(&v);
}

void record_begin(struct record *r)
{
	unsigned int begun = r->begun + 1;
	uint64_t now = clock_usec();
	cleanup_free char *text = xasprintf("the gate has been at work since %llu s after boot",
					    (unsigned long long)(now / 1000000));

	record_set_simple(r, VERDICT_WAITING, FAULT_GATE_AT_WORK, text);
	r->begun = begun;
	r->begun_at = now;
	r->drift = (struct drift){0};
	drop_held(r);
	record_forget_figures(r);
}

bool record_says(const struct record *r, const struct verdict *v)
{
	const struct findings *was = &r->verdict.findings;
	bool same = r->judged && r->verdict.kind == v->kind && was->list.n == v->findings.list.n;

	for (size_t i = 0; same && i < was->list.n; i++)
		same = finding_same(&was->list.v[i], &v->findings.list.v[i]);
	return same;
}

bool record_is_unjudged(const struct record *r)
{
	return r->verdict.kind == VERDICT_WAITING && !r->waiting.until;
}

bool record_is_held_back(const struct record *r)
{
	return r->drift.lapses >= RECORD_LAPSES_MOST && clock_usec() < r->drift.quiet_at;
}

bool record_is_let_in(const struct record *r)
{
	return clock_usec() < r->admission.until && streq(r->admission.digest, record_digest(r));
}

bool record_is_maintained(const struct record *r)
{
	return clock_usec() < r->maintenance.until;
}

void record_open_window(const struct record *r, struct window *w, uint64_t since, uint64_t until,
			const char *ends, const char *who, const char *reason)
{
	record_end_window(w);
	*w = (struct window){since,	   until,	   xstrdup(ends), xstrdup(record_digest(r)),
			     xstrdup(who), xstrdup(reason)};
}

static char *window_line(const char *what, const struct window *w)
{
	return xasprintf("%s until %s by %s: %s", what, w->ends, w->who, w->reason);
}

char *record_admission_line(const struct record *r)
{
	return record_is_let_in(r) ? window_line("admitted", &r->admission) : NULL;
}

char *record_maintenance_line(const struct record *r)
{
	return record_is_maintained(r) ? window_line("maintenance", &r->maintenance) : NULL;
}

bool record_admits(const struct record *r)
{
	return (r->verdict.admit && !r->too_old) || record_is_let_in(r);
}

uint64_t record_interval(const struct record *r)
{
	return r->last_look.interval ? r->last_look.interval : RECHECK_EVERY_US;
}

void record_judge_age(struct record *r)
{
	const struct last_look *l = &r->last_look;
	uint64_t interval = record_interval(r);
	uint64_t now = clock_usec();

	/* divided, because an interval may be years */
	if (r->verdict.admit && l->at && now > l->at && (now - l->at) / LOOKS_MISSED > interval)
		r->too_old = (unsigned int)((now - l->at) / 60000000);
}

void record_leave_user_space(struct record *r)
{
	struct record boot;

	record_init(&boot, r->boot_id);
	boot.user_space = take_ptr(r->user_space);
	boot.stage[STAGE_INITRD] = r->stage[STAGE_INITRD];
	r->stage[STAGE_INITRD] = (struct record_stage){0};
	record_free(r);
	*r = boot;
}
