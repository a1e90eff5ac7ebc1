/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate: verifies everything, runs the benchmarks, judges, and on a verdict that admits
 * work opens railhead-ready.target, which starts what waits for it.
 *
 * The target Requires= railhead-gate.service. So after a gate by hand the target starts
 * that unit, which runs this again: it finds the verdict of this boot and profile and
 * lets it stand, unless --again.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "boot/service.h"
#include "boot/view.h"
#include "cmd/cmd.h"
#include "engine/watch.h"
#include "report/journal.h"
#include "sys/clock.h"
#include "sys/state.h"

enum { LOCK_WAIT_US = 30 * 1000000, CHECKS_WAIT_US = 10 * 1000000 };

static void verify_all(struct run *run, struct stage_result *result)
{
	result->stage = STAGE_GATE;
	result->started = clock_usec();
	run_look(run, STAGES_ALL, STAGE_GATE);
	run_wait_checks(run, CHECKS_WAIT_US);
	result->duration = clock_usec() - result->started;
	for (size_t i = 0; i < run->plan.list.n; i++)
		result->count[run->plan.list.v[i]->state]++;
}

/* Kernel arguments that arrived become the good ones now, whatever the benchmarks say. */
static void settle_kargs(const struct run *run, struct verdict *v)
{
	struct err err = {0};
	int r = boot_settle(run->root, &run->node, &run->kargs, &err);

	if (r < 0) {
		cleanup_free char *text = xasprintf(
			"kernel_args/next_boot: could not be made permanent: %s", err.text);

		strv_add(&v->reasons, text);
		v->kind = VERDICT_BLOCKED;
		v->admit = false;
	} else if (r > 0) {
		fprintf(stderr,
			"%s: what became of the trial of kernel arguments is written down\n",
			ENV_FILE_NAME);
	}
}

static bool already_admitted(const struct invocation *inv, const struct status *s,
			     const struct run *run)
{
	return !inv->again && status_admitted(s) && streq(status_digest(s), run->profile->digest);
}

static void judge(struct run *run, struct status *s, struct verdict *v)
{
	struct measurements m = {0};
	struct stage_result result = {0};
	struct step_ctx ctx = {run->root, &run->node, run->profile, &run->sets};
	struct err err = {0};

	/* Before the first look: what is lost from here on has its events. */
	if (watch_begin(run, &err) < 0)
		complain("%s", err.text);
	verify_all(run, &result);
	if (gate_measure(&ctx, &m, &err) < 0)
		verdict_simple(v, VERDICT_BLOCKED, err.text);
	else
		gate_judge(run->profile, &run->plan, &m, v);
	result.duration = clock_usec() - result.started;
	settle_kargs(run, v);
	status_set_profile(s, run->profile);
	status_set_stage(s, run, STAGES_ALL, &result);
	status_set_measurements(s, &m);
	journal_stage(run, STAGES(STAGE_GATE), &result);
	measurements_free(&m);
}

/* Returns the exit code; *admitted says whether the target may open. */
static int run_gate(struct invocation *inv, bool *admitted)
{
	struct run_options opt = {.profile = inv->profile,
				  .freeze = in_own_unit() ? FREEZE_BOOT : FREEZE_ANEW};
	struct verdict v = {0};
	struct status status;
	struct err err = {0};
	struct run run;
	int code = EXIT_OK;

	if (run_open(&inv->root, &opt, &run, &err) < 0) {
		complain("%s", err.text);
		return EXIT_INTERNAL;
	}
	say_frozen_anew(&run);
	status_load(&inv->root, &status);
	if (run.status == RUN_OK && already_admitted(inv, &status, &run)) {
		if (!inv->json)
			printf("verdict: %s, from earlier in this boot (--again measures anew)\n",
			       status_verdict(&status));
		*admitted = true;
		goto out;
	}
	if (status_withdraw(&inv->root, &status, &err) < 0)
		complain("%s", err.text);
	if (service_trial_gate_begins(&inv->root, run.node.cmdline, &err) < 0)
		complain("%s", err.text);
	if (run.status == RUN_OK) {
		judge(&run, &status, &v);
	} else {
		explain_run(&run);
		verdict_of_run(&run, &v);
	}
	status_set_verdict(&status, &v);
	if (!v.admit || run.status != RUN_OK)
		watch_end(&inv->root);
	*admitted = v.admit;
	code = v.admit ? EXIT_OK : EXIT_GATE;
	if (run.status != RUN_SPECIAL && status_store(&inv->root, &status, &err) < 0) {
		complain("%s", err.text);
		code = EXIT_INTERNAL;
		*admitted = false;
	}
	journal_verdict(&run, &v);
	if (service_trial_over(&inv->root, run.node.cmdline, &err) < 0)
		complain("%s", err.text);
	if (!inv->json)
		status_render(stdout, &status);
out:
	say_warnings(&status);
	if (inv->json)
		print_json(json_incref(status.doc));
	verdict_free(&v);
	status_free(&status);
	run_close(&run);
	return code;
}

static int run(struct invocation *inv)
{
	bool admitted = false;
	struct err err = {0};
	int lock = state_lock(&inv->root, clock_usec() + LOCK_WAIT_US, &err);
	int code;

	if (lock < 0) {
		complain("%s", err.text);
		return EXIT_INTERNAL;
	}
	code = run_gate(inv, &admitted);
	/* The target's start runs this verb again, in railhead-gate.service. */
	close(lock);
	fflush(stdout);
	if (admitted && inv->root.live && service_open_target(!in_own_unit(), &err) < 0) {
		complain("%s", err.text);
		return EXIT_INTERNAL;
	}
	return code;
}

const struct verb verb_gate = {
	.name = "gate",
	.args = "",
	.help = "verify, measure and judge; on ready start what waits for it",
	.options = OPT_ROOT | OPT_JSON | OPT_PROFILE | OPT_AGAIN,
	.writes = true,
	.run = run,
};
