/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The profile's benchmarks: their order and time. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "gate/asked.h"
#include "gate/gate.h"
#include "gate/judge.h"
#include "gate/neighbours.h"
#include "gate/together.h"
#include "plan/change.h"
#include "profile/section.h"
#include "profile/yaml.h"
#include "sys/clock.h"

/*
 * The time for the windows of a look that counts against a part, as a multiple of a short look's.
 * Other work on the machine's memory and buses comes and goes within seconds: a look of half a
 * second may fall into it, and a look of several seconds averages most of it.
 */
enum { SHORT_TIMES = 1, LONG_TIMES = 8 };

/* Of gate_ask(): less than other runs wait for the lock. */
enum { ASK_USEC = 25000000 };

/* A probe that is run, and its job. Owns the texts of the job's words. */
struct attempt {
	struct probe *probe;
	char *budget;
};

static uint64_t budget_usec(const struct section_ctx *ctx)
{
	return ynode_number_of(profile_section(ctx->profile, "gate"), "budget",
			       GATE_BUDGET_S * 1000000ull);
}

/* Declines a check without targets, which any node would pass. */
static void decline_nothing(const struct checked *t, struct probes *ret)
{
	struct probe *p = probe_add(ret, t, "none");

	probe_subject(p, "%s", t->check->run);
	probe_declines(p, CHANGE_CANNOT_MEASURE, NOTHING_TO_CHECK);
	p->m.fault = FAULT_PROFILE_CHECKS_NOTHING;
}

/* The probes that the selected checks add. */
enum { MEMBERS_NAMED = 4 };

struct collection {
	const struct strv *only;
	struct probes *probes;
};

/* Fails members that the profile names with a threshold of their own and that are not here. */
static void decline_strangers(const struct checked *t, size_t from, struct probes *ret)
{
	const struct ynode *members = ynode_get(t->map, "members");
	cleanup_strv struct strv known = {0};
	cleanup_free char *some = NULL;

	if (!members)
		return;
	for (size_t i = from; i < ret->list.n; i++)
		strv_add(&known, probe_member(ret->list.v[i]));
	some = strv_some(&known, MEMBERS_NAMED);
	for (size_t i = 0; i < members->keys.n; i++) {
		const char *name = members->keys.v[i]->text;
		struct probe *p;

		if (strv_contains(&known, name))
			continue;
		p = probe_add(ret, t, "%s", name);
		probe_subject(p, "%s of %s", t->check->run, name);
		probe_declines(p, p->optional ? CHANGE_UNSUPPORTED : CHANGE_CANNOT_MEASURE,
			       "members: names %s, and on this node the check has %s" TO_MEND
			       "restore the missing part, or leave the member out of the profile",
			       name, *some ? some : "none");
	}
}

static void collect_one(const struct checked *t, void *arg)
{
	const struct collection *c = arg;
	size_t before = c->probes->list.n;

	if (!t->check->measure || (c->only && !strv_contains(c->only, t->name)))
		return;
	t->check->measure(t, c->probes);
	if (c->probes->list.n == before && !check_may_lack(t))
		decline_nothing(t, c->probes);
	decline_strangers(t, before, c->probes);
}

static void collect(const struct section_ctx *ctx, const struct strv *only, struct probes *ret)
{
	struct collection c = {only, ret};

	checks_each(ctx, profile_section(ctx->profile, "gate"), NULL, collect_one, &c);
}

/* The thresholds of the profile: "min 92% of line (46.0 GB/s), max 3us". */
static char *wanted_of(const struct probe *p, const struct ynode *map)
{
	static const char *const keys[] = {"min", "floor", "max",  "min_messages",
					   "p50", "p99",   "p9999"};
	struct str out = {0};

	for (size_t i = 0; i < p->n_figures; i++) {
		const struct figure *f = &p->figures[i];

		if (!f->wanted) /* reported only, and not judged */
			continue;
		str_add(&out, out.len ? ", " : "");
		if (f->quantity != QUANTITY_FAULTS) /* "no faults" needs no name */
			str_addf(&out, "%s ", f->name);
		str_add(&out, f->wanted);
	}
	/* A probe that was declined early has no figures. */
	for (size_t i = 0; !p->n_figures && i < array_len(keys); i++)
		if (probe_wants(p, map, keys[i]))
			str_addf(&out, "%s%s %s", out.len ? ", " : "", keys[i],
				 probe_wants(p, map, keys[i])->text);
	return out.len ? str_take(&out) : xstrdup("a result");
}

