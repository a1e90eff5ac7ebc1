/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/numbers.h"

#include <time.h>

#include "base/mem.h"
#include "base/units.h"
#include "boot/trial.h"
#include "checks/check.h"
#include "engine/history.h"
#include "engine/pass.h"
#include "gate/binding.h"
#include "profile/section.h"
#include "profile/yaml.h"
#include "sys/clock.h"

#define ASK_EVERY_US UINT64_C(3600000000)

/* The names of the checks whose benchmarks put load on the machine (load), or of the others. */
static void benchmarks_of(const struct profile *profile, bool load, struct strv *ret)
{
	const struct ynode *checks = ynode_get(profile_section(profile, "gate"), "checks");

	for (size_t i = 0; checks && i < checks->keys.n; i++) {
		const struct check *check = check_find(ynode_text(checks->items.v[i], "run", ""));

		if (check && check->measure && check->no_load != load)
			strv_add(ret, checks->keys.v[i]->text);
	}
}

/* gate.reuse in microseconds; 0: no reuse. */
static uint64_t reuse_of(const struct profile *profile)
{
	cleanup_strv struct strv under_load = {0};

	benchmarks_of(profile, true, &under_load);
	return under_load.n ? ynode_number_of(profile_section(profile, "gate"), "reuse", 0) : 0;
}

/* Why the numbers of the pass do not apply to the node as it is now; NULL: they apply. */
static char *refusal(const struct pass *pass, const struct run *run, const struct section_ctx *ctx,
		     uint64_t usec)
{
	struct binding binding = {0};
	struct plan benchmarks = {0};
	char *why;

	binding_take(run->root, run->profile, &run->node, &run->sets, &binding);
	gate_plan(ctx, &benchmarks);
	why = pass_refusal(pass, &binding, &benchmarks, time(NULL), usec);
	plan_free(&benchmarks);
	binding_free(&binding);
	return why;
}

/*
 * Takes the pass of the previous boot even if it is not used, because a pass is used at most once.
 * this_boot: the checks that every boot measures.
 */
static bool reuse(const struct run *run, bool again, const struct section_ctx *ctx,
		  const struct strv *this_boot, struct record *r)
{
	uint64_t usec = reuse_of(run->profile);
	cleanup_free char *why = NULL;
	struct err err = {0};
	struct pass pass;
	bool used, asked;

	pass_take(run->root, &pass, &err);
	asked = pass.there && usec;
	if (err.code && usec)
		why = xstrdup(err.text);
	else if (asked && again)
		why = xstrdup("--again");
	else if (asked && trial_on_line(run->node.cmdline))
		why = xstrdup("this boot tries kernel arguments");
	else if (asked)
		why = refusal(&pass, run, ctx, usec);
	used = asked && !why;
	if (used)
		pass_use(&pass, this_boot, r);
	else
		record_set_numbers(r, &(struct record_numbers){.there = true,
							       .measured = time(NULL),
							       .why = take_ptr(why)});
	pass_free(&pass);
	return used;
}

/* The names of the checks with a missing or disturbed measurement. */
static void still_to_come(const struct measurements *m, struct strv *ret)
{
	for (size_t i = 0; i < m->list.n; i++)
		if (measurement_may_come(m->list.v[i].state) &&
		    !strv_contains(ret, m->list.v[i].check))
			strv_add(ret, m->list.v[i].check);
}

/* Measures these checks, NULL: all; the numbers of the others stay. */
static int measure(const struct section_ctx *ctx, const struct strv *only, struct record *r,
		   struct err *err)
{
	static const struct binding unknown;
	const struct binding *good = &unknown;
	cleanup(history_free) struct history h = {0};
	struct measurements m = {0};
	int e = 0;

	if (!only || only->n) {
		if (history_look(ctx->root, NULL) == 0)
			history_read(ctx->root, &h, NULL);
		for (size_t i = 0; i < h.boots.n; i++)
			if (boot_past_good(&h.boots.v[i]))
				good = boot_past_good(&h.boots.v[i]);
		e = gate_measure(ctx, only, good, &m, err);
	}
	if (only)
		record_replace_measurements(r, &m);
	else
		record_set_measurements(r, &m);
	return e;
}

static bool holds_all(const struct measurements *m, const struct strv *checks)
{
	for (size_t i = 0; i < m->list.n; i++)
		if (strv_contains(checks, m->list.v[i].check) && !measurement_holds(&m->list.v[i]))
			return false;
	return true;
}

