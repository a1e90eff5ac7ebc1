/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record as JSON, in the order of readers' interest. Schema 2 uses the same keys for
 * measurements as for changes: state, desired, observed. Schema 1 had outcome, wanted and measured,
 * and other words for three states. A record of schema 1 is still read, because an upgrade of the
 * package on a running node finds the record of the older package.
 */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "engine/record.h"

enum { SCHEMA_OUTCOMES = 1, SCHEMA = 2 };

/* --- texts and numbers ------------------------------------------------------------------- */

/* NULL: no text. */
static const char *text_in(const json_t *obj, const char *key)
{
	return json_string_value(json_object_get(obj, key));
}

static char *copy_in(const json_t *obj, const char *key)
{
	const char *text = text_in(obj, key);

	return text ? xstrdup(text) : NULL;
}

static char *copy_or_empty(const json_t *obj, const char *key)
{
	return xstrdup(or_empty(text_in(obj, key)));
}

static bool is_text(const json_t *obj, const char *key, const char *text)
{
	const char *is = text_in(obj, key);

	return is && streq(is, text);
}

static int64_t int_in(const json_t *obj, const char *key)
{
	return json_integer_value(json_object_get(obj, key));
}

static uint64_t usec_in(const json_t *obj, const char *key)
{
	int64_t n = int_in(obj, key);

	return n > 0 ? (uint64_t)n : 0;
}

static unsigned int count_in(const json_t *obj, const char *key)
{
	uint64_t n = usec_in(obj, key);

	return n > INT_MAX ? INT_MAX : (unsigned int)n;
}

static void texts_in(const json_t *obj, const char *key, struct strv *ret)
{
	const json_t *list = json_object_get(obj, key);

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *text = json_string_value(json_array_get(list, i));

		if (text)
			strv_add(ret, text);
	}
}

static void put_text(json_t *obj, const char *key, const char *text)
{
	if (text)
		json_object_set_new(obj, key, json_string(text));
}

static void put_int(json_t *obj, const char *key, uint64_t n)
{
	json_object_set_new(obj, key, json_integer((json_int_t)n));
}

static void put_int_if(json_t *obj, const char *key, uint64_t n)
{
	if (n)
		put_int(obj, key, n);
}

static void put_texts(json_t *obj, const char *key, const struct strv *list)
{
	json_t *texts = json_array();

	for (size_t i = 0; i < list->n; i++)
		json_array_append_new(texts, json_string(list->v[i]));
	json_object_set_new(obj, key, texts);
}

static void put_texts_if(json_t *obj, const char *key, const struct strv *list)
{
	if (list->n)
		put_texts(obj, key, list);
}

static enum fault fault_in(const json_t *obj, const char *key)
{
	return fault_parse(text_in(obj, key));
}

static enum on_fail on_fail_in(const json_t *obj)
{
	enum on_fail f = ON_FAIL_BLOCK;
	const char *word = text_in(obj, "on_fail");

	if (word)
		on_fail_parse(word, &f);
	return f;
}

/* --- measurements ------------------------------------------------------------------------ */

/* The keys of a schema. */
struct keys {
	const char *state, *desired, *observed, *why;
	bool flat_looks; /* a look has each of its readings as a key */
};

static const struct keys keys_now = {"state", "desired", "observed", "again_because", false};
static const struct keys keys_before = {"outcome", "wanted", "measured", "anew_because", true};

static const struct {
	const char *word;
	enum change_state state;
} outcomes[] = {{"pass", CHANGE_SAME}, {"broken", CHANGE_FAILED}, {"disturbed", CHANGE_INVALID}};

/* An unknown state counts as not measured. */
static enum change_state state_in(const json_t *obj, const struct keys *keys)
{
	enum change_state state = CHANGE_CANNOT_MEASURE;
	const char *word = text_in(obj, keys->state);

	for (size_t i = 0; keys == &keys_before && i < array_len(outcomes); i++)
		if (word && streq(word, outcomes[i].word))
			return outcomes[i].state;
	if (word)
		state_parse(word, &state);
	return state;
}

static const char *const of_line[] = {"whole", "own_pct", "others_pct"};

