/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Judges the figures of a probe. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/quantile.h"
#include "base/str.h"
#include "gate/causes.h"
#include "gate/gate.h"
#include "gate/judge.h"

static const struct reading *reading_of(const struct probe *p, const struct figure *f)
{
	for (size_t i = 0; i < p->m.readings.list.n; i++)
		if (streq(p->m.readings.list.v[i].name, f->name))
			return &p->m.readings.list.v[i];
	return NULL;
}

/* Shows this figure for the measurement: the first wrong one, or the first. */
static void show(struct probe *p, const struct figure *f, double value)
{
	free(p->m.measured);
	free(p->m.wanted);
	p->m.measured = quantity_format(f->quantity, value);
	p->m.wanted = xstrdup(f->wanted);
}

/* A figure without a threshold is only reported, if the line has it. */
static bool is_told(const struct figure *f)
{
	return !f->wanted;
}

static bool is_wrong(const struct figure *f, double value)
{
	return quantities[f->quantity].at_most ? value > f->limit : value < f->limit;
}

static const char *name_of(const struct figure *f)
{
	return streq(f->key, "value") ? "" : f->key;
}

/* The figure with the stalls that a median ignores, if the line has it. */
static bool is_wrong_on_the_whole(const struct probe *p, const struct figure *f)
{
	const json_t *whole = json_object_get(p->m.detail, "whole");

	return json_is_number(whole) && streq(f->key, "value") &&
	       is_wrong(f, json_number_value(whole));
}

/* True for a fault that appeared after a load. */
static bool is_of_load(const struct probe *p, const json_t *fault)
{
	const json_t *before;
	size_t i;

	json_array_foreach(p->stood, i, before) if (json_equal(before, fault)) return false;
	return p->loads && p->stood;
}

static void add_faults(const struct probe *p, bool of_load, struct str *text)
{
	const json_t *faults = json_object_get(p->m.detail, "faults"), *fault;
	bool first = true;
	size_t i;

	json_array_foreach(faults, i, fault)
	{
		if (is_of_load(p, fault) != of_load)
			continue;
		str_add(text, text->len ? "; " : "");
		if (of_load && first)
			str_addf(text, "since the load of the benchmarks (%s): ", p->loads);
		str_add(text, json_is_string(fault) ? json_string_value(fault) : "?");
		first = false;
	}
}

/* Reports the faults that the program found, each a sentence with its remedy. */
static void blame_faults(struct probe *p, const struct figure *f, double value)
{
	struct str text = {0};

	show(p, f, value);
	p->m.state = CHANGE_SLOW;
	add_faults(p, false, &text);
	add_faults(p, true, &text);
	p->m.reason = xasprintf("%s: %s", p->subject, text.len ? text.s : p->m.measured);
	str_free(&text);
}

/* Adds to the reason, which begins with the subject. */
static void blame(struct probe *p, const struct figure *f, double value, const char *than)
{
	cleanup_free char *before = p->m.reason;
	cleanup_free char *measured = quantity_format(f->quantity, value);

	if (p->m.state != CHANGE_SLOW)
		show(p, f, value);
	p->m.state = CHANGE_SLOW;
	p->m.reason = xasprintf("%s%s%s%smeasured %s, required %s %s", before ? before : p->subject,
				before ? "; " : ": ", name_of(f), *name_of(f) ? " " : "", measured,
				quantities[f->quantity].at_most ? "at most" : "at least", than);
}

static void blame_whole(struct probe *p, const struct figure *f, double value)
{
	double whole = line_number(p->m.detail, "whole");
	cleanup_free char *usual = quantity_format(f->quantity, value);
	cleanup_free char *than =
		xasprintf("%s over the whole time, stalls included (%s without)", f->wanted, usual);

	blame(p, f, whole, than);
}

