/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate: verifies everything, runs the benchmarks, judges, and on a verdict that admits
 * work opens railhead-ready.target, which starts what waits for it.
 *
 * The target Requires= railhead-gate.service. So after a gate by hand or by the timer the
 * target starts that unit, which runs this again: it finds the verdict of this boot and profile
 * and lets it stand, unless --again.
 *
 * While the verdict is waiting railhead-retry.timer runs `gate --retry`: that looks, and only
 * where the looks do not keep work out any more it goes on to measure what could not be measured
 * yet. What has passed in this boot is not measured again.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "boot/service.h"
#include "boot/view.h"
#include "cmd/cmd.h"
#include "engine/journal.h"
#include "engine/watch.h"
#include "report/progress.h"
#include "report/status_text.h"
#include "sys/clock.h"
#include "sys/manager.h"
#include "sys/state.h"

enum {
	LOCK_WAIT_US = 30 * 1000000,
	CHECKS_WAIT_US = 10 * 1000000,
	/* Looked for again after an eighth of the time waited so far, between these two. */
	RETRY_LEAST_US = 15 * 1000000,
	RETRY_MOST_US = 120 * 1000000,
	RETRY_SLACK_US = 2 * 1000000, /* of the timer */
	BEGUN_MOST = 3, /* gates of the unit that were killed: a fourth would be, too */
};

struct gate {
	struct invocation *inv;
	const struct root *root;
	struct run run;
	struct status status;
	struct verdict v;
	bool unit; /* not by hand */
	bool news; /* to the journal, and where it is by itself to the console */
	bool admitted;
	bool killed; /* too often: a trial of kernel arguments is left to its timer */
};

/* --- judging ------------------------------------------------------------------------------- */

static void look_at_all(struct gate *g, bool wait, struct stage_result *result)
{
	memset(result, 0, sizeof(*result));
	result->stage = STAGE_GATE;
	result->started = clock_usec();
	run_look(&g->run, STAGES_ALL, STAGE_GATE);
	if (wait)
		run_wait_checks(&g->run, CHECKS_WAIT_US);
	result->duration = clock_usec() - result->started;
	for (size_t i = 0; i < g->run.plan.list.n; i++)
		result->count[g->run.plan.list.v[i]->state]++;
}

/* Kernel arguments that arrived become the good ones now, whatever the benchmarks say. */
static void settle_kargs(const struct run *run, struct verdict *v)
{
	struct err err = {0};
	int r = boot_settle(run->root, &run->node, &run->kargs, &err);

	if (r < 0) {
		cleanup_free char *text = xasprintf(
			"kernel_args/next_boot: could not be made permanent: %s", err.text);

		reasons_add(&v->reasons, FAULT_BOOT_TRIAL_OPEN, text);
		v->kind = VERDICT_BLOCKED;
		v->admit = false;
	} else if (r > 0) {
		fprintf(stderr,
			"%s: what became of the trial of kernel arguments is written down\n",
			ENV_FILE_NAME);
	}
}

static void judge(struct gate *g)
{
	struct record *record = &g->status.record;
	struct stage_result result;
	struct err err = {0};

	/* Before the first look: what is lost from here on has its events. */
	if (watch_begin(&g->run, &err) < 0)
		complain("%s", err.text);
	if (is_watched(&g->run))
		progress_begin("gate");
	look_at_all(g, true, &result);
	if (gate_numbers(g->inv, &g->run, &g->status, &err) < 0)
		verdict_simple(&g->v, VERDICT_BLOCKED, FAULT_GATE_FAILED, err.text);
	else
		gate_judge(g->run.profile, &g->run.plan, &record->measurements, &g->v);
	progress_end();
	result.duration = clock_usec() - result.started;
	if (!g->inv->retry)
		settle_kargs(&g->run, &g->v);
	record_set_profile(record, g->run.profile);
	record_set_stage(record, &g->run, STAGES_ALL, &result);
	journal_stage(&g->run, STAGES(STAGE_GATE), &result);
}

/* --- waiting ------------------------------------------------------------------------------- */

static bool is_waiting(const struct record *r)
{
	return r->waiting.until && r->verdict.kind == VERDICT_WAITING;
}

static bool retry_is_due(const struct waiting *w)
{
	uint64_t now = clock_usec(), gap = (w->looked - w->since) / 8;

	if (gap < RETRY_LEAST_US)
		gap = RETRY_LEAST_US;
	if (gap > RETRY_MOST_US)
		gap = RETRY_MOST_US;
	return now >= w->until || now + RETRY_SLACK_US >= w->looked + gap;
}

/*
 * Whether the looks alone keep work out; then nothing is measured, and the verdict is of them and
 * of the numbers that are there.
 */
static bool looks_keep_out(struct gate *g)
{
	const struct measurements nothing = {0};
	struct stage_result result;
	bool keep_out;

	look_at_all(g, false, &result);
	gate_judge(g->run.profile, &g->run.plan, &nothing, &g->v);
	keep_out = !g->v.admit;
	verdict_free(&g->v);
	if (!keep_out)
		return false;
	gate_judge(g->run.profile, &g->run.plan, &g->status.record.measurements, &g->v);
	record_set_stage(&g->status.record, &g->run, STAGES_ALL, &result);
	return true;
}

