/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/pass.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "plan/change.h"
#include "sys/state.h"

#define PASS_FILE "pass.json"

enum { PASS_SCHEMA = 2 };

static STORED_TABLE(pass_stored,
		    {.key = "schema", .type = STORED_CONSTANT, .otherwise = PASS_SCHEMA},
		    STORED(pass, measured, "measured", NUMBER, .required = true),
		    STORED(pass, boots_ago, "boots_ago", NUMBER),
		    STORED(pass, binding, "binding", STRUCT, .rows = binding_stored,
			   .required = true),
		    STORED(pass, measurements, "measurements", STRUCT, .rows = measurements_stored,
			   .required = true));

void pass_take(const struct root *root, struct pass *ret, struct err *err)
{
	cleanup_free char *text = NULL;
	json_t *doc;

	*ret = (struct pass){0};
	if (state_kept(root, PASS_FILE, &text, NULL) < 0 || state_forget(root, PASS_FILE, err) < 0)
		return;
	doc = json_loads(text, 0, NULL);
	ret->there = stored_from_json(pass_stored, doc, ret) && ret->measurements.list.n;
	measurements_forget_timings(&ret->measurements);
	json_decref(doc);
}

void pass_free(struct pass *pass)
{
	stored_free(pass_stored, pass);
}

static bool has_number(const struct pass *pass, const char *id)
{
	for (size_t i = 0; i < pass->measurements.list.n; i++)
		if (streq(pass->measurements.list.v[i].id, id))
			return true;
	return false;
}

/* The first target whose number is missing in the pass or superfluous; NULL: none. */
static char *wrong_target(const struct pass *pass, const struct plan *benchmarks)
{
	for (size_t i = 0; i < pass->measurements.list.n; i++) {
		const char *id = pass->measurements.list.v[i].id;

		if (!plan_find(benchmarks, id))
			return xasprintf("%s: this target no longer exists", *id ? id : "a number");
	}
	for (size_t i = 0; i < benchmarks->list.n; i++) {
		const struct change *c = benchmarks->list.v[i];

		if (!has_number(pass, c->id))
			return xasprintf("%s: was not measured before", c->id);
		if (c->now.note)
			return xasprintf("%s: %s", c->id, c->now.note);
	}
	return NULL;
}

char *pass_refusal(const struct pass *pass, const struct binding *binding,
		   const struct plan *benchmarks, int64_t now, uint64_t usec)
{
	int64_t age = now - pass->measured;
	char *why;

	if (age < 0)
		return xstrdup(
			"the earlier measurement has a time in the future; is the clock right?");
	if ((uint64_t)age > usec / 1000000) {
		cleanup_free char *time = format_duration((uint64_t)age * 1000000);

		return xasprintf("the earlier measurement is %s old", time);
	}
	why = binding_difference(binding, &pass->binding);
	return why ? why : wrong_target(pass, benchmarks);
}

void pass_use(struct pass *pass, const struct strv *this_boot, struct record *r)
{
	struct record_numbers numbers = {
		.there = true, .measured = pass->measured, .boots_ago = pass->boots_ago + 1};

	for (size_t i = 0; i < this_boot->n; i++)
		strv_add(&numbers.this_boot, this_boot->v[i]);
	record_set_measurements(r, &pass->measurements);
	record_set_numbers(r, &numbers);
}

/*
 * Requires the verdict ready: a degraded node has no pass. A failed benchmark that only warns, or a
 * missing measurement, rules out a pass too.
 */
static bool is_pass(const struct record *r)
{
	for (size_t i = 0; i < r->verdict.findings.list.n; i++)
		if (r->verdict.findings.list.v[i].load)
			return false;
	for (size_t i = 0; i < r->measurements.list.n; i++)
		if (r->measurements.list.v[i].state != CHANGE_SAME)
			return false;
	return r->measurements.list.n && r->judged && r->verdict.kind == VERDICT_READY;
}

int pass_store(const struct root *root, const struct record *r, const struct binding *binding,
	       struct err *err)
{
	struct pass pass = {.measured = r->numbers.measured,
			    .boots_ago = r->numbers.boots_ago,
			    .measurements = r->measurements};
	cleanup_free char *text = NULL;
	json_t *doc;

	if (!binding || !is_pass(r) || !r->numbers.there)
		return state_remove(root, PASS_FILE, err);
	pass.binding = *binding;
	doc = stored_to_json(pass_stored, &pass);
	text = json_dumps(doc, JSON_INDENT(1));
	json_decref(doc);
	return state_write_private(root, PASS_FILE, text, err);
}

int pass_keep(const struct root *root, const struct record *r, struct err *err)
{
	cleanup_free char *text = NULL;
	int e;

	if (!is_pass(r) || state_read(root, PASS_FILE, &text, NULL) < 0)
		return 0;
	e = state_keep(root, PASS_FILE, text, err);
	return e < 0 ? e : 1;
}
