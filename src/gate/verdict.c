/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a verified plan and measurements to a verdict with its reasons. */
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "gate/gate.h"
#include "plan/change.h"
#include "plan/render.h"
#include "profile/yaml.h"
#include "sections/sections.h"

enum { CHAIN_MAX = 8 }; /* a VF waits for its PF, which waits for another one */

/* Indexed by the enum; ready, degraded and blocked are in order of gravity. */
static const char *const names[] = {
	[VERDICT_READY] = "ready",     [VERDICT_DEGRADED] = "degraded",
	[VERDICT_BLOCKED] = "blocked", [VERDICT_WAITING] = "waiting",
	[VERDICT_LAPSED] = "lapsed",   [VERDICT_OFF] = "off",
	[VERDICT_NONE] = "none",
};

const char *verdict_name(enum verdict_kind k)
{
	return names[k];
}

/* The verdict so far: with all findings, and without the checks that may still pass. */
struct judgement {
	struct verdict *v;
	enum verdict_kind all, sure;
};

/* A worse finding replaces a better verdict. */
static void worsen(enum verdict_kind *kind, enum on_fail on_fail)
{
	if (on_fail == ON_FAIL_BLOCK)
		*kind = VERDICT_BLOCKED;
	else if (on_fail == ON_FAIL_DEGRADE && *kind == VERDICT_READY)
		*kind = VERDICT_DEGRADED;
}

static void found(struct judgement *j, const char *id, enum on_fail on_fail, bool may_come)
{
	worsen(&j->all, on_fail);
	if (may_come)
		strv_add(&j->v->awaited, id);
	else
		worsen(&j->sure, on_fail);
}

/* A change without which c can't hold, and which does not hold; NULL: none. */
static const struct change *find_holder(const struct plan *plan, const struct change *c)
{
	const char *const ids[] = {c->waits_for, c->needs, c->while_id,
				   finding_was_refused(&c->now) ? c->now.tried.follows
								: c->now.follows};

	for (size_t i = 0; i < array_len(ids); i++) {
		const struct change *on = ids[i] ? plan_find(plan, ids[i]) : NULL;

		if (on && on != c && !change_holds(on))
			return on;
	}
	return NULL;
}

/* The change at the end of the chain: one reason is reported for all of it. */
static const struct change *find_culprit(const struct plan *plan, const struct change *c)
{
	const struct change *on = c;

	for (size_t i = 0; i < CHAIN_MAX && on; i++) {
		c = on;
		on = find_holder(plan, c);
	}
	return c;
}

/* Reports the name of railhead's own file only, because the file has many lines. */
static char *describe_file(const struct change *c)
{
	if (!*c->desired)
		return xasprintf("%s: an earlier profile left the file", c->target);
	return xasprintf("%s is %s", c->target,
			 streq(or_empty(c->now.found), "absent") ? "absent"
								 : "different from the profile");
}

void findings_add_change(struct findings *l, const struct change *c, unsigned int followers)
{
	bool differs = c->now.state == CHANGE_DIFFERS, failed = c->now.state == CHANGE_FAILED;
	cleanup_free char *place = render_line(c->origin), *file = NULL, *why = NULL;
	struct finding f = c->now;

	f.id = c->id;
	f.on_fail = c->on_fail;
	f.fault = fault_of_change(c);
	f.lasting = change_may_come(c) ? f.fault : FAULT_NONE;
	f.followers = followers;
	if (finding_was_refused(&c->now))
		f.remedy = f.tried.remedy;
	else
		f.tried = (struct tried){0};
	if (differs && !f.tried.words && c->kind->set && !c->withheld)
		f.apply = place;
	if (failed && !f.why)
		f.why = (char *)"failed";
	if (!failed && c->kind == &kind_file) {
		file = describe_file(c);
		why = f.why ? xasprintf("%s; %s", file, f.why) : xstrdup(file);
		f.why = why;
	} else if (!failed) {
		f.wanted = c->desired;
	}
	if (failed || c->kind == &kind_file)
		f.found = NULL;
	findings_add(l, &f);
}

static void judge_change(const struct change *c, bool follows, size_t followers,
			 struct judgement *j)
{
	if (c->came_later ||
	    (c->now.state == CHANGE_UNSUPPORTED && (c->optional || c->kind == &kind_check)))
		strv_add(&j->v->skipped, c->id);
	if (change_holds(c))
		return;
	found(j, c->id, c->on_fail, change_may_come(c));
	if (!follows)
		findings_add_change(&j->v->findings, c, (unsigned int)followers);
}