/* A gate by hand begins to wait anew. */
static void wait_or_give_up(struct gate *g)
{
	struct waiting *w = &g->status.record.waiting;
	uint64_t now = clock_usec();

	if (g->v.admit) {
		*w = (struct waiting){0};
		return;
	}
	if (g->v.kind != VERDICT_WAITING || !g->run.profile)
		return;
	if (!w->until || (!g->unit && !g->inv->retry)) {
		w->since = now;
		w->until = now + gate_wait(g->run.profile);
	}
	w->looked = now;
	if (now >= w->until)
		verdict_give_up(&g->v, now - w->since);
}

static void set_timer(const struct gate *g)
{
	/* Or a verdict that could not be written down: with room, the next one can. */
	const struct record *r = &g->status.record;
	bool waits = is_waiting(r) || record_is_unjudged(r);
	struct err err = {0};

	/* A boot that never waited has no timer to stop. */
	if ((waits || g->inv->retry || r->waiting.until) && service_retry(g->root, waits, &err) < 0)
		complain("%s", err.text);
}

/* --- the verb ------------------------------------------------------------------------------ */

/* What a judgement had still to do that was killed after it had let work in. */
static void stand(struct gate *g)
{
	struct err err = {0};

	g->admitted = true;
	status_renew(g->root, &g->status);
	if (service_trial_over(g->root, g->run.node.cmdline, &err) < 0)
		complain("%s", err.text);
}

static bool already_admitted(const struct gate *g)
{
	return !g->inv->again && g->status.record.verdict.admit &&
	       streq(record_digest(&g->status.record), g->run.profile->digest);
}

/* A retry has nothing to take back, and its verdict stays until there is another. */
static void begin(struct gate *g)
{
	struct err err = {0};

	if (g->inv->retry)
		return;
	if ((g->run.status == RUN_SPECIAL ? status_withdraw(g->root, &g->status, &err)
					  : status_begin(g->root, &g->status, &err)) < 0)
		complain("%s", err.text);
	if (service_trial_gate_begins(g->root, g->run.node.cmdline, &err) < 0)
		complain("%s", err.text);
}

/* Work is let in when there is room for the record: the retry timer's gate judges again. */
static void take_back(struct gate *g, const char *why)
{
	cleanup_free char *text =
		xasprintf("the verdict was '%s', and could not be written down: %s; it is judged "
			  "again in a moment",
			  verdict_name(g->v.kind), why);

	verdict_free(&g->v);
	verdict_simple(&g->v, VERDICT_WAITING, FAULT_HOST_RECORD, text);
	g->status.record.waiting = (struct waiting){0};
	record_set_verdict(&g->status.record, &g->v);
}

/* Returns the exit code. */
static int end(struct gate *g)
{
	int code = g->v.admit ? EXIT_OK : EXIT_GATE;
	bool had_hand = record_is_let_in(&g->status.record);
	struct err err = {0};

	wait_or_give_up(g);
	g->news = !g->inv->retry || !record_says(&g->status.record, &g->v);
	record_set_verdict(&g->status.record, &g->v);
	if (!g->v.admit || g->run.status != RUN_OK)
		watch_end(g->root);
	g->admitted = g->v.admit;
	if (g->run.status != RUN_SPECIAL && status_admit(g->root, &g->status, &err) < 0) {
		complain("%s", err.text);
		code = EXIT_INTERNAL;
		g->admitted = false;
		if (g->v.admit)
			take_back(g, err.text);
	}
	if (g->run.status == RUN_OK)
		gate_pass(&g->run, &g->status);
	if (g->news)
		journal_verdict(&g->run, &g->v);
	if (!g->inv->retry && !g->killed &&
	    service_trial_over(g->root, g->run.node.cmdline, &err) < 0)
		complain("%s", err.text);
	set_timer(g);
	if (had_hand && g->v.admit && service_admission_over(g->root, &err) < 0)
		complain("%s", err.text);
	if (!g->inv->json && (g->news || !g->unit)) {
		struct screen screen = screen_look();

		status_render(stdout, &g->status.record, &screen);
	}
	return code;
}

static void blame_killed(struct gate *g)
{
	cleanup_free char *text = xasprintf(
		"the gate was begun %u times, and killed, or failed, before its verdict each time; "
		"see `journalctl -u railhead-gate` and the kernel log (out of memory?), and run "
		"`railhead gate`",
		g->status.record.begun);

	verdict_simple(&g->v, VERDICT_BLOCKED, FAULT_GATE_KILLED, text);
	g->killed = true;
}

