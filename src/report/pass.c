/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/pass.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "sys/state.h"

#define PASS_FILE "pass.json"

enum { PASS_SCHEMA = 1 };

static int64_t number(const json_t *obj, const char *key)
{
	return json_integer_value(json_object_get(obj, key));
}

static bool is_whole(const json_t *pass)
{
	return json_is_object(pass) && number(pass, "schema") == PASS_SCHEMA &&
	       json_is_integer(json_object_get(pass, "measured")) &&
	       json_array_size(json_object_get(pass, "measurements")) &&
	       json_is_object(json_object_get(pass, "binding"));
}

json_t *pass_take(const struct root *root, struct err *err)
{
	cleanup_free char *text = NULL;
	json_t *pass;

	if (state_kept(root, PASS_FILE, &text, NULL) < 0 || state_forget(root, PASS_FILE, err) < 0)
		return NULL;
	pass = json_loads(text, 0, NULL);
	if (is_whole(pass))
		return pass;
	json_decref(pass);
	return NULL;
}

static bool has_number(const json_t *pass, const char *id)
{
	const json_t *list = json_object_get(pass, "measurements");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *of = json_string_value(json_object_get(json_array_get(list, i), "id"));

		if (of && streq(of, id))
			return true;
	}
	return false;
}

/* The pass has a number of each target, and of nothing else; NULL, or the first that is wrong. */
static char *wrong_target(const json_t *pass, const struct plan *benchmarks)
{
	const json_t *list = json_object_get(pass, "measurements");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *id = json_string_value(json_object_get(json_array_get(list, i), "id"));

		if (!id || !plan_find(benchmarks, id))
			return xasprintf("%s: there is no such target now", id ? id : "a number");
	}
	for (size_t i = 0; i < benchmarks->list.n; i++) {
		const struct change *c = benchmarks->list.v[i];

		if (!has_number(pass, c->id))
			return xasprintf("%s: was not measured before", c->id);
		if (c->note)
			return xasprintf("%s: %s", c->id, c->note);
	}
	return NULL;
}

char *pass_refusal(const json_t *pass, const struct binding *binding, const struct plan *benchmarks,
		   int64_t now, uint64_t usec)
{
	int64_t age = now - number(pass, "measured");
	char *why;

	if (age < 0)
		return xstrdup("what was measured before has a time that is still to come; is the "
			       "clock right?");
	if ((uint64_t)age > usec / 1000000) {
		cleanup_free char *time = format_duration((uint64_t)age * 1000000);

		return xasprintf("what was measured before is %s old", time);
	}
	why = binding_difference(binding, json_object_get(pass, "binding"));
	return why ? why : wrong_target(pass, benchmarks);
}

static json_t *origin(int64_t measured, int64_t boots)
{
	return json_pack("{s:I, s:I}", "measured", (json_int_t)measured, "boots_ago",
			 (json_int_t)boots);
}

void status_reuse(struct status *s, const json_t *pass, const struct strv *this_boot)
{
	json_t *numbers = origin(number(pass, "measured"), number(pass, "boots_ago") + 1);
	json_t *names = json_array();

	for (size_t i = 0; i < this_boot->n; i++)
		json_array_append_new(names, json_string(this_boot->v[i]));
	if (this_boot->n)
		json_object_set(numbers, "this_boot", names);
	json_decref(names);
	json_object_set(s->doc, "measurements", json_object_get(pass, "measurements"));
	json_object_set_new(s->doc, "numbers", numbers);
}

void status_measured(struct status *s, int64_t now, const char *why)
{
	json_t *numbers = origin(now, 0);

	if (why)
		json_object_set_new(numbers, "anew_because", json_string(why));
	json_object_set_new(s->doc, "numbers", numbers);
}

/* ready: what degrades or only warns is no pass, and neither is what was not measured at all. */
static bool is_pass(const struct status *s)
{
	const json_t *list = json_object_get(s->doc, "measurements");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *outcome =
			json_string_value(json_object_get(json_array_get(list, i), "outcome"));

		if (!outcome || !streq(outcome, outcome_name(CHANGE_SAME)))
			return false;
	}
	return json_array_size(list) && streq(status_verdict(s), verdict_name(VERDICT_READY));
}

int pass_store(const struct root *root, const struct status *s, const struct binding *binding,
	       struct err *err)
{
	const json_t *numbers = json_object_get(s->doc, "numbers");
	cleanup_free char *text = NULL;
	json_t *pass;

	if (!binding || !is_pass(s) || !numbers)
		return state_remove(root, PASS_FILE, err);
	pass = json_pack("{s:i, s:I, s:I, s:o, s:O}", "schema", PASS_SCHEMA, "measured",
			 (json_int_t)number(numbers, "measured"), "boots_ago",
			 (json_int_t)number(numbers, "boots_ago"), "binding",
			 binding_to_json(binding), "measurements",
			 json_object_get(s->doc, "measurements"));
	text = json_dumps(pass, JSON_INDENT(1));
	json_decref(pass);
	return state_write_private(root, PASS_FILE, text, err);
}

int pass_keep(const struct root *root, const struct status *s, struct err *err)
{
	cleanup_free char *text = NULL;
	int r;

	if (!is_pass(s) || state_read(root, PASS_FILE, &text, NULL) < 0)
		return 0;
	r = state_keep(root, PASS_FILE, text, err);
	return r < 0 ? r : 1;
}

/* "a, b", or NULL. */
static char *names_of(const json_t *list)
{
	struct str out = {0};

	for (size_t i = 0; i < json_array_size(list); i++)
		str_addf(&out, "%s%s", i ? ", " : "", json_string_value(json_array_get(list, i)));
	return out.len ? str_take(&out) : NULL;
}

char *pass_line(const struct status *s, int64_t now)
{
	const json_t *numbers = json_object_get(s->doc, "numbers");
	const char *why = json_string_value(json_object_get(numbers, "anew_because"));
	int64_t age = now - number(numbers, "measured"), boots = number(numbers, "boots_ago");
	cleanup_free char *time = format_duration(age > 0 ? (uint64_t)age * 1000000 : 0);

	if (!numbers || !json_array_size(json_object_get(s->doc, "measurements")))
		return NULL;
	if (boots) {
		cleanup_free char *before = xasprintf("%lld boots before", (long long)boots);
		cleanup_free char *names = names_of(json_object_get(numbers, "this_boot"));

		return xasprintf("measured %s ago, %s%s%s%s", time,
				 boots > 1 ? before : "in the boot before",
				 names ? " (in this boot: " : "", names ? names : "",
				 names ? ")" : "");
	}
	return xasprintf("measured %s ago%s%s%s", time, why ? " (anew: " : "", why ? why : "",
			 why ? ")" : "");
}
