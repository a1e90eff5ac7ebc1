/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The record of a boot as JSON: nothing is lost on the way, and damage is no more than absence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glob.h>
#include <math.h>

#include "base/mem.h"
#include "base/str.h"
#include "engine/record.h"
#include "values.h"

static json_t *again(const json_t *doc)
{
	cleanup_free char *text = json_dumps(doc, 0);
	const char *boot_id = json_string_value(json_object_get(doc, "boot_id"));
	struct record r;
	json_t *ret;

	record_parse(&r, text, boot_id ? boot_id : "b");
	ret = record_to_json(&r);
	record_free(&r);
	return ret;
}

static json_t *load(const char *name)
{
	cleanup_free char *path = xasprintf("tests/fixtures/records/%s", name);
	json_t *doc = json_load_file(path, 0, NULL);

	assert_non_null(doc);
	return doc;
}

/* Whole numbers are equal to themselves with a point. */
static void assert_same(const json_t *a, const json_t *b)
{
	cleanup_free char *was = json_dumps(a, JSON_INDENT(1) | JSON_SORT_KEYS);
	cleanup_free char *is = json_dumps(b, JSON_INDENT(1) | JSON_SORT_KEYS);
	json_t *x = json_loads(was, JSON_DECODE_INT_AS_REAL, NULL);
	json_t *y = json_loads(is, JSON_DECODE_INT_AS_REAL, NULL);

	if (!json_equal(x, y)) {
		size_t at = 0;

		while (was[at] && was[at] == is[at])
			at++;
		at = at > 200 ? at - 200 : 0;
		fail_msg("was ...%.400s\nis ...%.400s", was + at, is + at);
	}
	json_decref(x);
	json_decref(y);
}

static void test_round_trip(void **state)
{
	static const char *const names[] = {"degraded-by-hand.json", "device-came-back.json",
					    "everything.json"};

	(void)state;
	for (size_t i = 0; i < array_len(names); i++) {
		json_t *doc = load(names[i]), *back = again(doc);

		assert_same(doc, back);
		json_decref(doc);
		json_decref(back);
	}
}

/* Calls f with doc while each value of the tree in turn is another, of each type. */
static void spoil(json_t *doc, json_t *at, void (*f)(json_t *doc))
{
	json_t *others[] = {json_null(),      json_integer(-7), json_integer(INT64_MAX),
			    json_real(1e300), json_string(""),	json_array(),
			    json_object(),    json_true()};
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(at, next, key, value)
	{
		cleanup_free char *name = xstrdup(key);

		json_incref(value);
		for (size_t i = 0; i < array_len(others); i++) {
			json_object_set(at, name, others[i]);
			f(doc);
		}
		json_object_set(at, name, value);
		spoil(doc, value, f);
		json_decref(value);
	}
	for (size_t k = 0; k < json_array_size(at); k++) {
		value = json_incref(json_array_get(at, k));
		for (size_t i = 0; i < array_len(others); i++) {
			json_array_set(at, k, others[i]);
			f(doc);
		}
		json_array_set(at, k, value);
		spoil(doc, value, f);
		json_decref(value);
	}
	for (size_t i = 0; i < array_len(others); i++)
		json_decref(others[i]);
}

/* Whatever is read, what is written of it is read again as the same. */
static void settles(json_t *doc)
{
	json_t *once = again(doc), *twice = again(once);

	assert_same(once, twice);
	json_decref(once);
	json_decref(twice);
}

static void test_damaged(void **state)
{
	json_t *doc = load("everything.json");

	(void)state;
	spoil(doc, doc, settles);
	json_decref(doc);
}

static json_t *first_change(const json_t *doc)
{
	const json_t *stages = json_object_get(doc, "stages");

	return json_array_get(json_object_get(json_object_get(stages, "gate"), "changes"), 0);
}

