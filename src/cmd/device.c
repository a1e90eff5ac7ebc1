/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apply --device: the command of railhead-device@.service (engine/recovery.h). */
#include <stdio.h>

#include "cmd/cmd.h"
#include "engine/recovery.h"
#include "sys/manager.h"
#include "sys/state.h"

static void explain(const struct run *run)
{
	explain_run(run);
}

static void print(const struct invocation *inv, const struct recovery *r)
{
	const struct record *record = &r->status.record;
	const char *verdict = verdict_name(record->verdict.kind);

	if (r->end == END_REFUSED)
		complain("%s: nothing done: the verdict is '%s', and a device is brought back only "
			 "after the gate has admitted work; see `railhead status`",
			 r->device, verdict);
	else if (r->end == END_UNKNOWN)
		complain("--device %s: no device set has the function, or it is protected; each "
			 "function that railhead restores has a file " STATE_DIR "/device-ADDRESS",
			 r->device);
	else if (!inv->json && !r->lost && r->end == END_DONE && record->verdict.admit)
		printf("%s: nothing was lost\n", r->device);
	else if (!inv->json)
		printf("%s: %llu set; verdict: %s\n", r->device, (unsigned long long)r->applied,
		       verdict);
	if (inv->json)
		print_json(record_to_json(record));
}

static int exit_code(const struct recovery *r)
{
	int code = exit_of_end(r->end, r->run_status);
	bool judged = r->end != END_REFUSED && code == EXIT_OK;

	return judged && !r->status.record.verdict.admit ? EXIT_GATE : code;
}

int apply_device(struct invocation *inv)
{
	struct recovery r = {.root = &inv->root,
			     .device = inv->device,
			     .unit = in_own_service(),
			     .complain = complain_text,
			     .explain = explain,
			     .sink = make_sink};
	int code;

	if (inv->stage_name || inv->profile || inv->retry)
		return fail(EXIT_USAGE,
			    "--device accepts only --root and --json as further options: it "
			    "applies this boot's profile to a function, in stage devices");
	recovery_run(&r);
	if (r.status.record.boot_id)
		print(inv, &r);
	say_warnings(&r.status);
	code = exit_code(&r);
	/* Starts the units that their drop-in held back meanwhile (bake/units.c). */
	if (r.admitted)
		code = open_target(&inv->root, !r.unit, code);
	recovery_free(&r);
	return code;
}