/* Why the number can't be a figure at all, whatever its limit; NULL: it can. */
static char *mistake_in(const struct probe *p, const struct figure *f)
{
	const json_t *number = json_object_get(p->m.detail, f->key);
	const json_t *unit = json_object_get(p->m.detail, "unit");
	double value = json_number_value(number);

	if (!json_is_number(number))
		return xasprintf("no number \"%s\" in its result", f->key);
	if (unit && streq(f->key, "value") &&
	    (!json_is_string(unit) ||
	     !streq(json_string_value(unit), quantities[f->quantity].unit)))
		return xasprintf("the unit of its result is \"%s\", not \"%s\"",
				 json_is_string(unit) ? json_string_value(unit) : "?",
				 quantities[f->quantity].unit);
	if (f->quantity == QUANTITY_FAULTS ? value < 0 : !(value > 0))
		return xasprintf("\"%s\" of its result is %g, and can't be %s 0", f->key, value,
				 f->quantity == QUANTITY_FAULTS ? "below" : "at or below");
	if (value > FIGURE_VALUE_MAX)
		return xasprintf("\"%s\" of its result is %g: no machine has so many %s", f->key,
				 value, quantities[f->quantity].unit);
	return NULL;
}

static void judge_measured(struct probe *p)
{
	p->m.state = CHANGE_SAME;
	for (size_t i = 0; i < p->n_figures; i++) {
		const struct figure *f = &p->figures[i];
		const json_t *number = json_object_get(p->m.detail, f->key);
		double value = json_number_value(number);
		cleanup_free char *mistake = is_told(f) && !number ? NULL : mistake_in(p, f);

		if (mistake) {
			measurement_forget(&p->m);
			p->m.state = CHANGE_FAILED;
			p->m.reason = xasprintf("%s: %s", p->subject, mistake);
			return;
		}
		if (number)
			readings_add(&p->m.readings, f->name, value, is_told(f) ? NAN : f->limit,
				     f->share_of_set);
		if (is_told(f))
			continue;
		if (!p->m.measured)
			show(p, f, value);
		if (is_wrong(f, value) && f->quantity == QUANTITY_FAULTS)
			blame_faults(p, f, value);
		else if (is_wrong(f, value))
			blame(p, f, value, f->wanted);
		else if (is_wrong_on_the_whole(p, f))
			blame_whole(p, f, value);
	}
}

/* --- whether the figures say something of the part -------------------------------------- */

/* In percent of the time. Below this share the figure counts neither as good nor as bad. */
#define OWN_LEAST 75
/* A wrong figure needs a larger share, because a disturbance makes figures only worse. */
#define OWN_LEAST_SLOW 90
#define OTHERS_MOST_SLOW 20

static bool is_below(const json_t *line, const char *key, double least)
{
	const json_t *number = json_object_get(line, key);

	return json_is_number(number) && json_number_value(number) < least;
}

/* NULL: the figure is valid. The caller frees it. */
static char *why_invalid(const json_t *line, bool slow)
{
	const char *own = json_string_value(json_object_get(line, "invalid"));
	double others = line_number(line, "others_pct"), switches = line_number(line, "switches");
	const json_t *users = json_object_get(line, "gpu_users");

	if (own && *own)
		return xstrdup(own);
	/* before the CPUs, which a busy GPU's driver may wait for */
	if (slow && json_array_size(users))
		return xasprintf("another process uses the GPU (%s)",
				 json_string_value(json_array_get(users, 0)) ?: "?");
	if (is_below(line, "own_pct", slow ? OWN_LEAST_SLOW : OWN_LEAST))
		return xasprintf("it had its CPUs for %.0f%% of the time",
				 line_number(line, "own_pct"));
	if (slow && others > OTHERS_MOST_SLOW)
		return xasprintf("other work had %.0f%% of the node's CPUs", others);
	if (slow && switches > 0)
		return xasprintf("other tasks ran on its CPU %.0f times", switches);
	return NULL;
}

static void judge_validity(struct probe *p)
{
	bool slow = p->m.state == CHANGE_SLOW;
	cleanup_free char *why = NULL, *figure = NULL;

	if (!slow && p->m.state != CHANGE_SAME)
		return;
	why = why_invalid(p->m.detail, slow);
	if (!why)
		return;
	figure = p->m.measured ? xasprintf(" (%s, required %s)", p->m.measured, p->m.wanted)
			       : xstrdup("");
	free(p->m.reason);
	p->m.state = CHANGE_INVALID;
	p->m.reason =
		xasprintf("%s: could not be measured, disturbed: %s%s", p->subject, why, figure);
}