/* Codes of a change, a measurement and the verdict; one of them is of a railhead to come. */
static void test_codes(void **state)
{
	json_t *doc = load("everything.json"), *back, *faults;
	json_t *m = json_array_get(json_object_get(doc, "measurements"), 0);

	(void)state;
	json_object_set_new(json_array_get(json_object_get(doc, "faults"), 1), "code",
			    json_string("RH-TO-COME"));
	json_object_set_new(first_change(doc), "fault", json_string("RH-PCI-MISSING"));
	json_object_set_new(m, "fault", json_string("RH-MEMORY-BANDWIDTH"));
	back = again(doc);
	faults = json_object_get(back, "faults");
	assert_int_equal(json_array_size(faults), 2);
	assert_true(json_equal(json_array_get(faults, 0),
			       json_array_get(json_object_get(doc, "faults"), 0)));
	assert_null(json_object_get(json_array_get(faults, 1), "code"));
	assert_true(json_equal(json_object_get(doc, "reasons"), json_object_get(back, "reasons")));
	assert_true(json_equal(json_object_get(doc, "stages"), json_object_get(back, "stages")));
	assert_same(json_object_get(doc, "measurements"), json_object_get(back, "measurements"));
	json_decref(back);
	spoil(doc, doc, settles);
	json_decref(doc);
}

/* In schema 2 a finding was a sentence and a code: a node stays as it is while it is upgraded. */
static void test_schema_before(void **state)
{
	struct record r;
	cleanup_free char *text = NULL;

	(void)state;
	record_parse(&r,
		     "{\"schema\": 2, \"boot_id\": \"b\", \"verdict\": \"degraded\", \"admit\": "
		     "true, \"reasons\": [\"link/x/mtu: found '1', expected '2'; why\"], "
		     "\"faults\": [{\"code\": \"RH-NIC-SETTING-DIFFERS\", \"on_fail\": "
		     "\"degrade\", \"reason\": \"link/x/mtu: found '1', expected '2'; why\", "
		     "\"remedy\": \"of the code\"}]}",
		     "b");
	assert_int_equal(r.verdict.kind, VERDICT_DEGRADED);
	assert_true(record_admits(&r));
	assert_int_equal(r.verdict.findings.list.n, 1);
	assert_int_equal(r.verdict.findings.list.v[0].fault, FAULT_NIC_SETTING_DIFFERS);
	assert_int_equal(r.verdict.findings.list.v[0].on_fail, ON_FAIL_DEGRADE);
	text = finding_text(&r.verdict.findings.list.v[0]);
	assert_string_equal(text, "link/x/mtu: found '1', expected '2'; why");
	record_free(&r);
}

#define PATH "/run/railhead/status.json"
#define OF_OTHER_VERSION                                                                    \
	PATH ": written by another version of railhead (schema 99; this one reads 3): run " \
	     "`railhead gate --again`"
#define NO_RECORD PATH ": damaged: no record of railhead; `railhead gate --again` writes it again"

/* A record of this boot that can't be read is told from none, with what to do. */
static void test_unreadable(void **state)
{
	static const struct {
		const char *text, *why; /* why: NULL: it is read, or there is none of this boot */
	} t[] = {
		{NULL, NULL},
		{"{\"schema\": 2, \"boot_id\": \"b\"}", NULL},
		{"{\"schema\": 3, \"boot_id\": \"b\"}", NULL},
		{"{\"schema\": 2, \"boot_id\": \"another\"}", NULL},
		{"{\"schema\": 99, \"boot_id\": \"another\"}", NULL},
		{"{\"schema\": 99, \"boot_id\": \"b\", \"verdict\": \"ready\"}", OF_OTHER_VERSION},
		{"{\"schema\": \"2\", \"boot_id\": \"b\"}", NO_RECORD},
		{"{\"boot_id\": \"b\"}", NO_RECORD},
		{"{\"schema\": 2}", NO_RECORD},
		{"{\"schema\": 2, \"boot_id\": null}", NO_RECORD},
		{"[]", NO_RECORD},
		{"{\n\"schema\": 2,\n\"boot_id\": \"b\",\n\"verd",
		 PATH ": damaged at line 4: premature end of input near '\"verd'; `railhead gate "
		      "--again` writes it again"},
		{"",
		 PATH ": damaged at line 1: '[' or '{' expected near end of file; `railhead gate "
		      "--again` writes it again"},
		{"\x1b[2J\n", PATH ": damaged at line 1: '[' or '{' expected near '?'; `railhead "
				   "gate --again` writes it again"},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		struct record r;
		json_t *doc;

		record_parse(&r, t[i].text, "b");
		doc = record_to_json(&r);
		if (t[i].why)
			assert_string_equal(or_empty(r.unreadable), t[i].why);
		else
			assert_null(r.unreadable);
		assert_true(json_is_string(json_object_get(doc, "unreadable")) == !!t[i].why);
		assert_false(r.judged || record_admits(&r));
		json_decref(doc);
		record_free(&r);
	}
}