static void plan_probe(const struct section_ctx *ctx, const struct probe *p, struct plan *plan)
{
	const struct ynode *checks = ynode_get(profile_section(ctx->profile, "gate"), "checks");
	const struct ynode *map = ynode_get(checks, p->m.check);
	const char *run = p->check->run;
	cleanup_free char *wanted = wanted_of(p, map);
	struct change *c = plan_add(plan, "gate", &kind_benchmark, STAGE_GATE, PHASE_CHECK, map->at,
				    "%s", p->m.id);

	change_target(c, "%s:%s", run, probe_member(p));
	change_desired(c, "%s", wanted);
	c->on_fail = p->m.on_fail;
	/* In a tree a program of the site may be missing; only the running machine must have it. */
	if (p->m.reason && (ctx->root->live || !streq(run, "command")))
		change_note(c, "not as the machine is now: %s%s%s", p->m.reason,
			    p->m.remedy ? "; " : "", or_empty(p->m.remedy));
}

void gate_plan(const struct section_ctx *ctx, struct plan *plan)
{
	struct measurements m = {0};
	struct probes all = {0};

	collect(ctx, NULL, &all);
	for (size_t i = 0; i < all.list.n; i++) {
		plan_probe(ctx, all.list.v[i], plan);
		vec_push(&m.list, all.list.v[i]->m);
	}
	probes_free(&all);
	measurements_free(&m);
}

/*
 * Limits the windows to 2/5 of the deadline (slow storage takes that twice), because a look that
 * its deadline ends would turn a slow part into a broken one.
 */
static unsigned int budget_within(unsigned int deadline_ms, unsigned int budget)
{
	unsigned int most = deadline_ms > 2 ? deadline_ms * 2 / 5 : 1;

	return budget > most ? most : budget;
}

/* The probe's words and, for the bench program, --budget. False: too many words. */
static bool fill_job(struct attempt *a, unsigned int times, struct bench_job *job)
{
	const struct probe *p = a->probe;
	unsigned int deadline_ms = p->timeout_ms ? p->timeout_ms : PROBE_TIMEOUT_MS;
	size_t n = p->argv.n;

	if (n + 3 > BENCH_ARGS_MAX)
		return false;
	*job = (struct bench_job){.name = p->m.id, .resources = &p->resources, .as = p->as};
	if (p->start_disturbs.n)
		job->start_disturbs = &p->start_disturbs;
	for (size_t i = 0; i < n; i++)
		job->argv[i] = p->argv.v[i];
	if (p->budget_ms) {
		a->budget = xasprintf("%u", budget_within(deadline_ms, p->budget_ms * times));
		job->argv[n] = "--budget";
		job->argv[n + 1] = a->budget;
	}
	job->yields = p->budget_ms != 0;
	job->last = p->check->no_load;
	job->deadline_ms = deadline_ms + p->setup_ms;
	return true;
}

/* Runs the probes within the rest of the budget, and judges each. */
static int run_probes(struct probe **probes, size_t n, unsigned int times, uint64_t end,
		      struct err *err)
{
	cleanup_free struct bench_job *jobs = xcalloc(n, sizeof(*jobs));
	cleanup_free struct attempt *attempts = xcalloc(n, sizeof(*attempts));
	cleanup_free bool *shares = xcalloc(n, sizeof(*shares));
	size_t k = 0;
	int r;

	for (size_t i = 0; i < n; i++) {
		attempts[k].probe = probes[i];
		shares[k] = probes[i]->shares_process;
		if (fill_job(&attempts[k], times, &jobs[k]))
			k++;
		else
			probe_declines(probes[i], CHANGE_CANNOT_MEASURE,
				       "its command has more than %d words", BENCH_ARGS_MAX - 3);
	}
	r = together_run_jobs(jobs, shares, k, end, err);
	for (size_t i = 0; i < k; i++) {
		if (r == 0)
			judge_probe(attempts[i].probe, &jobs[i]);
		bench_job_clear(&jobs[i]);
		free(attempts[i].budget);
	}
	return r;
}

/* One look of each of the probes. */
static int look(struct probes *all, struct probe **probes, size_t n, unsigned int times,
		uint64_t end, struct err *err)
{
	int r = run_probes(probes, n, times, end, err);

	if (r < 0)
		return r;
	judge_sets(all);
	for (size_t i = 0; i < n; i++)
		judge_look(probes[i]);
	return 0;
}

static bool is_wanted(const struct probe *p)
{
	return !probe_is_declined(p);
}

enum turn { TURN_FIRST, TURN_LATE, TURN_LAST };

static enum turn turn_of(const struct probe *p)
{
	return p->check->no_load ? TURN_LAST : p->late ? TURN_LATE : TURN_FIRST;
}

/*
 * The wanted probes in the order of their turns. Probes that may hang come late, so that the others
 * run before them. Probes that only query a driver come last, because load may cause the faults.
 */
static size_t choose(const struct probes *all, bool (*wanted)(const struct probe *p),
		     struct probe **ret)
{
	size_t n = 0;