bool wants_second_look(const struct probe *p)
{
	return p->m.state == CHANGE_SLOW || p->m.state == CHANGE_INVALID;
}

/* True if the job had no turn, or a turn so late that its failure proves nothing. */
static bool budget_ended(const struct bench_job *job)
{
	return job->state == CHANGE_UNKNOWN || (job->by_budget && job->state != CHANGE_SAME);
}

void judge_probe(struct probe *p, const struct bench_job *job)
{
	if ((wants_second_look(p) || p->m.looks.n) && budget_ended(job))
		return; /* the first look counts */
	measurement_forget(&p->m);
	p->judged = true;
	p->m.duration += job->duration_us;
	if (job->started_us)
		vec_push(&p->m.timings, ((struct timing){job->started_us, job->duration_us}));
	p->m.detail = job->result ? json_incref(job->result) : NULL;
	p->m.state = job->state == CHANGE_UNKNOWN ? CHANGE_CANNOT_MEASURE : job->state;
	p->m.demanded = !p->optional;
	if (job->state == CHANGE_SAME) {
		judge_measured(p);
		judge_validity(p);
	} else if (job->state == CHANGE_UNSUPPORTED && p->m.demanded) {
		bool figure = p->n_figures > 0;

		p->m.reason = xasprintf("%s: unsupported (%s)%s%s", p->subject, job->reason,
					figure ? ", and the profile requires " : "",
					figure ? p->figures[0].wanted : "");
		p->m.remedy = xstrdup("leave the check out, or write optional: true");
	} else {
		measurement_say(&p->m, xasprintf("%s: %s", p->subject, job->reason),
				job->mend ? (unsigned int)strlen(p->subject) + 2 + job->mend : 0);
	}
	if (!p->m.wanted && p->n_figures)
		p->m.wanted = xstrdup(p->figures[0].wanted);
}

/* --- members of a set, compared with each other -------------------------------------- */

/*
 * The median of that figure over the other probes of the check. A slow probe among three would pull
 * a median of all down to itself.
 */
static double median_of_others(const struct probes *probes, const struct probe *p,
			       const struct figure *f)
{
	cleanup_free double *values = xcalloc(probes->list.n, sizeof(*values));
	size_t n = 0;

	for (size_t i = 0; i < probes->list.n; i++) {
		const struct probe *other = probes->list.v[i];
		const struct reading *r = streq(other->m.check, p->m.check) && other != p &&
							  other->m.state != CHANGE_INVALID
						  ? reading_of(other, f)
						  : NULL;

		if (r)
			values[n++] = r->value;
	}
	return n ? median_of(values, n) : 0;
}

static void judge_beside(const struct probes *probes, struct probe *p, const struct figure *f)
{
	const struct reading *r = reading_of(p, f);
	double median = median_of_others(probes, p, f);

	if (!r || median <= 0 || r->value >= median * f->share_of_set / 100)
		return;

	cleanup_free char *rate = quantity_format(f->quantity, median);
	cleanup_free char *than =
		xasprintf("%u%% of the median of the other members (%s)", f->share_of_set, rate);

	blame(p, f, r->value, than);
	judge_validity(p);
}

void judge_sets(struct probes *probes)
{
	for (size_t i = 0; i < probes->list.n; i++) {
		struct probe *p = probes->list.v[i];

		for (size_t k = 0; k < p->n_figures; k++)
			if (p->figures[k].share_of_set && p->m.state == CHANGE_SAME)
				judge_beside(probes, p, &p->figures[k]);
	}
}

/* --- several looks ----------------------------------------------------------------------- */

static double number_or_nan(const json_t *line, const char *key)
{
	const json_t *number = json_object_get(line, key);

	return json_is_number(number) ? json_number_value(number) : NAN;
}