/* A verdict that nobody knows, and a measurement's state, admit nothing and prove nothing. */
static void test_misspelt(void **state)
{
	struct record r;

	(void)state;
	record_parse(&r,
		     "{\"schema\": 3, \"boot_id\": \"b\", \"verdict\": \"redy\", \"admit\": true, "
		     "\"measurements\": [{\"id\": \"x\", \"state\": \"pass\"}, {}]}",
		     "b");
	assert_false(r.judged);
	assert_int_equal(r.verdict.kind, VERDICT_WAITING);
	assert_false(record_admits(&r));
	assert_int_equal(r.measurements.list.n, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(r.measurements.list.v[i].state, CHANGE_CANNOT_MEASURE);
	record_free(&r);
}

static json_t *measured(const char *timing)
{
	cleanup_free char *text = xasprintf(
		"{\"schema\": 3, \"boot_id\": \"b\", \"measurements\": [{\"id\": \"gate/m/node0\", "
		"\"check\": \"m\", \"state\": \"same\", \"on_fail\": \"block\", "
		"\"demanded\": true, %s}]}",
		timing);
	json_t *doc = json_loads(text, 0, NULL), *back = again(doc);
	json_t *ret = json_incref(json_array_get(json_object_get(back, "measurements"), 0));

	settles(doc);
	json_decref(doc);
	json_decref(back);
	return ret;
}

/* When each run of a measurement began: of one run a key, of several a list, of none neither. */
static void test_timings(void **state)
{
	static const struct {
		const char *said, *kept; /* kept: of the keys that tell of the time */
	} t[] = {
		{"\"duration_usec\": 9", "{\"duration_usec\": 9}"},
		{"\"started_usec\": 5, \"duration_usec\": 9",
		 "{\"started_usec\": 5, \"duration_usec\": 9}"},
		{"\"started_usec\": 5, \"duration_usec\": 9, \"timings\": [{\"started_usec\": 5, "
		 "\"duration_usec\": 2}, {\"started_usec\": 8, \"duration_usec\": 7}]",
		 "{\"started_usec\": 5, \"duration_usec\": 9, \"timings\": [{\"started_usec\": 5, "
		 "\"duration_usec\": 2}, {\"started_usec\": 8, \"duration_usec\": 7}]}"},
		{"\"started_usec\": -5, \"duration_usec\": 9, \"timings\": [{}, 7]",
		 "{\"duration_usec\": 9}"},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		json_t *m = measured(t[i].said), *kept = json_loads(t[i].kept, 0, NULL);
		static const char *const keys[] = {"started_usec", "duration_usec", "timings"};

		for (size_t k = 0; k < array_len(keys); k++) {
			json_t *is = json_object_get(m, keys[k]);
			json_t *wanted = json_object_get(kept, keys[k]);

			assert_true(is == wanted || json_equal(is, wanted));
		}
		json_decref(m);
		json_decref(kept);
	}
}

/* --- a record with each member set ------------------------------------------------------- */

static void fill_readings(struct values *v, struct readings *ret)
{
	readings_add(ret, "min", any(v, INT32_MAX) / 8.0, any(v, 99) / 8.0, flag(v));
	readings_add(ret, "p99", any(v, INT32_MAX) / 8.0, NAN, flag(v));
}

static struct look look_with(struct values *v)
{
	struct look look = {.state = any(v, CHANGE_STATE_COUNT), .measured = text(v)};

	fill_readings(v, &look.readings);
	look.whole = any(v, INT32_MAX);
	look.own_pct = any(v, INT32_MAX);
	look.others_pct = any(v, INT32_MAX);
	return look;
}

/* timings: the number of runs; the only one took as long as the measurement. */
static struct measurement measurement_with(struct values *v, size_t timings)
{
	struct measurement m = {
		.id = text(v),
		.check = text(v),
		.origin = text(v),
		.state = any(v, CHANGE_STATE_COUNT),
		.on_fail = any(v, ON_FAIL_WARN + 1),
		.measured = text(v),
		.wanted = text(v),
		.demanded = flag(v),
		.reason = text(v),
		.causes = text(v),
		.remedy = text(v),
		.follows = flag(v),
		.fault = any(v, FAULT_COUNT),
		.detail = json_pack("{s:i, s:[n]}", "of the program", any(v, INT32_MAX), "any"),
		.duration = any(v, UINT32_MAX),
	};

	fill_readings(v, &m.readings);
	for (size_t i = 0; i < timings; i++) {
		struct timing t = {any(v, UINT32_MAX),
				   timings == 1 ? m.duration : any(v, UINT32_MAX)};

		vec_push(&m.timings, t);
	}
	for (size_t i = 0; i < 2; i++)
		vec_push(&m.looks, look_with(v));
	return m;
}

static struct record_change change_with(struct values *v)
{
	return (struct record_change){
		.now.id = text(v),
		.section = text(v),
		.kind = text(v),
		.target = text(v),
		.now.wanted = text(v),
		.now.found = text(v),
		.now.before = text(v),
		.now.why = text(v),
		.now.note = text(v),
		.now.follows = text(v),
		.now.tried = tried_with(v),
		.origin = text(v),
		.stage = any(v, STAGE_COUNT),
		.now.state = any(v, CHANGE_STATE_COUNT),
		.now.on_fail = any(v, ON_FAIL_WARN + 1),
		.now.fault = any(v, FAULT_COUNT),
		.started = any(v, UINT32_MAX),
		.duration = any(v, UINT32_MAX),
	};
}

static struct vfs_work work_with(struct values *v)
{
	struct vfs_work w = {
		.pf = text(v),
		.vfs = any(v, INT32_MAX),
		.bound = any(v, INT32_MAX),
		.failed = any(v, INT32_MAX),
		.numvfs = any(v, CHANGE_STATE_COUNT),
		.numvfs_time = any(v, UINT32_MAX),
		.bind_min = any(v, UINT32_MAX),
		.bind_max = any(v, UINT32_MAX),
	};

	for (size_t i = 0; i < 2; i++) {
		struct vfs_part part = {text(v), any(v, UINT32_MAX), any(v, UINT32_MAX)};

		vec_push(&w.timeline, part);
	}
	return w;
}

static void fill_stage(struct values *v, struct record_stage *stage)
{
	stage->ran = true;
	stage->started = any(v, UINT32_MAX);
	stage->duration = any(v, UINT32_MAX);
	for (enum change_state s = CHANGE_SAME; s < CHANGE_STATE_COUNT; s++)
		stage->count[s] = any(v, INT32_MAX);
	stage->lacks = text(v);
	for (size_t i = 0; i < 2; i++) {
		vec_push(&stage->vfs.list, work_with(v));
		vec_push(&stage->changes, change_with(v));
	}
}

static void fill_verdict(struct values *v, struct verdict *verdict)
{
	verdict->kind = any(v, VERDICT_NONE + 1);
	verdict->admit = flag(v);
	for (enum on_fail f = ON_FAIL_BLOCK; f <= ON_FAIL_WARN; f++) {
		struct finding one = finding_with(v, f);

		vec_push(&verdict->findings.list, one);
	}
	texts(v, &verdict->skipped);
}

static void fill_sets_and_devices(struct values *v, struct record *r)
{
	for (size_t i = 0; i < 2; i++) {
		struct record_set set = {.name = text(v)};
		struct record_device device = {.addr = text(v),
					       .lost = text(v),
					       .lost_at = any(v, UINT32_MAX),
					       .applied_at = any(v, UINT32_MAX),
					       .duration = any(v, UINT32_MAX)};

		texts(v, &set.addresses);
		vec_push(&r->sets.list, set);
		vec_push(&r->devices, device);
	}
}

/* Each member that is recorded, in the order of their declarations. */
static void fill(struct values *v, struct record *r)
{
	record_init(r, "b");
	r->user_space = text(v);
	r->profile = (struct record_profile){text(v), text(v), text(v), text(v)};
	fill_sets_and_devices(v, r);
	for (enum stage s = 0; s < STAGE_COUNT; s++)
		fill_stage(v, &r->stage[s]);
	r->judged = true;
	fill_verdict(v, &r->verdict);
	r->judged_at = any(v, UINT32_MAX);
	r->begun = any(v, INT32_MAX);
	r->begun_at = any(v, UINT32_MAX);
	r->measured = true;
	for (size_t i = 0; i < 3; i++)
		vec_push(&r->measurements.list, measurement_with(v, i));
	r->numbers = (struct record_numbers){
		.there = true, any(v, INT32_MAX), any(v, INT32_MAX), .why = text(v)};
	texts(v, &r->numbers.this_boot);
	texts(v, &r->numbers.unjudged);
	r->waiting = (struct waiting){any(v, UINT32_MAX), any(v, UINT32_MAX), any(v, UINT32_MAX)};
	r->drift = (struct drift){any(v, INT32_MAX), any(v, UINT32_MAX)};
	for (size_t i = 0; i < 2; i++)
		*(i ? &r->maintenance : &r->admission) = (struct window){
			any(v, UINT32_MAX), any(v, UINT32_MAX), text(v), text(v), text(v), text(v)};
	texts(v, &r->warnings);
	texts(v, &r->trends);
}

/* The text of such a record; that of the record that is read from the text is the same. */
static char *printed(struct values *v)
{
	struct record r;
	json_t *doc, *back;
	char *ret;

	v->n = 0;
	fill(v, &r);
	doc = record_to_json(&r);
	record_free(&r);
	back = again(doc);
	ret = json_dumps(doc, JSON_INDENT(1));
	{
		cleanup_free char *is = json_dumps(back, JSON_INDENT(1));

		assert_string_equal(is, ret);
	}
	json_decref(doc);
	json_decref(back);
	return ret;
}

/* No value is lost, or taken for another: each alone changes the text. */
static void test_each_value(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 3; seed++) {
		struct values v = {.seed = seed, .other = UINT32_MAX};
		cleanup_free char *base = printed(&v);
		unsigned int n = v.n;

		assert_true(n > 300);
		for (v.other = 0; v.other < n; v.other++) {
			cleanup_free char *with = printed(&v);

			if (streq(with, base))
				fail_msg("value %u of seed %u is not recorded", v.other, seed);
		}
	}
}