static double *figure_of(struct look *look, size_t i)
{
	double *const figures[] = {&look->whole, &look->own_pct, &look->others_pct};

	return figures[i];
}

static json_t *readings_to_json(const struct readings *r)
{
	json_t *obj = json_object();

	for (size_t i = 0; i < r->list.n; i++)
		json_object_set_new(obj, r->list.v[i].name, json_real(r->list.v[i].value));
	return obj;
}

/* The figures, and the names of the figures without a threshold. */
static void put_readings(json_t *obj, const struct readings *r)
{
	cleanup_strv struct strv told = {0};

	for (size_t i = 0; i < r->list.n; i++)
		if (r->list.v[i].told)
			strv_add(&told, r->list.v[i].name);
	if (r->list.n)
		json_object_set_new(obj, "readings", readings_to_json(r));
	put_texts_if(obj, "told", &told);
}

static json_t *look_to_json(const struct look *look)
{
	json_t *obj = json_object();

	put_text(obj, keys_now.state, state_name(look->state));
	put_text(obj, keys_now.observed, look->measured);
	put_readings(obj, &look->readings);
	for (size_t i = 0; i < array_len(of_line); i++) {
		double value = *figure_of((struct look *)look, i);

		if (!isnan(value))
			json_object_set_new(obj, of_line[i], json_real(value));
	}
	return obj;
}

/* obj: the object of put_readings(); readings: its figures. */
static void readings_in(const json_t *obj, json_t *readings, struct readings *ret)
{
	cleanup_strv struct strv told = {0};
	const char *key;
	json_t *value;

	texts_in(obj, "told", &told);
	json_object_foreach(readings, key, value) if (json_is_number(value))
		readings_add(ret, key, json_number_value(value), strv_contains(&told, key));
}

static struct look look_in(json_t *obj, const struct keys *keys)
{
	struct look look = {.state = state_in(obj, keys), .measured = copy_in(obj, keys->observed)};

	readings_in(obj, keys->flat_looks ? obj : json_object_get(obj, "readings"), &look.readings);
	for (size_t i = 0; i < array_len(of_line); i++) {
		const json_t *value = json_object_get(obj, of_line[i]);

		*figure_of(&look, i) = json_is_number(value) ? json_number_value(value) : NAN;
	}
	return look;
}

/* When the first run began; of several runs each. */
static void put_timings(json_t *obj, const struct measurement *m)
{
	json_t *list;

	if (!m->timings.n)
		return;
	put_int(obj, "started_usec", m->timings.v[0].started);
	if (m->timings.n == 1)
		return;
	list = json_array();
	for (size_t i = 0; i < m->timings.n; i++)
		json_array_append_new(list, json_pack("{s:I, s:I}", "started_usec",
						      (json_int_t)m->timings.v[i].started,
						      "duration_usec",
						      (json_int_t)m->timings.v[i].duration));
	json_object_set_new(obj, "timings", list);
}

static void add_timing(const json_t *obj, struct measurement *ret)
{
	struct timing t = {usec_in(obj, "started_usec"), usec_in(obj, "duration_usec")};

	if (t.started)
		vec_push(&ret->timings, t);
}

/* None in a record of a railhead that kept no beginnings. */
static void timings_in(const json_t *obj, struct measurement *ret)
{
	const json_t *list = json_object_get(obj, "timings");

	for (size_t i = 0; i < json_array_size(list); i++)
		add_timing(json_array_get(list, i), ret);
	if (ret->timings.n == 1) /* the duration of the measurement is that of its only run */
		ret->duration = ret->timings.v[0].duration;
	if (!ret->timings.n)
		add_timing(obj, ret);
}