/* With the run open. Returns the exit code. */
static int run_gate(struct gate *g)
{
	if (g->run.status == RUN_OK && already_admitted(g)) {
		if (!g->inv->json)
			printf("verdict: %s, from earlier in this boot (--again measures anew)\n",
			       verdict_name(g->status.record.verdict.kind));
		stand(g);
		return EXIT_OK;
	}
	if (g->unit && g->status.record.begun >= BEGUN_MOST) {
		blame_killed(g);
		return end(g);
	}
	begin(g);
	if (g->run.status != RUN_OK) {
		explain_run(&g->run);
		verdict_of_run(&g->run, &g->v);
		record_set_profile(&g->status.record, g->run.profile);
	} else if (!g->inv->retry || !looks_keep_out(g)) {
		judge(g);
	}
	return end(g);
}

/* Whether --retry has anything to do; else *code is the exit code. */
static bool wants_retry(struct gate *g, int *code)
{
	const struct record *r = &g->status.record;
	struct err err = {0};

	*code = record_admits(r) ? EXIT_OK : EXIT_GATE;
	if (r->verdict.admit) {
		g->admitted = true;
		status_renew(g->root, &g->status);
	}
	/* Never begun, killed, or in vain: there is nothing to go on from. */
	if (r->begun || record_is_unjudged(r) || g->status.claim_lost ||
	    !r->stage[STAGE_GATE].ran) {
		g->inv->retry = false;
		return true;
	}
	if (!is_waiting(r)) {
		if (!g->unit)
			complain("gate --retry: nothing done: the verdict is '%s', not waiting",
				 verdict_name(r->verdict.kind));
		if (service_retry(g->root, false, &err) < 0)
			complain("%s", err.text);
		return false;
	}
	return !g->unit || retry_is_due(&r->waiting);
}

/* The target that `admit` opens starts the gate's unit, which must not fail then. */
static bool is_let_in(struct gate *g)
{
	cleanup_free char *line = record_admission_line(&g->status.record);

	if (!g->unit || g->inv->again || !line || g->status.record.begun)
		return false;
	printf("verdict: %s, %s\n", verdict_name(g->status.record.verdict.kind), line);
	g->admitted = true;
	return true;
}

static int run_locked(struct gate *g)
{
	struct run_options opt = {.profile = g->inv->profile,
				  .freeze = g->unit ? FREEZE_BOOT : FREEZE_ANEW};
	struct err err = {0};
	int code = EXIT_OK;

	status_load(g->root, &g->status);
	enter_user_space(g->root, &g->status);
	if (g->inv->retry ? !wants_retry(g, &code) : is_let_in(g))
		goto out;
	if (run_open(g->root, &opt, &g->run, &err) < 0) {
		complain("%s", err.text);
		code = EXIT_INTERNAL;
		goto out;
	}
	say_frozen_anew(&g->run);
	code = run_gate(g);
	run_close(&g->run);
out:
	say_warnings(&g->status);
	if (g->inv->json)
		print_json(record_to_json(&g->status.record));
	verdict_free(&g->v);
	status_free(&g->status);
	return code;
}

/* Who is at work now tells them when it has ended. */
static int renew(struct invocation *inv)
{
	cleanup_close int lock = -1;
	struct status s;
	struct err err = {0};

	lock = state_lock(&inv->root, clock_usec(), &err);
	if (lock < 0)
		return EXIT_OK;
	status_load(&inv->root, &s);
	status_renew(&inv->root, &s);
	say_warnings(&s);
	status_free(&s);
	return EXIT_OK;
}

/* A gate of the unit that left no verdict: nobody else would look again in this boot. */
static void come_back(const struct gate *g)
{
	struct err err = {0};

	if (g->unit && !g->admitted && service_retry(g->root, true, &err) < 0)
		complain("%s", err.text);
}

static int run_alone(struct gate *g)
{
	cleanup_close int lock = -1;
	struct err err = {0};

	lock = state_lock(g->root, clock_usec() + LOCK_WAIT_US, &err);
	if (lock < 0) {
		complain("%s", err.text);
		return EXIT_INTERNAL;
	}
	return run_locked(g);
}

static int run(struct invocation *inv)
{
	struct gate g = {.inv = inv, .root = &inv->root, .unit = in_own_service()};
	struct err err = {0};
	int code;

	if (inv->retry + inv->again + inv->keep + inv->renew > 1) {
		complain("gate: --again, --retry, --keep and --renew exclude each other");
		return EXIT_USAGE;
	}
	if (inv->keep)
		return gate_keep(inv);
	if (inv->renew)
		return renew(inv);
	/* The target's start runs this verb again, in railhead-gate.service: without the lock. */
	code = run_alone(&g);
	fflush(stdout);
	if (code == EXIT_INTERNAL)
		come_back(&g);
	if (g.admitted && inv->root.live && service_open_target(!g.unit, &err) < 0) {
		complain("%s", err.text);
		return EXIT_INTERNAL;
	}
	return code;
}

const struct verb verb_gate = {
	.name = "gate",
	.args = "",
	.help = "verify, measure and judge the node; start dependent units when it is ready",
	.options = OPT_ROOT | OPT_JSON | OPT_PROFILE | OPT_AGAIN | OPT_RETRY | OPT_KEEP | OPT_RENEW,
	.writes = true,
	.run = run,
};