/* Keys of the answer, with each verdict and before the first one. */
static void test_keys(void **state)
{
	static const char *const keys[] = {"verdict", "admit",	     "reasons",	 "faults",
					   "skipped", "judged_usec", "warnings", "trends"};

	enum { KINDS = VERDICT_NONE + 1 };

	(void)state;
	for (unsigned int kind = 0; kind <= KINDS; kind++) {
		struct record r;
		json_t *doc;

		record_init(&r, "b");
		if (kind < KINDS)
			record_set_simple(&r, kind, FAULT_NONE, "x");
		doc = record_to_json(&r);
		assert_int_equal(json_object_size(doc), 2 + array_len(keys));
		for (size_t i = 0; i < array_len(keys); i++)
			assert_non_null(json_object_get(doc, keys[i]));
		if (kind == KINDS) {
			assert_true(json_is_null(json_object_get(doc, "verdict")));
			assert_true(json_is_false(json_object_get(doc, "admit")));
			assert_int_equal(json_array_size(json_object_get(doc, "faults")), 0);
		}
		settles(doc);
		json_decref(doc);
		record_free(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_codes),	   cmocka_unit_test(test_schema_before),
		cmocka_unit_test(test_unreadable), cmocka_unit_test(test_misspelt),
		cmocka_unit_test(test_keys),	   cmocka_unit_test(test_timings),
		cmocka_unit_test(test_each_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
