/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan: the changes that apply would make; verify: the differences from the profile. */
#include <stdint.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/str.h"
#include "cmd/cmd.h"
#include "engine/status.h"
#include "plan/change.h"
#include "plan/render.h"
#include "report/changes.h"
#include "report/text.h"

struct tally {
	size_t total, pending, failed, unsupported;
	size_t benchmarks; /* without a figure of this boot; not in total */
};

/* A set without members concerns every stage. */
static bool concerns(const struct change *c, unsigned int stages)
{
	return stages & STAGES(c->stage) || change_broken_premise(c);
}

static json_t *plan_to_json(const struct plan *plan, unsigned int stages)
{
	json_t *list = json_array();

	for (size_t i = 0; i < plan->list.n; i++)
		if (concerns(plan->list.v[i], stages))
			json_array_append_new(list, change_to_json(plan->list.v[i]));
	return list;
}

static struct tally count(const struct plan *plan, unsigned int stages)
{
	struct tally t = {0};

	for (size_t i = 0; i < plan->list.n; i++) {
		const struct change *c = plan->list.v[i];

		if (!concerns(c, stages))
			continue;
		if (c->now.state == CHANGE_TO_MEASURE) {
			t.benchmarks++;
			continue;
		}
		t.total++;
		t.unsupported += c->now.state == CHANGE_UNSUPPORTED;
		t.failed += c->now.state == CHANGE_FAILED;
		t.pending += !change_holds(c);
	}
	return t;
}

/* The last line: the overall result. */
static char *summary(const struct run *run, const struct tally *t, bool all, const char *good,
		     const char *bad)
{
	size_t same = t->total - t->pending - t->unsupported;
	struct str out = {0};

	str_addf(&out, "profile %s: ", run->profile->name);
	if (t->pending)
		str_addf(&out, "%zu of %zu %s, %zu match", t->pending, t->total, bad, same);
	else if (t->unsupported)
		str_addf(&out, "%s, %zu match", good, same);
	else
		str_addf(&out, "%s, all %zu match", good, t->total);
	if (same && !all)
		str_add(&out, " (--all lists them)");
	if (t->unsupported)
		str_addf(&out, ", %zu unsupported", t->unsupported);
	if (t->benchmarks)
		str_addf(&out, "; %zu to measure (railhead gate)", t->benchmarks);
	return str_take(&out);
}

static int look_and_print(struct invocation *inv, enum stage running, const char *good,
			  const char *bad)
{
	unsigned int stages = inv->stage_name ? STAGES(inv->stage) : STAGES_ALL;
	struct status status;
	struct tally t;
	struct run run;
	bool opened;
	int code;

	status_load(&inv->root, &status);
	say_warnings(&status);
	opened = open_look(inv, &status.record, &run, &code);
	if (opened)
		look_at_all(&run, &status.record, running);
	status_free(&status);
	if (!opened)
		return code;
	t = count(&run.plan, stages);
	if (inv->json) {
		print_json(json_pack("{s:s, s:s, s:s, s:b, s:o}", "profile", run.profile->name,
				     "version", or_empty(run.profile->version), "digest",
				     run.profile->digest, "converged", !t.pending, "changes",
				     plan_to_json(&run.plan, stages)));
	} else {
		struct screen screen = begin_page(inv);
		cleanup_free char *last = summary(&run, &t, inv->all, good, bad);

		if (inv->all)
			render_changes(stdout, &run.plan, stages);
		else
			changes_render(stdout, &run, stages, STAGE_COUNT, &screen);
		text_wrap(stdout, last, screen.terminal ? screen.columns : SIZE_MAX, 4);
	}
	run_close(&run);
	return t.pending ? EXIT_PENDING : EXIT_OK;
}

static int run_plan(struct invocation *inv)
{
	return look_and_print(inv, STAGE_COUNT, "converged", "pending");
}

static int run_verify(struct invocation *inv)
{
	return look_and_print(inv, STAGE_GATE, "verified", "differ");
}

const struct verb verb_plan = {
	.name = "plan",
	.args = "",
	.help = "show what would change; writes nothing",
	.options = OPT_ROOT | OPT_JSON | OPT_STAGE | OPT_PROFILE | OPT_ALL | OPT_SCREEN,
	.run = run_plan,
};

const struct verb verb_verify = {
	.name = "verify",
	.args = "",
	.help = "compare the machine with its profile",
	.options = OPT_ROOT | OPT_JSON | OPT_STAGE | OPT_PROFILE | OPT_ALL | OPT_SCREEN,
	.run = run_verify,
};