static struct measurement *find(const struct measurements *m, const char *id)
{
	for (size_t i = 0; i < m->list.n; i++)
		if (streq(m->list.v[i].id, id))
			return &m->list.v[i];
	return NULL;
}

/* A fault of the GPU, by its driver. A driver that hangs or crashes reports none. */
static bool is_broken(const struct measurement *m)
{
	cleanup_free char *layer = m->fault ? fault_layer(m->fault) : NULL;

	return layer && streq(layer, "gpu") && m->fault != FAULT_GPU_CLOCKS &&
	       !measurement_may_come(m->state);
}

static bool is_answered(const struct measurement *m)
{
	return m->state == CHANGE_SAME || m->state == CHANGE_SLOW ||
	       m->state == CHANGE_INTERMITTENT || m->state == CHANGE_UNSUPPORTED;
}

static void warn_of_silence(const struct measurement *m, const struct err *err,
			    struct findings *ret)
{
	cleanup_free char *why = xasprintf("not looked at since the last answer: %s",
					   m->reason ? m->reason : err->text);

	findings_add(ret, &(struct finding){.id = m->id,
					    .fault = FAULT_GATE_CANNOT_LOOK,
					    .on_fail = ON_FAIL_WARN,
					    .why = why,
					    .remedy = m->remedy});
}

/* Takes ownership of the measurement. */
static void take_answer(struct measurement *m, const struct err *err, struct record *r,
			struct findings *unanswered)
{
	struct measurement *before = find(&r->measurements, m->id);
	bool news = before && (m->state == CHANGE_SAME || is_broken(m));

	if (before && !news && !is_answered(m))
		warn_of_silence(m, err, unanswered);
	if (news) {
		struct measurement old = *before;

		*before = *m;
		*m = old;
	}
	measurement_free(m);
}

/* The warnings of the last question stay until the next one. */
static void keep_silence(const struct record *r, struct findings *ret)
{
	const struct findings *was = &r->verdict.findings;

	for (size_t i = 0; i < was->list.n; i++) {
		const struct finding *f = &was->list.v[i];

		if (f->fault == FAULT_GATE_CANNOT_LOOK && f->on_fail == ON_FAIL_WARN && f->id &&
		    find(&r->measurements, f->id))
			findings_add(ret, f);
	}
}

void numbers_ask(const struct run *run, struct record *r, struct findings *unanswered)
{
	const struct section_ctx ctx = run_sections(run);
	cleanup_strv struct strv checks = {0};
	struct measurements m = {0};
	struct err err = {0};

	benchmarks_of(run->profile, false, &checks);
	keep_silence(r, unanswered);
	/* A driver that hangs may keep each process that asks, so it is asked once an hour alone.
	 */
	if (!checks.n ||
	    (clock_usec() < r->last_look.asked + ASK_EVERY_US &&
	     (unanswered->list.n || r->verdict.admit || holds_all(&r->measurements, &checks))))
		return;
	findings_free(unanswered);
	gate_ask(&ctx, &checks, &m, &err);
	for (size_t i = 0; i < m.list.n; i++)
		take_answer(&m.list.v[i], &err, r, unanswered);
	vec_free(&m.list);
	r->last_look.asked = clock_usec();
}

int numbers_take(const struct run *run, bool again, struct record *r, struct strv *loaded,
		 struct err *err)
{
	const struct section_ctx ctx = run_sections(run);
	cleanup_strv struct strv this_boot = {0};

	benchmarks_of(run->profile, false, &this_boot);
	r->last_look.asked = clock_usec();
	if (reuse(run, again, &ctx, &this_boot, r))
		return measure(&ctx, &this_boot, r, err);
	benchmarks_of(run->profile, true, loaded);
	return measure(&ctx, NULL, r, err);
}

int numbers_take_rest(const struct run *run, struct record *r, struct strv *loaded, struct err *err)
{
	const struct section_ctx ctx = run_sections(run);
	cleanup_strv struct strv only = {0}, under_load = {0};

	still_to_come(&r->measurements, &only);
	benchmarks_of(run->profile, true, &under_load);
	for (size_t i = 0; i < only.n; i++)
		if (strv_contains(&under_load, only.v[i]))
			strv_add(loaded, only.v[i]);
	return measure(&ctx, &only, r, err);
}

int numbers_pass(const struct run *run, const struct record *r, struct err *err)
{
	struct binding binding = {0};
	bool wanted = reuse_of(run->profile);
	int e;

	if (wanted)
		binding_take(run->root, run->profile, &run->node, &run->sets, &binding);
	e = pass_store(run->root, r, wanted ? &binding : NULL, err);
	binding_free(&binding);
	return e;
}
