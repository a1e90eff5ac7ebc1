/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan: what would change; verify: does the machine hold what the profile says now. */
#include <stdio.h>

#include "base/mem.h"
#include "cmd/cmd.h"
#include "gate/gate.h"
#include "plan/render.h"

struct tally {
	size_t total, pending, failed, unsupported;
	size_t benchmarks; /* none of total */
};

/* A set without members is a fault of the stages that would have set something of it. */
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
		if (c->kind == KIND_BENCHMARK) {
			t.benchmarks++;
			continue;
		}
		t.total++;
		t.unsupported += c->state == CHANGE_UNSUPPORTED;
		t.failed += c->state == CHANGE_FAILED;
		t.pending += !change_holds(c);
	}
	return t;
}

static int look_and_print(struct invocation *inv, enum stage running, bool all, const char *good,
			  const char *bad)
{
	unsigned int stages = inv->stage_name ? STAGES(inv->stage) : STAGES_ALL;
	struct tally t;
	struct run run;
	int code;

	if (!open_look(inv, &run, &code))
		return code;
	gate_plan(&(struct step_ctx){run.root, &run.node, run.profile, &run.sets}, &run.plan);
	/* All stages are looked at even for one: a change may wait for one of another. */
	run_look(&run, STAGES_ALL, running);
	t = count(&run.plan, stages);
	if (inv->json) {
		json_t *doc = run_to_json(&run);

		json_object_set_new(doc, "converged", json_boolean(!t.pending));
		json_object_set_new(doc, "changes", plan_to_json(&run.plan, stages));
		print_json(doc);
	} else {
		render_changes(stdout, &run.plan, stages, all);
		printf("profile %s: ", run.profile->name);
		if (t.pending)
			printf("%zu of %zu %s", t.pending, t.total, bad);
		else if (t.unsupported)
			printf("%s, %zu as wanted, %zu unsupported", good, t.total - t.unsupported,
			       t.unsupported);
		else
			printf("%s, all %zu as wanted", good, t.total);
		if (t.benchmarks)
			printf("; %zu to measure (railhead gate)", t.benchmarks);
		putchar('\n');
	}
	run_close(&run);
	return t.pending ? EXIT_PENDING : EXIT_OK;
}

static int run_plan(struct invocation *inv)
{
	return look_and_print(inv, STAGE_COUNT, false, "converged", "pending");
}

static int run_verify(struct invocation *inv)
{
	return look_and_print(inv, STAGE_GATE, true, "verified", "differ");
}

const struct verb verb_plan = {
	.name = "plan",
	.args = "",
	.help = "what would change; opens nothing for writing",
	.options = OPT_ROOT | OPT_JSON | OPT_STAGE | OPT_PROFILE,
	.run = run_plan,
};

const struct verb verb_verify = {
	.name = "verify",
	.args = "",
	.help = "does the machine hold what the profile says now (checklist, drift)",
	.options = OPT_ROOT | OPT_JSON | OPT_STAGE | OPT_PROFILE,
	.run = run_verify,
};
