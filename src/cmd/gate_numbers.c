/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers that the gate judges: measured now, or (gate.reuse of the profile) those of the
 * boot before, if it ended in an orderly reboot and everything that they stand on is the same.
 * The looks, and the benchmarks that put no load on the machine, are done in every boot.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/units.h"
#include "boot/kargs.h"
#include "boot/service.h"
#include "cmd/cmd.h"
#include "engine/pass.h"
#include "engine/watch.h"
#include "gate/binding.h"
#include "sys/clock.h"
#include "sys/manager.h"
#include "sys/state.h"

enum { KEEP_LOCK_US = 2 * 1000000 };

/* The names of the checks whose benchmarks need load, or of those whose benchmarks do not. */
static void benchmarks_of(const struct profile *profile, bool load, struct strv *ret)
{
	const struct ynode *checks = ynode_get(profile_section(profile, "gate"), "checks");

	for (size_t i = 0; checks && i < checks->keys.n; i++) {
		const char *run = ynode_text(checks->items.v[i], "run", "");

		if (gate_measures(run) && gate_needs_load(run) == load)
			strv_add(ret, checks->keys.v[i]->text);
	}
}

/* gate.reuse in microseconds; 0: nothing is used again. */
static uint64_t reuse_of(const struct profile *profile)
{
	cleanup_strv struct strv under_load = {0};

	benchmarks_of(profile, true, &under_load);
	return under_load.n ? ynode_number_of(profile_section(profile, "gate"), "reuse", 0) : 0;
}

/* Why the numbers of the pass are not those of the node as it is now; NULL: they are. */
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
 * Takes what the boot before left, whether or not it is used: it serves once. this_boot: the checks
 * that every boot measures.
 */
static bool reuse(const struct invocation *inv, const struct run *run,
		  const struct section_ctx *ctx, const struct strv *this_boot, struct status *s)
{
	uint64_t usec = reuse_of(run->profile);
	cleanup_free char *why = NULL, *trial = kargs_value(run->node.cmdline, "railhead.trial");
	struct err err = {0};
	struct pass pass;
	bool used, asked;

	pass_take(run->root, &pass, &err);
	asked = pass.there && usec;
	if (err.code)
		complain("%s; all checks are measured again", err.text);
	if (asked && inv->again)
		why = xstrdup("--again");
	else if (asked && trial)
		why = xstrdup("this boot tries kernel arguments");
	else if (asked)
		why = refusal(&pass, run, ctx, usec);
	used = asked && !why;
	if (used)
		pass_use(&pass, this_boot, &s->record);
	else
		record_set_numbers(&s->record, &(struct record_numbers){.there = true,
									.measured = time(NULL),
									.why = take_ptr(why)});
	pass_free(&pass);
	return used;
}

/* The names of the checks of which something could not be measured yet, or undisturbed. */
static void still_to_come(const struct measurements *m, struct strv *ret)
{
	for (size_t i = 0; i < m->list.n; i++)
		if (measurement_may_come(m->list.v[i].state) &&
		    !strv_contains(ret, m->list.v[i].check))
			strv_add(ret, m->list.v[i].check);
}

/* Those checks are measured; the numbers of the others stay. */
static int measure_some(const struct section_ctx *ctx, const struct strv *only, struct status *s,
			struct err *err)
{
	struct measurements m = {0};
	int r = 0;

	if (only->n)
		r = gate_measure(ctx, only, &m, err);
	record_replace_measurements(&s->record, &m);
	return r;
}

static int measure_all(const struct section_ctx *ctx, struct status *s, struct err *err)
{
	struct measurements m = {0};
	int r = gate_measure(ctx, NULL, &m, err);

	record_set_measurements(&s->record, &m);
	return r;
}

int gate_numbers(const struct invocation *inv, const struct run *run, struct status *s,
		 struct err *err)
{
	struct section_ctx ctx = {run->root, &run->node, run->profile, &run->sets};
	cleanup_strv struct strv only = {0};

	if (inv->retry)
		still_to_come(&s->record.measurements, &only);
	else
		benchmarks_of(run->profile, false, &only);
	if (inv->retry || reuse(inv, run, &ctx, &only, s))
		return measure_some(&ctx, &only, s, err);
	return measure_all(&ctx, s, err);
}

void gate_pass(const struct run *run, const struct status *s)
{
	struct binding binding = {0};
	struct err err = {0};
	bool wanted = reuse_of(run->profile);

	if (wanted)
		binding_take(run->root, run->profile, &run->node, &run->sets, &binding);
	if (pass_store(run->root, &s->record, wanted ? &binding : NULL, &err) < 0)
		complain("%s; the next boot measures again", err.text);
	binding_free(&binding);
}

/* However the unit's end came, what it judged is not judged any more. */
static int withdraw_judgement(const struct root *root, struct status *s)
{
	struct err err = {0};
	int r;

	record_set_simple(&s->record, VERDICT_WAITING, FAULT_GATE_STOPPED,
			  "railhead-gate.service was stopped; its next start judges again");
	watch_end(root);
	r = status_store(root, s, &err);
	if (r < 0)
		complain("%s", err.text);
	return r;
}

/* The lock may be held by what the same shutdown is about to end: that is no reason to wait. */
int gate_keep(struct invocation *inv)
{
	cleanup_close int lock = -1;
	struct status s;
	struct err err = {0};
	bool reboots = service_reboots(&inv->root);
	int r = 0;

	if (!reboots && !in_own_service()) {
		complain("gate --keep: nothing done: no reboot is under way");
		return EXIT_OK;
	}
	lock = state_lock(&inv->root, clock_usec() + KEEP_LOCK_US, &err);
	if (lock < 0) {
		complain("%s", err.text);
		return EXIT_INTERNAL;
	}
	status_load(&inv->root, &s);
	if (status_withdraw(&inv->root, &s, &err) < 0)
		complain("%s", err.text);
	if (reboots)
		r = pass_keep(&inv->root, &s.record, &err);
	if (r < 0)
		complain("%s; the next boot measures again", err.text);
	if (s.record.judged && withdraw_judgement(&inv->root, &s) < 0)
		r = -EIO;
	say_warnings(&s);
	status_free(&s);
	return r < 0 ? EXIT_INTERNAL : EXIT_OK;
}
