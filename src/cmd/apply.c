/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * apply: applies one stage (the boot units) or all stages (by hand).
 */
#include <stdio.h>
#include <stdlib.h>

#include "boot/view.h"
#include "cmd/cmd.h"
#include "engine/apply.h"
#include "engine/hold_back.h"
#include "report/changes.h"
#include "sys/manager.h"

static void opened(const struct run *run)
{
	if (run->status == RUN_OK)
		say_frozen_anew(run);
	else
		explain_run(run);
}

/* At boot the gate reports the premises of a plan instead. */
static void say_premises(const struct apply *a, const struct run *run, unsigned int stages,
			 const struct stage_result *result)
{
	struct findings broken = {0};

	(void)stages;
	if (result->stage == STAGE_DEVICES && !a->unit)
		apply_premises(run, &broken);
	for (size_t i = 0; i < broken.list.n; i++) {
		cleanup_free char *text = finding_text(&broken.list.v[i]);

		complain("not as expected: %s", text);
	}
	findings_free(&broken);
}

static void print_stage(const struct apply *a, const struct run *run, unsigned int stages,
			const struct stage_result *result)
{
	struct screen screen = screen_look();

	if (is_watched(run))
		changes_render(stdout, run, stages, result->stage, &screen);
	printf("%s: %zu matched, %zu set, %zu failed, %zu waiting, %.3f s\n",
	       stage_name(result->stage), result->count[CHANGE_SAME], result->count[CHANGE_SET],
	       result->count[CHANGE_FAILED],
	       result->count[CHANGE_WAITS] + result->count[CHANGE_DIFFERS],
	       (double)result->duration / 1e6);
	say_premises(a, run, stages, result);
}

/* No service manager runs yet that could identify the caller, or reboot. */
static bool in_initramfs_script(const struct invocation *inv)
{
	return inv->stage_name && inv->stage == STAGE_INITRD && getenv("RAILHEAD_INITRAMFS");
}

static int apply(struct invocation *inv)
{
	struct apply a = {.root = &inv->root,
			  .profile = inv->profile,
			  .unit = in_initramfs_script(inv) || in_own_service(),
			  .retry = inv->retry,
			  .first = inv->stage_name ? inv->stage : STAGE_INITRD,
			  .last = inv->stage_name ? inv->stage : STAGE_DEVICES,
			  .complain = complain_text,
			  .opened = opened,
			  .at_work = show_progress,
			  .sink = make_sink,
			  .over = inv->json ? say_premises : print_stage};
	int code;

	apply_run(&a);
	code = exit_of_end(a.end, a.run_status);
	say_warnings(&a.status);
	if (inv->json && a.status.record.boot_id)
		print_json(record_to_json(&a.status.record));
	apply_free(&a);
	return code;
}

static bool is_in_state(const char *unit, const char *state)
{
	cleanup_free char *now = manager_unit_state(unit);

	return now && streq(now, state);
}

/*
 * A site's own default target may leave multi-user.target out. A boot without a gate (its units are
 * disabled) has come up without a verdict.
 */
static bool has_come_up(const struct root *root)
{
	struct status status;
	bool judged;

	status_load(root, &status);
	judged = status.record.stage[STAGE_GATE].ran;
	status_free(&status);
	return (is_in_state("multi-user.target", "active") ||
		is_in_state("default.target", "active")) &&
	       (judged || is_in_state("railhead-gate.service", "inactive"));
}

static int settle(const struct invocation *inv)
{
	struct err err = {0};
	int r;

	if (!streq(inv->settled, "up") && !streq(inv->settled, "stop"))
		return fail(EXIT_USAGE, "apply --settled %.*s: expected one of: up, stop",
			    UNKNOWN_MAX, inv->settled);
	if (streq(inv->settled, "up") && !has_come_up(&inv->root)) {
		complain("apply --settled up: nothing done: multi-user.target is not reached, or "
			 "the gate has no verdict");
		return EXIT_OK;
	}
	r = hold_back_end(&inv->root, &err);
	if (r == 0 && streq(inv->settled, "stop"))
		r = boot_note_left(&inv->root, &err);
	if (r >= 0)
		return EXIT_OK;
	return fail(EXIT_INTERNAL, "apply --settled: %s", err.text);
}

static int run(struct invocation *inv)
{
	if (inv->settled)
		return settle(inv);
	if (inv->device)
		return apply_device(inv);
	if (inv->stage_name && inv->stage == STAGE_GATE)
		return fail(EXIT_USAGE, "apply: the gate stage is `railhead gate`");
	return apply(inv);
}

const struct verb verb_apply = {
	.name = "apply",
	.args = "",
	.help = "apply the profile; a second run writes nothing",
	.options = OPT_ROOT | OPT_JSON | OPT_STAGE | OPT_PROFILE | OPT_RETRY | OPT_DEVICE |
		   OPT_SETTLED,
	.writes = true,
	.run = run,
};
