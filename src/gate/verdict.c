/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a verified plan and measurements to one word, and why. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "gate/gate.h"

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

/* A worse verdict replaces a better one; equal ones keep their order of finding. */
static void worsen(struct verdict *v, enum on_fail on_fail)
{
	if (on_fail == ON_FAIL_BLOCK)
		v->kind = VERDICT_BLOCKED;
	else if (on_fail == ON_FAIL_DEGRADE && v->kind == VERDICT_READY)
		v->kind = VERDICT_DEGRADED;
}

/* What it waits for does not hold either: that is the reason, said once for all of them. */
static bool is_follower(const struct plan *plan, const struct change *c)
{
	const struct change *on = c->waits_for ? plan_find(plan, c->waits_for) : NULL;
	const struct change *also = c->needs ? plan_find(plan, c->needs) : NULL;

	return (on && !change_holds(on)) || (also && !change_holds(also));
}

static size_t count_followers(const struct plan *plan, const struct change *of)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->list.n; i++) {
		const struct change *c = plan->list.v[i];

		n += ((c->waits_for && streq(c->waits_for, of->id)) ||
		      (c->needs && streq(c->needs, of->id))) &&
		     !change_holds(c);
	}
	return n;
}

static void judge_change(const struct plan *plan, const struct change *c, struct verdict *v)
{
	cleanup_str struct str text = {0};
	size_t followers;

	if (change_holds(c))
		return;
	worsen(v, c->on_fail);
	if (is_follower(plan, c))
		return;
	followers = count_followers(plan, c);
	str_addf(&text, "%s: ", c->id);
	if (c->state == CHANGE_FAILED)
		str_add(&text, c->reason ? c->reason : "failed");
	else
		str_addf(&text, "found '%s', wanted '%s'%s%s",
			 c->observed ? c->observed : "nothing",
			 c->kind == KIND_FILE ? "the profile's text" : c->desired,
			 c->reason ? "; " : "", c->reason ? c->reason : "");
	if (followers)
		str_addf(&text, " (and %zu more that wait for it)", followers);
	strv_add(&v->reasons, text.s);
}

static void judge_measurement(const struct measurement *m, struct verdict *v)
{
	cleanup_free char *text = NULL;

	if (m->outcome == OUTCOME_PASS)
		return;
	text = xasprintf("%s: %s", m->id, m->reason);
	strv_add(&v->reasons, text);
	/* Only what was measured may be forgiven: a benchmark that can't run proves nothing. */
	worsen(v, m->outcome == OUTCOME_SLOW ? m->on_fail : ON_FAIL_BLOCK);
}

void gate_judge(const struct profile *profile, const struct plan *plan,
		const struct measurements *m, struct verdict *ret)
{
	struct verdict v = {.kind = VERDICT_READY};
	bool admit_degraded = ynode_bool(profile_section(profile, "gate"), "admit_degraded", false);

	for (size_t i = 0; i < plan->list.n; i++)
		judge_change(plan, plan->list.v[i], &v);
	for (size_t i = 0; i < m->list.n; i++)
		judge_measurement(&m->list.v[i], &v);
	v.admit = v.kind == VERDICT_READY || (v.kind == VERDICT_DEGRADED && admit_degraded);
	*ret = v;
}

void verdict_simple(struct verdict *ret, enum verdict_kind kind, const char *reason)
{
	memset(ret, 0, sizeof(*ret));
	ret->kind = kind;
	strv_add(&ret->reasons, reason);
}

void verdict_free(struct verdict *v)
{
	strv_free(&v->reasons);
}