static json_t *measurement_to_json(const struct measurement *m)
{
	json_t *obj = json_object();

	put_text(obj, "id", m->id);
	put_text(obj, "check", m->check);
	put_text(obj, keys_now.state, state_name(m->state));
	put_text(obj, keys_now.desired, m->wanted);
	put_text(obj, keys_now.observed, m->measured);
	put_timings(obj, m);
	put_int(obj, "duration_usec", m->duration);
	put_text(obj, "origin", m->origin);
	put_text(obj, "on_fail", on_fail_name(m->on_fail));
	json_object_set_new(obj, "demanded", json_boolean(m->demanded));
	put_text(obj, "reason", m->reason);
	if (m->follows)
		json_object_set_new(obj, "follows", json_true());
	put_text(obj, "fault", fault_code(m->fault));
	if (m->detail)
		json_object_set(obj, "detail", m->detail);
	put_readings(obj, &m->readings);
	if (m->looks.n) {
		json_t *looks = json_array();

		for (size_t i = 0; i < m->looks.n; i++)
			json_array_append_new(looks, look_to_json(&m->looks.v[i]));
		json_object_set_new(obj, "looks", looks);
	}
	return obj;
}

static struct measurement measurement_in(const json_t *obj, const struct keys *keys)
{
	const json_t *looks = json_object_get(obj, "looks");
	struct measurement m = {
		.id = copy_or_empty(obj, "id"),
		.check = copy_or_empty(obj, "check"),
		.state = state_in(obj, keys),
		.wanted = copy_in(obj, keys->desired),
		.duration = usec_in(obj, "duration_usec"),
		.origin = copy_in(obj, "origin"),
		.on_fail = on_fail_in(obj),
		.demanded = json_is_true(json_object_get(obj, "demanded")),
		.measured = copy_in(obj, keys->observed),
		.reason = copy_in(obj, "reason"),
		.follows = json_is_true(json_object_get(obj, "follows")),
		.fault = fault_in(obj, "fault"),
		.detail = json_incref(json_object_get(obj, "detail")),
	};

	timings_in(obj, &m);
	readings_in(obj, json_object_get(obj, "readings"), &m.readings);
	for (size_t i = 0; i < json_array_size(looks); i++)
		vec_push(&m.looks, look_in(json_array_get(looks, i), keys));
	if (m.state != CHANGE_SAME && !m.reason)
		m.reason = xstrdup("");
	return m;
}

json_t *measurements_to_json(const struct measurements *m)
{
	json_t *list = json_array();

	for (size_t i = 0; i < m->list.n; i++)
		json_array_append_new(list, measurement_to_json(&m->list.v[i]));
	return list;
}

static void measurements_in(const json_t *list, const struct keys *keys, struct measurements *ret)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		vec_push(&ret->list, measurement_in(json_array_get(list, i), keys));
}

void measurements_from_json(const json_t *list, struct measurements *ret)
{
	measurements_in(list, &keys_now, ret);
}

static json_t *numbers_to_json(const struct record_numbers *n)
{
	json_t *obj = json_pack("{s:I, s:I}", "measured", (json_int_t)n->measured, "boots_ago",
				(json_int_t)n->boots_ago);

	put_text(obj, keys_now.why, n->why);
	put_texts_if(obj, "this_boot", &n->this_boot);
	put_texts_if(obj, "unjudged", &n->unjudged);
	return obj;
}

static void numbers_in(const json_t *obj, const struct keys *keys, struct record_numbers *ret)
{
	ret->there = json_is_object(obj);
	ret->measured = int_in(obj, "measured");
	ret->boots_ago = int_in(obj, "boots_ago");
	ret->why = copy_in(obj, keys->why);
	texts_in(obj, "this_boot", &ret->this_boot);
	texts_in(obj, "unjudged", &ret->unjudged);
}

/* --- stages ------------------------------------------------------------------------------ */

static json_t *tried_to_json(const struct tried *t)
{
	json_t *obj = json_object();

	put_text(obj, "stage", stage_name(t->stage));
	put_text(obj, "fault", fault_code(t->fault));
	put_text(obj, "words", t->words);
	put_text(obj, "follows", t->follows);
	return obj;
}

static void tried_in(const json_t *obj, struct tried *ret)
{
	const char *stage = text_in(obj, "stage"), *words = text_in(obj, "words");

	if (words)
		tried_set(ret, STAGE_DEVICES, fault_in(obj, "fault"), words,
			  text_in(obj, "follows"));
	if (words && stage)
		stage_parse(stage, &ret->stage);
}