void judge_look(struct probe *p)
{
	struct look look = {
		.state = p->m.state,
		.whole = number_or_nan(p->m.detail, "whole"),
		.own_pct = number_or_nan(p->m.detail, "own_pct"),
		.others_pct = number_or_nan(p->m.detail, "others_pct"),
	};

	if (!p->judged)
		return;
	p->judged = false;
	look.measured = p->m.measured ? xstrdup(p->m.measured) : NULL;
	for (size_t i = 0; i < p->m.readings.list.n; i++)
		vec_push(&look.readings.list, p->m.readings.list.v[i]);
	vec_push(&p->m.looks, look);
}

/* The first look that was slow, or NULL. */
static const struct look *slow_look(const struct probe *p)
{
	for (size_t i = 0; i < p->m.looks.n; i++)
		if (p->m.looks.v[i].state == CHANGE_SLOW)
			return &p->m.looks.v[i];
	return NULL;
}

void judge_looks(struct probe *p, const char *others)
{
	const struct look *slow = slow_look(p);

	if (p->m.state == CHANGE_SAME && slow) {
		p->m.state = CHANGE_INTERMITTENT;
		p->m.on_fail = p->on_intermittent;
		p->m.reason = xasprintf(
			"%s: slow in one look of %zu: measured %s, then %s, required %s; a part "
			"that is slow at times slows down all programs that wait for the part: "
			"watch the part",
			p->subject, p->m.looks.n, slow->measured, p->m.measured, p->m.wanted);
	} else if (p->m.state == CHANGE_INVALID && others) {
		cleanup_free char *before = p->m.reason;

		free(p->m.remedy);
		p->m.reason = xasprintf("%s; %s%s", before,
					*others ? "other work meanwhile: "
						: "no process used much CPU time meanwhile",
					others);
		p->m.remedy = xstrdup(*others ? "stop that work, or order it after "
						"railhead-ready.target"
					      : "check for interrupts, and for a hypervisor that "
						"takes CPUs away");
	}
	if (p->m.looks.n < 2) /* the measurement itself has the same facts */
		measurement_looks_free(&p->m);
}

/* The fault of the program's line or of the check, or else of the state. */
static enum fault fault_of(const struct probe *p)
{
	static const enum fault faults[CHANGE_STATE_COUNT] = {
		[CHANGE_FAILED] = FAULT_GATE_PROGRAM,
		[CHANGE_UNSUPPORTED] = FAULT_GATE_UNSUPPORTED,
		[CHANGE_INTERMITTENT] = FAULT_GATE_INTERMITTENT,
		[CHANGE_INVALID] = FAULT_GATE_DISTURBED,
		[CHANGE_NOT_YET] = FAULT_GATE_NOT_YET,
		[CHANGE_CANNOT_MEASURE] = FAULT_GATE_CANNOT_MEASURE,
	};
	enum fault of_line = fault_parse(json_string_value(json_object_get(p->m.detail, "fault")));

	if (of_line && p->m.state != CHANGE_INVALID)
		return of_line;
	if (p->m.state == CHANGE_SLOW)
		return p->check->slow;
	if (p->m.state == CHANGE_FAILED && p->check->failed)
		return p->check->failed;
	return faults[p->m.state];
}

void judge_fault(struct probe *p)
{
	if (!p->m.fault && !measurement_holds(&p->m)) /* a declined probe may have its own fault */
		p->m.fault = fault_of(p);
}

/* --- why ------------------------------------------------------------------------------- */

void judge_causes(const struct section_ctx *ctx, const struct binding *then,
		  const struct binding *now, struct probe *p)
{
	const char *own = json_string_value(json_object_get(p->m.detail, "cause"));
	struct causes causes = {0};
	cleanup_free char *text = NULL;

	if (own) /* the cause that the program observed comes first */
		cause_add(&causes, true, "%s", own);
	for (size_t i = 0; i < p->functions.n; i++)
		causes_of_function(ctx, p->functions.v[i], &causes);
	causes_of_line(p->m.detail, &causes);
	causes_of_nodes(ctx, &p->nodes, &causes);
	causes_compare(&causes, then, now);
	text = causes_text(&causes);
	p->m.causes = *text ? take_ptr(text) : NULL;
	if (p->remedy) {
		free(p->m.remedy);
		p->m.remedy = xstrdup(p->remedy);
	}
	causes_free(&causes);
}