	for (int turn = TURN_FIRST; turn <= TURN_LAST; turn++)
		for (size_t i = 0; i < all->list.n; i++)
			if ((int)turn_of(all->list.v[i]) == turn && wanted(all->list.v[i]))
				ret[n++] = all->list.v[i];
	return n;
}

/* Probes that only query a driver run again after the others, whose load is the heaviest. */
static bool is_asked_again(const struct probe *p)
{
	return wants_second_look(p) || (p->check->no_load && p->m.state == CHANGE_SAME);
}

/* Measures again the probes that were slow, alone or with their set, or disturbed. */
static int look_again(struct probes *all, uint64_t end, char **ret_others, struct err *err)
{
	cleanup_free struct probe **again = xcalloc(all->list.n, sizeof(*again));
	struct neighbours before, after;
	size_t n = choose(all, wants_second_look, again);
	int r;

	if (n == 0 || clock_usec() >= end)
		return 0;
	n = choose(all, is_asked_again, again);
	neighbours_look(&before);
	r = look(all, again, n, LONG_TIMES, end, err);
	neighbours_look(&after);
	*ret_others = neighbours_text(&before, &after) ?: xstrdup("");
	neighbours_free(&before);
	neighbours_free(&after);
	return r;
}

/* The probes to run, and their time. */
struct turns {
	struct probe **todo;
	size_t n;
	unsigned int times;
	uint64_t end;
};

static int look_part(struct probes *all, const struct turns *of, bool (*is)(const struct probe *p),
		     struct err *err)
{
	cleanup_free struct probe **part = xcalloc(of->n, sizeof(*part));
	size_t n = 0;

	for (size_t i = 0; i < of->n; i++)
		if (is(of->todo[i]))
			part[n++] = of->todo[i];
	return n ? look(all, part, n, of->times, of->end, err) : 0;
}

static bool is_far(const struct probe *p)
{
	return !p->check->no_load && !p->loads_asked;
}

static bool is_asking(const struct probe *p)
{
	return p->check->no_load;
}

static bool is_near(const struct probe *p)
{
	return p->loads_asked ? !probe_is_declined(p) : p->check->no_load && asked_answers(p);
}

/*
 * A driver that hangs when it is queried uses up the time left to all others. Therefore probes
 * whose load concerns no queried device run first.
 */
static int look_around_load(struct probes *all, const struct turns *of, struct err *err)
{
	int r = look_part(all, of, is_far, err);

	if (r == 0)
		r = look_part(all, of, is_asking, err);
	if (r < 0)
		return r;
	asked_take(all);
	return look_part(all, of, is_near, err);
}

static int run_all(struct probes *all, unsigned int times, uint64_t end, struct err *err)
{
	cleanup_free struct probe **todo = xcalloc(all->list.n, sizeof(*todo));
	cleanup_free char *others = NULL;
	struct turns of = {todo, choose(all, is_wanted, todo), times, end};
	int r = asked_find(all) ? look_around_load(all, &of, err)
				: look(all, todo, of.n, times, end, err);

	if (r == 0 && times < LONG_TIMES)
		r = look_again(all, end, &others, err);
	for (size_t i = 0; r == 0 && i < of.n; i++)
		judge_looks(todo[i], others);
	asked_end(all);
	return r;
}

static int measure(const struct section_ctx *ctx, const struct strv *only,
		   const struct binding *then, unsigned int times, uint64_t budget,
		   struct measurements *ret, struct err *err)
{
	uint64_t end = clock_usec() + budget * times;
	struct binding now = {0};
	struct probes all = {0};
	int r;

	collect(ctx, only, &all);
	r = run_all(&all, times, end, err);
	for (size_t i = 0; i < all.list.n; i++) {
		struct probe *p = all.list.v[i];

		if (p->m.state == CHANGE_SLOW) {
			if (then->list.n && !now.list.n)
				binding_take(ctx->root, ctx->profile, ctx->node, ctx->sets, &now);
			judge_causes(ctx, then, &now, p);
		}
		judge_fault(p);
		if (!p->m.wanted)
			p->m.wanted = xstrdup("a result");
		vec_push(&ret->list, p->m);
	}
	probes_free(&all);
	binding_free(&now);
	return r;
}

int gate_measure(const struct section_ctx *ctx, const struct strv *only, const struct binding *then,
		 struct measurements *ret, struct err *err)
{
	return measure(ctx, only, then, SHORT_TIMES, budget_usec(ctx), ret, err);
}

int gate_ask(const struct section_ctx *ctx, const struct strv *only, struct measurements *ret,
	     struct err *err)
{
	return measure(ctx, only, &(struct binding){0}, SHORT_TIMES, ASK_USEC, ret, err);
}

int gate_measure_long(const struct section_ctx *ctx, struct measurements *ret, struct err *err)
{
	return measure(ctx, NULL, &(struct binding){0}, LONG_TIMES, budget_usec(ctx), ret, err);
}