static json_t *recorded_to_json(const struct record_change *c)
{
	json_t *obj = json_object();

	put_text(obj, "id", c->id);
	put_text(obj, "step", c->section);
	put_text(obj, "stage", stage_name(c->stage));
	put_text(obj, "kind", c->kind);
	put_text(obj, "state", state_name(c->state));
	put_text(obj, "target", c->target);
	put_text(obj, "desired", c->desired);
	put_text(obj, "observed", c->observed);
	put_text(obj, "before", c->before);
	put_text(obj, "reason", c->reason);
	put_text(obj, "fault", fault_code(c->fault));
	put_text(obj, "note", c->note);
	put_text(obj, "follows", c->follows);
	if (c->tried.words)
		json_object_set_new(obj, "tried", tried_to_json(&c->tried));
	put_text(obj, "origin", c->origin);
	if (c->on_fail != ON_FAIL_BLOCK)
		put_text(obj, "on_fail", on_fail_name(c->on_fail));
	put_int_if(obj, "started_usec", c->started);
	put_int_if(obj, "duration_usec", c->duration);
	return obj;
}

json_t *change_to_json(const struct change *c)
{
	struct record_change recorded = record_change_of(c);
	json_t *obj = recorded_to_json(&recorded);

	record_change_free(&recorded);
	return obj;
}

static struct record_change change_in(const json_t *obj, enum stage of)
{
	const char *state = text_in(obj, "state"), *stage = text_in(obj, "stage");
	struct record_change c = {
		.id = copy_or_empty(obj, "id"),
		.section = copy_in(obj, "step"),
		.kind = copy_in(obj, "kind"),
		.target = copy_in(obj, "target"),
		.desired = copy_in(obj, "desired"),
		.observed = copy_in(obj, "observed"),
		.before = copy_in(obj, "before"),
		.reason = copy_in(obj, "reason"),
		.fault = fault_in(obj, "fault"),
		.note = copy_in(obj, "note"),
		.follows = copy_in(obj, "follows"),
		.origin = copy_in(obj, "origin"),
		.stage = of,
		.on_fail = on_fail_in(obj),
		.started = usec_in(obj, "started_usec"),
		.duration = usec_in(obj, "duration_usec"),
	};

	if (state)
		state_parse(state, &c.state);
	if (stage)
		stage_parse(stage, &c.stage);
	tried_in(json_object_get(obj, "tried"), &c.tried);
	return c;
}

static json_t *work_to_json(const struct vfs_work *w)
{
	json_t *obj = json_object(), *timeline = json_array();

	put_text(obj, "pf", w->pf);
	put_int(obj, "vfs", w->vfs);
	put_int(obj, "bound", w->bound);
	put_int(obj, "failed", w->failed);
	if (w->numvfs != CHANGE_UNKNOWN) {
		put_text(obj, "numvfs", state_name(w->numvfs));
		put_int(obj, "numvfs_usec", w->numvfs_time);
	}
	if (w->bind_max) {
		put_int(obj, "bind_min_usec", w->bind_min);
		put_int(obj, "bind_max_usec", w->bind_max);
	}
	for (size_t i = 0; i < w->timeline.n; i++) {
		json_t *part = json_object();

		put_text(part, "part", w->timeline.v[i].name);
		put_int(part, "from_usec", w->timeline.v[i].from);
		put_int(part, "to_usec", w->timeline.v[i].to);
		json_array_append_new(timeline, part);
	}
	json_object_set_new(obj, "timeline", timeline);
	return obj;
}

static struct vfs_work work_in(const json_t *obj)
{
	const json_t *timeline = json_object_get(obj, "timeline");
	const char *numvfs = text_in(obj, "numvfs");
	struct vfs_work w = {
		.pf = copy_or_empty(obj, "pf"),
		.vfs = count_in(obj, "vfs"),
		.bound = count_in(obj, "bound"),
		.failed = count_in(obj, "failed"),
		.numvfs_time = usec_in(obj, "numvfs_usec"),
		.bind_min = usec_in(obj, "bind_min_usec"),
		.bind_max = usec_in(obj, "bind_max_usec"),
	};

	if (numvfs)
		state_parse(numvfs, &w.numvfs);
	for (size_t i = 0; i < json_array_size(timeline); i++) {
		const json_t *part = json_array_get(timeline, i);

		vec_push(&w.timeline,
			 ((struct vfs_part){copy_or_empty(part, "part"), usec_in(part, "from_usec"),
					    usec_in(part, "to_usec")}));
	}
	return w;
}

