/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate: verifies everything, runs the benchmarks, judges, and on a verdict that admits work opens
 * railhead-ready.target, which starts the units that wait for it.
 *
 * The target Requires= railhead-gate.service. So after a gate by hand or by the timer the target
 * starts that unit, which runs this verb again: it finds the verdict of this boot and profile and
 * keeps the verdict, unless --again. While the verdict is waiting, railhead-retry.timer runs `gate
 * --retry`.
 */
#include <stdio.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/service.h"
#include "cmd/cmd.h"
#include "engine/judgement.h"
#include "engine/recheck.h"
#include "report/status_text.h"
#include "sys/manager.h"

static void opened(const struct run *run)
{
	say_frozen_anew(run);
	if (run->status != RUN_OK)
		explain_run(run);
}

static void print(const struct invocation *inv, const struct judgement *j)
{
	const struct record *r = &j->status.record;
	cleanup_free char *by_hand = record_admission_line(r);
	struct screen screen = screen_look();

	if (inv->json)
		print_json(record_to_json(r));
	else if (j->show)
		status_render(stdout, r, &screen);
	else if (j->end == JUDGEMENT_STANDS)
		printf("verdict: %s, from earlier in this boot (--again measures again)\n",
		       verdict_name(r->verdict.kind));
	else if (j->end == JUDGEMENT_LET_IN)
		printf("verdict: %s, %s\n", verdict_name(r->verdict.kind), or_empty(by_hand));
	if (j->end == JUDGEMENT_NOT_DUE && !j->unit)
		complain("gate --retry: nothing done: the verdict is '%s', not waiting",
			 verdict_name(r->verdict.kind));
}

static int exit_code(const struct judgement *j)
{
	if (j->end == JUDGEMENT_FAILED)
		return EXIT_INTERNAL;
	if (j->reboot && !j->unit)
		return EXIT_REBOOT;
	if (j->end == JUDGEMENT_NOT_DUE)
		return record_admits(&j->status.record) ? EXIT_OK : EXIT_GATE;
	return j->admitted ? EXIT_OK : EXIT_GATE;
}

static int keep(struct judgement *j)
{
	if (!j->unit && !service_reboots(j->root)) {
		complain("gate --keep: nothing done: no reboot is under way");
		return EXIT_OK;
	}
	return judgement_stop(j) < 0 ? EXIT_INTERNAL : EXIT_OK;
}

/*
 * Returns after a failure, or if the reboot is left to the operator: then no gate of the retry
 * timer makes it either.
 */
static void reboot_or_say(const struct judgement *j)
{
	struct err err = {0};

	if (!j->unit || !j->may_reboot) {
		complain("a reboot with other kernel arguments is due%s",
			 j->may_reboot ? "" : ", and " SITE_FILE " says reboot: false");
		if (!j->unit && service_retry(j->root, false, &err) < 0)
			complain("%s", err.text);
		return;
	}
	puts("rebooting with other kernel arguments");
	fflush(stdout);
	if (service_reboot(j->root, &err) < 0)
		complain("reboot: %s", err.text);
}

static uint64_t timer_interval(const struct invocation *inv)
{
	return inv->root.live ? manager_timer_interval(RECHECK_TIMER) : 0;
}

static int judge(const struct invocation *inv, struct judgement *j)
{
	j->interval = timer_interval(inv);
	judgement_run(j);
	if (j->status.record.boot_id)
		print(inv, j);
	if (j->reboot)
		reboot_or_say(j);
	return exit_code(j);
}

static int recheck(struct invocation *inv)
{
	struct recheck r = {.root = &inv->root,
			    .pause_usec = inv->root.live ? RECHECK_PAUSE_US : 0,
			    .interval = timer_interval(inv),
			    .complain = complain_text};
	int code = recheck_run(&r) < 0 ? EXIT_INTERNAL : EXIT_OK;
	struct screen screen = screen_look();

	if (inv->json && r.status.record.boot_id)
		print_json(record_to_json(&r.status.record));
	else if (r.news)
		status_render(stdout, &r.status.record, &screen);
	say_warnings(&r.status);
	if (code == EXIT_OK && r.looked && !record_admits(&r.status.record))
		code = EXIT_GATE;
	if (r.admitted)
		code = open_target(&inv->root, !in_own_service(), code);
	recheck_free(&r);
	return code;
}

static int run(struct invocation *inv)
{
	struct judgement j = {.root = &inv->root,
			      .profile = inv->profile,
			      .unit = in_own_service(),
			      .again = inv->again,
			      .retry = inv->retry,
			      .complain = complain_text,
			      .opened = opened,
			      .at_work = show_progress};
	int code = EXIT_OK;

	if (inv->retry + inv->again + inv->keep + inv->recheck > 1)
		return fail(EXIT_USAGE,
			    "gate: --again, --retry, --keep and --recheck exclude each other");
	if (inv->recheck)
		return recheck(inv);
	if (inv->keep)
		code = keep(&j);
	else
		code = judge(inv, &j);
	say_warnings(&j.status);
	/* The target's start runs this verb again, in railhead-gate.service, and needs the lock. */
	if (j.admitted)
		code = open_target(&inv->root, !j.unit, code);
	judgement_free(&j);
	return code;
}

const struct verb verb_gate = {
	.name = "gate",
	.args = "",
	.help = "verify, measure and judge the node; start dependent units when it is ready",
	.options =
		OPT_ROOT | OPT_JSON | OPT_PROFILE | OPT_AGAIN | OPT_RETRY | OPT_KEEP | OPT_RECHECK,
	.writes = true,
	.run = run,
};
