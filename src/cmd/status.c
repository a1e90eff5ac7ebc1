/* SPDX-License-Identifier: GPL-2.0-or-later */
/* status: the verdict and why. Exits 0 iff work is admitted. */
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/cmd.h"
#include "profile/site.h"
#include "report/status_text.h"
#include "sys/clock.h"
#include "sys/state.h"

enum { MIDST_US = 1000000, LOOK_AGAIN_US = 10000 };

/*
 * True in the middle of a judgement: the record admits work, and the ready file will appear in a
 * moment, or has just been removed.
 */
static bool load_once(const struct root *root, struct status *ret)
{
	bool at_work;

	status_load(root, ret);
	if (!ret->record.begun && !ret->claim_lost)
		return false;
	at_work = state_is_locked(root);
	if (!at_work) {
		/* The judgement may have ended since the record was read. */
		status_free(ret);
		status_load(root, ret);
		if (ret->record.begun)
			status_blame_killed(ret);
	}
	return at_work && ret->claim_lost;
}

void status_judge_age(const struct root *root, struct record *r)
{
	r->unwatched = site_ends_looks(root);
	if (!r->unwatched)
		record_judge_age(r);
}

/*
 * Also judges the age of the last look, and drops a maintenance that is over. Waits for a judgement
 * for a moment only. A state that lasts is shown, because it lasts if the judgement was killed.
 */
void status_load_settled(const struct root *root, struct status *ret)
{
	uint64_t until = clock_usec() + MIDST_US;

	while (load_once(root, ret) && clock_usec() < until) {
		status_free(ret);
		usleep(LOOK_AGAIN_US);
	}
	if (!record_is_maintained(&ret->record))
		record_end_window(&ret->record.maintenance);
	status_judge_age(root, &ret->record);
}

static int run(struct invocation *inv)
{
	struct status status;
	int code = EXIT_OK;

	if (inv->html && (inv->json || inv->all || inv->watch))
		return fail(EXIT_USAGE, "status: --html writes one page, of everything; leave out "
					"--json, --all and --watch");
	if (inv->watch)
		return status_watch(inv);
	status_load_settled(&inv->root, &status);
	if (inv->html) {
		code = write_html(inv, &(struct page){.record = &status.record});
	} else if (inv->json) {
		print_json(record_to_json(&status.record));
	} else {
		struct screen screen = begin_page(inv);

		screen.terminal &= !inv->all;
		status_render(stdout, &status.record, &screen);
	}
	if (code == EXIT_OK && !record_admits(&status.record))
		code = EXIT_GATE;
	status_free(&status);
	return code;
}

const struct verb verb_status = {
	.name = "status",
	.args = "",
	.help = "show whether the node may take work, and why not; exit 0 if it may",
	.options = OPT_ROOT | OPT_JSON | OPT_ALL | OPT_WATCH | OPT_HTML | OPT_SCREEN,
	.run = run,
};