static json_t *stage_to_json(const struct record_stage *stage)
{
	json_t *obj = json_object(), *counts = json_object(), *changes = json_array();

	put_int(obj, "started_usec", stage->started);
	put_int(obj, "duration_usec", stage->duration);
	for (enum change_state s = CHANGE_SAME; s < CHANGE_STATE_COUNT; s++)
		put_int_if(counts, state_name(s), stage->count[s]);
	json_object_set_new(obj, "counts", counts);
	put_text(obj, "lacks", stage->lacks);
	if (stage->vfs.list.n) {
		json_t *vfs = json_array();

		for (size_t i = 0; i < stage->vfs.list.n; i++)
			json_array_append_new(vfs, work_to_json(&stage->vfs.list.v[i]));
		json_object_set_new(obj, "vfs", vfs);
	}
	for (size_t i = 0; i < stage->changes.n; i++)
		json_array_append_new(changes, recorded_to_json(&stage->changes.v[i]));
	json_object_set_new(obj, "changes", changes);
	return obj;
}

static void stage_in(const json_t *obj, enum stage of, struct record_stage *ret)
{
	const json_t *changes = json_object_get(obj, "changes"), *vfs = json_object_get(obj, "vfs");
	const json_t *counts = json_object_get(obj, "counts");

	ret->ran = json_is_object(obj);
	ret->started = usec_in(obj, "started_usec");
	ret->duration = usec_in(obj, "duration_usec");
	ret->lacks = copy_in(obj, "lacks");
	for (enum change_state s = CHANGE_SAME; s < CHANGE_STATE_COUNT; s++)
		ret->count[s] = usec_in(counts, state_name(s));
	for (size_t i = 0; i < json_array_size(vfs); i++)
		vec_push(&ret->vfs.list, work_in(json_array_get(vfs, i)));
	for (size_t i = 0; i < json_array_size(changes); i++)
		vec_push(&ret->changes, change_in(json_array_get(changes, i), of));
}

static void put_stages(json_t *doc, const struct record *r)
{
	json_t *stages = json_object();

	for (enum stage s = 0; s < STAGE_COUNT; s++)
		if (r->stage[s].ran)
			json_object_set_new(stages, stage_name(s), stage_to_json(&r->stage[s]));
	if (json_object_size(stages))
		json_object_set(doc, "stages", stages);
	json_decref(stages);
}

/* --- what else --------------------------------------------------------------------------- */

static void put_profile(json_t *doc, const struct record_profile *p)
{
	if (p->name)
		json_object_set_new(doc, "profile",
				    json_pack("{s:s, s:s, s:s, s:s}", "name", p->name, "version",
					      p->version, "digest", p->digest, "file", p->file));
}

static void profile_in(const json_t *obj, struct record_profile *ret)
{
	if (json_is_object(obj))
		*ret = (struct record_profile){
			copy_or_empty(obj, "name"), copy_or_empty(obj, "version"),
			copy_or_empty(obj, "digest"), copy_or_empty(obj, "file")};
}

static void put_sets(json_t *doc, const struct record *r)
{
	json_t *sets = json_object();

	for (size_t i = 0; i < r->sets.list.n; i++)
		put_texts(sets, r->sets.list.v[i].name, &r->sets.list.v[i].addresses);
	json_object_set_new(doc, "sets", sets);
}

static void sets_in(const json_t *obj, struct record *r)
{
	const char *name;
	json_t *members;

	json_object_foreach((json_t *)obj, name, members)
	{
		struct record_set set = {.name = xstrdup(name)};

		texts_in(obj, name, &set.addresses);
		vec_push(&r->sets.list, set);
	}
}

static void put_devices(json_t *doc, const struct record *r)
{
	json_t *devices = json_object();

	for (size_t i = 0; i < r->devices.n; i++) {
		const struct record_device *d = &r->devices.v[i];

		json_object_set_new(devices, d->addr,
				    json_pack("{s:s, s:I, s:I, s:I}", "lost", d->lost, "lost_usec",
					      (json_int_t)d->lost_at, "applied_usec",
					      (json_int_t)d->applied_at, "duration_usec",
					      (json_int_t)d->duration));
	}
	json_object_set_new(doc, "devices", devices);
}