static void judge_changes(const struct plan *plan, struct judgement *j)
{
	size_t n = plan->list.n;
	cleanup_free const struct change **culprit = xcalloc(n + 1, sizeof(*culprit));

	for (size_t i = 0; i < n; i++)
		if (!change_holds(plan->list.v[i]))
			culprit[i] = find_culprit(plan, plan->list.v[i]);
	for (size_t i = 0; i < n; i++) {
		const struct change *c = plan->list.v[i];
		size_t followers = 0;

		for (size_t k = 0; culprit[i] == c && k < n; k++)
			followers += culprit[k] == c && k != i;
		judge_change(c, culprit[i] != c, followers, j);
	}
}

bool measurement_holds(const struct measurement *m)
{
	return m->state == CHANGE_SAME || (m->state == CHANGE_UNSUPPORTED && !m->demanded);
}

bool measurement_may_come(enum change_state s)
{
	return s == CHANGE_NOT_YET || s == CHANGE_INVALID;
}

static void judge_measurement(const struct measurement *m, struct judgement *j)
{
	struct finding f = measurement_finding(m);

	if (m->state == CHANGE_UNSUPPORTED && !m->demanded)
		strv_add(&j->v->skipped, m->id);
	if (measurement_holds(m) || m->follows)
		return;
	f.lasting = m->state == CHANGE_NOT_YET ? m->fault : FAULT_NONE;
	findings_add(&j->v->findings, &f);
	found(j, m->id, m->on_fail, measurement_may_come(m->state));
}

void gate_judge(const struct profile *profile, const struct plan *plan,
		const struct measurements *m, struct verdict *ret)
{
	struct verdict v = {.kind = VERDICT_READY};
	struct judgement j = {&v, VERDICT_READY, VERDICT_READY};
	bool admit_degraded = ynode_bool(profile_section(profile, "gate"), "admit_degraded", false);
	enum verdict_kind worst = admit_degraded ? VERDICT_DEGRADED : VERDICT_READY;

	judge_changes(plan, &j);
	for (size_t i = 0; i < m->list.n; i++)
		judge_measurement(&m->list.v[i], &j);
	v.admit = j.all <= worst;
	v.otherwise = j.all;
	v.kind = !v.admit && j.sure <= worst ? VERDICT_WAITING : j.all;
	for (size_t i = 0; v.kind == VERDICT_WAITING && i < v.findings.list.n; i++)
		if (v.findings.list.v[i].lasting)
			v.findings.list.v[i].fault = FAULT_GATE_NOT_YET;
	*ret = v;
}

uint64_t gate_wait(const struct profile *profile)
{
	return ynode_number_of(profile_section(profile, "gate"), "wait",
			       GATE_WAIT_S * UINT64_C(1000000));
}

static void take_lasting(struct findings *l)
{
	for (size_t i = 0; i < l->list.n; i++)
		if (l->list.v[i].lasting)
			l->list.v[i].fault = l->list.v[i].lasting;
}

void verdict_lapse(struct verdict *v)
{
	take_lasting(&v->findings);
	v->kind = VERDICT_LAPSED;
	v->admit = false;
}

void verdict_give_up(struct verdict *v, uint64_t usec)
{
	cleanup_free char *time = format_duration(usec);
	cleanup_str struct str text = {0};

	str_addf(&text, "gate.wait: waited %s for %s", time, v->awaited.v[0]);
	if (v->awaited.n > 1)
		str_addf(&text, " and %zu more", v->awaited.n - 1);
	str_add(&text, ", and gave up; mend the faults above, then run `railhead gate`");
	take_lasting(&v->findings);
	findings_add(&v->findings,
		     &(struct finding){.fault = FAULT_GATE_WAIT_OVER,
				       .on_fail = v->otherwise == VERDICT_DEGRADED ? ON_FAIL_DEGRADE
										   : ON_FAIL_BLOCK,
				       .why = text.s});
	v->kind = v->otherwise;
}

void verdict_simple(struct verdict *ret, enum verdict_kind kind, enum fault fault,
		    const char *reason)
{
	memset(ret, 0, sizeof(*ret));
	ret->kind = kind;
	findings_say(&ret->findings, fault, NULL, reason);
}

void verdict_copy(struct verdict *ret, const struct verdict *v)
{
	*ret = (struct verdict){.kind = v->kind, .admit = v->admit};
	for (size_t i = 0; i < v->findings.list.n; i++)
		findings_add(&ret->findings, &v->findings.list.v[i]);
	for (size_t i = 0; i < v->skipped.n; i++)
		strv_add(&ret->skipped, v->skipped.v[i]);
}

void verdict_free(struct verdict *v)
{
	findings_free(&v->findings);
	strv_free(&v->awaited);
	strv_free(&v->skipped);
}