static void devices_in(const json_t *obj, struct record *r)
{
	const char *addr;
	json_t *device;

	json_object_foreach((json_t *)obj, addr, device) vec_push(
		&r->devices, ((struct record_device){xstrdup(addr), copy_or_empty(device, "lost"),
						     usec_in(device, "lost_usec"),
						     usec_in(device, "applied_usec"),
						     usec_in(device, "duration_usec")}));
}

static void put_waiting(json_t *doc, const struct waiting *w)
{
	if (w->until)
		json_object_set_new(doc, "waiting",
				    json_pack("{s:I, s:I, s:I}", "since_usec", (json_int_t)w->since,
					      "until_usec", (json_int_t)w->until, "looked_usec",
					      (json_int_t)w->looked));
}

static void put_drift(json_t *doc, const struct drift *d)
{
	if (d->lapses)
		json_object_set_new(doc, "drift",
				    json_pack("{s:I, s:I}", "lapses", (json_int_t)d->lapses,
					      "quiet_usec", (json_int_t)d->quiet_at));
}

static void put_admission(json_t *doc, const struct admission *a)
{
	if (a->until)
		json_object_set_new(doc, "admission",
				    json_pack("{s:I, s:I, s:s, s:s, s:s, s:s}", "since_usec",
					      (json_int_t)a->since, "until_usec",
					      (json_int_t)a->until, "until", a->ends, "digest",
					      a->digest, "who", a->who, "reason", a->reason));
}

static void admission_in(const json_t *obj, struct admission *ret)
{
	if (usec_in(obj, "until_usec"))
		*ret = (struct admission){.since = usec_in(obj, "since_usec"),
					  .until = usec_in(obj, "until_usec"),
					  .ends = copy_or_empty(obj, "until"),
					  .digest = copy_or_empty(obj, "digest"),
					  .who = copy_or_empty(obj, "who"),
					  .reason = copy_or_empty(obj, "reason")};
}

static json_t *fault_to_json(const struct reason *reason)
{
	const struct fault_row *row = fault_row(reason->fault);

	return json_pack("{s:s, s:s, s:s, s:s, s:s}", "code", row->code, "action",
			 fault_action_name(row->action), "on_fail", on_fail_name(reason->on_fail),
			 "reason", reason->text, "remedy", row->remedy);
}

/* The sentences, and again the sentences with their codes. */
static void put_reasons(json_t *doc, const struct reasons *r)
{
	json_t *texts = json_array(), *faults = json_array();

	for (size_t i = 0; i < r->list.n; i++) {
		json_array_append_new(texts, json_string(r->list.v[i].text));
		if (r->list.v[i].fault)
			json_array_append_new(faults, fault_to_json(&r->list.v[i]));
	}
	json_object_set_new(doc, "reasons", texts);
	json_object_set_new(doc, "faults", faults);
}

/* NULL: not found. */
static const json_t *fault_of_text(const json_t *faults, const char *text)
{
	for (size_t i = 0; i < json_array_size(faults); i++)
		if (is_text(json_array_get(faults, i), "reason", text))
			return json_array_get(faults, i);
	return NULL;
}

static void reasons_in(const json_t *doc, struct reasons *ret)
{
	const json_t *faults = json_object_get(doc, "faults");
	cleanup_strv struct strv texts = {0};

	texts_in(doc, "reasons", &texts);
	for (size_t i = 0; i < texts.n; i++) {
		const json_t *fault = fault_of_text(faults, texts.v[i]);

		reasons_add_as(ret, &(struct reason){.fault = fault_in(fault, "code"),
						     .on_fail = on_fail_in(fault),
						     .text = texts.v[i]});
	}
}

/* The same keys with each verdict and before the first one: readers can rely on them. */
static void put_verdict(json_t *doc, const struct record *r)
{
	static const struct reasons none = {0};

	json_object_set_new(doc, "verdict",
			    r->judged ? json_string(verdict_name(r->verdict.kind)) : json_null());
	json_object_set_new(doc, "admit", json_boolean(r->judged && r->verdict.admit));
	put_reasons(doc, r->judged ? &r->verdict.reasons : &none);
	put_texts(doc, "skipped", &r->verdict.skipped);
	json_object_set_new(doc, "judged_usec",
			    r->judged ? json_integer((json_int_t)r->judged_at) : json_null());
	if (r->begun)
		json_object_set_new(doc, "judging",
				    json_pack("{s:I, s:i}", "since_usec", (json_int_t)r->begun_at,
					      "begun", (int)r->begun));
}

/* An unknown word is not a verdict, and does not admit work. */
static void verdict_in(const json_t *doc, struct record *r)
{
	const json_t *judging = json_object_get(doc, "judging");
	const char *word = text_in(doc, "verdict");

	r->judged = word && verdict_parse(word, &r->verdict.kind) == 0;
	r->verdict.admit = r->judged && json_is_true(json_object_get(doc, "admit"));
	if (r->judged)
		reasons_in(doc, &r->verdict.reasons);
	if (r->judged)
		texts_in(doc, "skipped", &r->verdict.skipped);
	r->judged_at = usec_in(doc, "judged_usec");
	r->begun = count_in(judging, "begun");
	r->begun_at = usec_in(judging, "since_usec");
}

/* --- the whole --------------------------------------------------------------------------- */

json_t *record_to_json(const struct record *r)
{
	json_t *doc = json_object();

	put_int(doc, "schema", SCHEMA);
	put_text(doc, "boot_id", r->boot_id);
	put_text(doc, "user_space", *r->user_space ? r->user_space : NULL);
	put_verdict(doc, r);
	put_waiting(doc, &r->waiting);
	put_drift(doc, &r->drift);
	put_admission(doc, &r->admission);
	put_profile(doc, &r->profile);
	if (r->sets.list.n)
		put_sets(doc, r);
	put_stages(doc, r);
	if (r->measured)
		json_object_set_new(doc, "measurements", measurements_to_json(&r->measurements));
	if (r->numbers.there)
		json_object_set_new(doc, "numbers", numbers_to_json(&r->numbers));
	if (r->devices.n)
		put_devices(doc, r);
	put_texts(doc, "warnings", &r->warnings);
	put_texts(doc, "trends", &r->trends);
	return doc;
}

static void read_all(struct record *r, const json_t *doc, const struct keys *keys)
{
	const json_t *waiting = json_object_get(doc, "waiting");
	const json_t *drift = json_object_get(doc, "drift");
	const json_t *measurements = json_object_get(doc, "measurements");
	const json_t *stages = json_object_get(doc, "stages");

	free(r->user_space);
	r->user_space = copy_or_empty(doc, "user_space");
	verdict_in(doc, r);
	r->waiting =
		(struct waiting){usec_in(waiting, "since_usec"), usec_in(waiting, "until_usec"),
				 usec_in(waiting, "looked_usec")};
	r->drift = (struct drift){count_in(drift, "lapses"), usec_in(drift, "quiet_usec")};
	admission_in(json_object_get(doc, "admission"), &r->admission);
	profile_in(json_object_get(doc, "profile"), &r->profile);
	sets_in(json_object_get(doc, "sets"), r);
	for (enum stage s = 0; s < STAGE_COUNT; s++)
		stage_in(json_object_get(stages, stage_name(s)), s, &r->stage[s]);
	r->measured = json_is_array(measurements);
	measurements_in(measurements, keys, &r->measurements);
	numbers_in(json_object_get(doc, "numbers"), keys, &r->numbers);
	devices_in(json_object_get(doc, "devices"), r);
	texts_in(doc, "warnings", &r->warnings);
	texts_in(doc, "trends", &r->trends);
}

void record_parse(struct record *ret, const char *text, const char *boot_id)
{
	json_t *doc = text ? json_loads(text, 0, NULL) : NULL;

	int64_t schema = int_in(doc, "schema");

	record_init(ret, boot_id);
	if (is_text(doc, "boot_id", boot_id) && (schema == SCHEMA || schema == SCHEMA_OUTCOMES))
		read_all(ret, doc, schema == SCHEMA ? &keys_now : &keys_before);
	json_decref(doc);
}
