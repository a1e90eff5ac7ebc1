/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/status.h"

#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "plan/render.h"
#include "report/admission.h"
#include "report/json_text.h"
#include "report/publish.h"
#include "report/vfs.h"
#include "sys/clock.h"
#include "sys/manager.h"
#include "sys/state.h"

#define STATUS_FILE "status.json"
#define READY_FILE "ready"

enum { STATUS_SCHEMA = 1 };

static json_t *sub(json_t *obj, const char *key)
{
	json_t *child = json_object_get(obj, key);

	if (!json_is_object(child)) {
		child = json_object();
		json_object_set_new(obj, key, child);
	}
	return child;
}

static json_t *fresh(const char *boot_id)
{
	json_t *doc = json_object();

	json_object_set_new(doc, "schema", json_integer(STATUS_SCHEMA));
	json_object_set_new(doc, "boot_id", json_string(boot_id));
	return doc;
}

void status_set_simple(struct status *s, enum verdict_kind kind, const char *reason)
{
	struct verdict v;

	verdict_simple(&v, kind, reason);
	status_set_verdict(s, &v);
	verdict_free(&v);
}

static bool has_ready_file(const struct root *root)
{
	return root_exists(root, STATE_DIR "/" READY_FILE);
}

/* The one who withdrew readiness, or was to give it, did not come to the record. */
static void forget_claim(struct status *s)
{
	cleanup_free char *text = NULL;

	s->claim_lost = true;
	admission_write(s->doc, NULL);
	if (!status_verdict_admits(s))
		return;
	text = xasprintf("the verdict was '%s', and " STATE_DIR "/" READY_FILE
			 " is not there: a judgement began, or did not end; run `railhead gate`",
			 status_verdict(s));
	status_set_simple(s, VERDICT_LAPSED, text);
}

static uint64_t usec_of(const json_t *obj, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(obj, key));

	return n > 0 ? (uint64_t)n : 0;
}

void status_blame_killed(struct status *s)
{
	json_t *judging = json_incref(json_object_get(s->doc, "judging"));
	cleanup_free char *text = xasprintf(
		"the gate that began %llu s after boot was killed, or failed, before its verdict; "
		"see `journalctl -u railhead-gate`, and run `railhead gate`",
		(unsigned long long)(usec_of(judging, "since_usec") / 1000000));

	status_set_simple(s, VERDICT_WAITING, text);
	json_object_set_new(s->doc, "judging", judging);
}

void status_leave_user_space(struct status *s)
{
	json_t *doc = fresh(json_text(s->doc, "boot_id", ""));
	json_t *initrd = json_object_get(json_object_get(s->doc, "stages"), "initrd");

	if (initrd)
		json_object_set(sub(doc, "stages"), "initrd", initrd);
	if (json_object_get(s->doc, "user_space"))
		json_object_set(doc, "user_space", json_object_get(s->doc, "user_space"));
	json_decref(s->doc);
	s->doc = doc;
	s->new_user_space = true;
}

void status_parse(struct status *ret, const char *text, const char *boot_id, const char *user_space)
{
	const char *was;

	*ret = (struct status){.doc = text ? json_loads(text, 0, NULL) : NULL};
	if (!json_is_object(ret->doc) || !streq(json_text(ret->doc, "boot_id", ""), boot_id)) {
		json_decref(ret->doc);
		ret->doc = fresh(boot_id);
	}
	was = json_text(ret->doc, "user_space", "");
	if (*was && *user_space && !streq(was, user_space))
		status_leave_user_space(ret);
	if (*user_space)
		json_object_set_new(ret->doc, "user_space", json_string(user_space));
}

void status_of_initramfs(struct status *s)
{
	s->unpublished = true;
	json_object_del(s->doc, "user_space");
}

void status_load(const struct root *root, struct status *ret)
{
	cleanup_free char *user_space = root->live ? manager_user_space() : xstrdup("");
	cleanup_free char *text = NULL;
	char boot_id[37];

	state_boot_id(root, boot_id);
	state_read(root, STATUS_FILE, &text, NULL);
	status_parse(ret, text, boot_id, user_space);
	if (status_admitted(ret) && !has_ready_file(root))
		forget_claim(ret);
}

void status_free(struct status *s)
{
	json_decref(s->doc);
	s->doc = NULL;
	strv_free(&s->warnings);
}

bool status_is_empty(const struct status *s)
{
	return !json_object_get(s->doc, "verdict");
}

unsigned int status_begun(const struct status *s)
{
	return (unsigned int)json_integer_value(
		json_object_get(json_object_get(s->doc, "judging"), "begun"));
}

bool status_has_stage(const struct status *s, enum stage stage)
{
	return json_object_get(json_object_get(s->doc, "stages"), stage_name(stage)) != NULL;
}

const char *status_verdict(const struct status *s)
{
	return json_text(s->doc, "verdict", "waiting");
}

bool status_verdict_admits(const struct status *s)
{
	return json_is_true(json_object_get(s->doc, "admit"));
}

bool status_admitted(const struct status *s)
{
	struct admission a;

	return status_verdict_admits(s) || admission_read(s->doc, &a);
}

const char *status_digest(const struct status *s)
{
	return json_text(json_object_get(s->doc, "profile"), "digest", "");
}

void status_set_profile(struct status *s, const struct profile *profile)
{
	if (!profile) {
		json_object_del(s->doc, "profile");
		return;
	}
	json_object_set_new(s->doc, "profile",
			    json_pack("{s:s, s:s, s:s, s:s}", "name", profile->name, "version",
				      profile->version ? profile->version : "", "digest",
				      profile->digest, "file", profile->file));
}

/* {"rails": ["0000:18:00.0", ...]}: what the lines for people are folded by. */
static json_t *sets_of(const struct run *run)
{
	json_t *sets = json_object();

	for (size_t i = 0; i < run->sets.set.n; i++) {
		const struct device_set *set = &run->sets.set.v[i];
		json_t *members = json_array();

		for (size_t k = 0; k < set->fn.n; k++)
			json_array_append_new(members, json_string(set->fn.v[k]->addr));
		json_object_set_new(sets, set->sel->name, members);
	}
	return sets;
}

void status_set_stage(struct status *s, const struct run *run, unsigned int stages,
		      const struct stage_result *result)
{
	json_t *stage = json_object(), *changes = json_array(), *counts = json_object();
	json_t *vfs = vfs_to_json(run, stages, result);

	for (size_t i = 0; i < run->plan.list.n; i++) {
		const struct change *c = run->plan.list.v[i];

		if (run_covers(c, stages, result->stage) && c->state != CHANGE_UNKNOWN)
			json_array_append_new(changes, change_to_json(c));
	}
	for (enum change_state st = CHANGE_SAME; st <= CHANGE_UNSUPPORTED; st++)
		if (result->count[st])
			json_object_set_new(counts, state_name(st),
					    json_integer((json_int_t)result->count[st]));
	json_object_set_new(stage, "started_usec", json_integer((json_int_t)result->started));
	json_object_set_new(stage, "duration_usec", json_integer((json_int_t)result->duration));
	json_object_set_new(stage, "counts", counts);
	if (json_array_size(vfs))
		json_object_set(stage, "vfs", vfs);
	json_decref(vfs);
	json_object_set_new(stage, "changes", changes);
	json_object_set_new(sub(s->doc, "stages"), stage_name(result->stage), stage);
	json_object_set_new(s->doc, "sets", sets_of(run));
}

void status_set_lack(struct status *s, enum stage stage, const char *sentence)
{
	json_t *obj = json_object_get(json_object_get(s->doc, "stages"), stage_name(stage));

	if (obj && sentence)
		json_object_set_new(obj, "lacks", json_string(sentence));
}

static json_t *measurement_to_json(const struct measurement *m)
{
	json_t *obj = json_pack("{s:s, s:s*, s:s, s:s, s:I}", "id", m->id, "check", m->check,
				"outcome", outcome_name(m->state), "wanted", m->wanted,
				"duration_usec", (json_int_t)m->duration);
	cleanup_free char *origin = render_place(m->origin);

	json_object_set_new(obj, "origin", json_string(origin));
	json_object_set_new(obj, "on_fail", json_string(on_fail_name(m->on_fail)));
	json_object_set_new(obj, "demanded", json_boolean(m->demanded));
	if (m->measured)
		json_object_set_new(obj, "measured", json_string(m->measured));
	if (m->reason)
		json_object_set_new(obj, "reason", json_string(m->reason));
	if (m->detail)
		json_object_set(obj, "detail", m->detail);
	if (m->readings.n)
		json_object_set_new(obj, "readings", measurement_figures(m));
	if (m->looks)
		json_object_set(obj, "looks", m->looks);
	return obj;
}

void status_set_measurements(struct status *s, const struct measurements *m)
{
	json_t *list = json_array();

	for (size_t i = 0; i < m->list.n; i++)
		json_array_append_new(list, measurement_to_json(&m->list.v[i]));
	json_object_set_new(s->doc, "measurements", list);
}

static bool has_check(const struct measurements *m, const char *check)
{
	for (size_t i = 0; i < m->list.n; i++)
		if (streq(m->list.v[i].check, check))
			return true;
	return false;
}

void status_replace_measurements(struct status *s, const struct measurements *m)
{
	json_t *list = json_incref(json_object_get(s->doc, "measurements")), *fresh;
	size_t i;
	json_t *old;

	status_set_measurements(s, m);
	fresh = json_object_get(s->doc, "measurements");
	json_array_foreach(list, i, old) if (!has_check(m, json_text(old, "check", "")))
		json_array_append(fresh, old);
	json_decref(list);
}

static struct measurement measurement_from_json(const json_t *obj)
{
	const char *measured = json_string_value(json_object_get(obj, "measured"));
	const char *reason = json_string_value(json_object_get(obj, "reason"));
	struct measurement m = {.state = CHANGE_CANNOT_MEASURE, .on_fail = ON_FAIL_BLOCK};

	m.id = xstrdup(json_text(obj, "id", ""));
	m.check = xstrdup(json_text(obj, "check", ""));
	m.wanted = xstrdup(json_text(obj, "wanted", ""));
	m.measured = measured ? xstrdup(measured) : NULL;
	m.demanded = json_is_true(json_object_get(obj, "demanded"));
	m.reason = xstrdup(reason ? reason : "");
	for (enum change_state st = CHANGE_SAME; st <= CHANGE_CANNOT_MEASURE; st++)
		if (streq(outcome_name(st), json_text(obj, "outcome", "")))
			m.state = st;
	for (enum on_fail f = ON_FAIL_BLOCK; f <= ON_FAIL_WARN; f++)
		if (streq(on_fail_name(f), json_text(obj, "on_fail", "")))
			m.on_fail = f;
	return m;
}

void status_measurements(const struct status *s, struct measurements *ret)
{
	const json_t *list = json_object_get(s->doc, "measurements");

	for (size_t i = 0; i < json_array_size(list); i++) {
		struct measurement m = measurement_from_json(json_array_get(list, i));

		vec_push(&ret->list, m);
	}
}

void status_set_device(struct status *s, const char *addr, json_t *device)
{
	json_object_set_new(sub(s->doc, "devices"), addr, device);
}

bool status_says(const struct status *s, const struct verdict *v)
{
	const json_t *reasons = json_object_get(s->doc, "reasons");
	bool same = json_array_size(reasons) == v->reasons.n &&
		    streq(status_verdict(s), verdict_name(v->kind));

	for (size_t i = 0; same && i < v->reasons.n; i++) {
		const char *reason = json_string_value(json_array_get(reasons, i));

		same = reason && streq(reason, v->reasons.v[i]);
	}
	return same;
}

void status_set_verdict(struct status *s, const struct verdict *v)
{
	json_t *reasons = json_array();

	for (size_t i = 0; i < v->reasons.n; i++)
		json_array_append_new(reasons, json_string(v->reasons.v[i]));
	json_object_set_new(s->doc, "verdict", json_string(verdict_name(v->kind)));
	json_object_set_new(s->doc, "admit", json_boolean(v->admit));
	json_object_set_new(s->doc, "reasons", reasons);
	json_object_set_new(s->doc, "judged_usec", json_integer((json_int_t)clock_usec()));
	json_object_del(s->doc, "judging");
}

bool status_waiting(const struct status *s, struct waiting *ret)
{
	const json_t *obj = json_object_get(s->doc, "waiting");

	*ret = (struct waiting){usec_of(obj, "since_usec"), usec_of(obj, "until_usec"),
				usec_of(obj, "looked_usec")};
	return json_is_object(obj);
}

bool status_is_unjudged(const struct status *s)
{
	struct waiting w;

	return streq(status_verdict(s), verdict_name(VERDICT_WAITING)) && !status_waiting(s, &w);
}

void status_set_waiting(struct status *s, const struct waiting *w)
{
	json_object_del(s->doc, "waiting");
	if (w)
		json_object_set_new(s->doc, "waiting",
				    json_pack("{s:I, s:I, s:I}", "since_usec", (json_int_t)w->since,
					      "until_usec", (json_int_t)w->until, "looked_usec",
					      (json_int_t)w->looked));
}

static void tell(const struct root *root, struct status *s, bool ready)
{
	if (!s->unpublished)
		publish(root, s->doc, ready, &s->warnings);
}

int status_withdraw(const struct root *root, struct status *s, struct err *err)
{
	tell(root, s, false);
	return state_remove(root, READY_FILE, err);
}

/* What is over, or moot, is not told for ever. */
static void drop_admission(struct status *s)
{
	struct admission a;

	if (status_verdict_admits(s) || !admission_read(s->doc, &a))
		admission_write(s->doc, NULL);
}

static char *ready_text(const struct status *s)
{
	cleanup_free char *by_hand = admission_line(s->doc);

	return xasprintf("%s %s\n%s%s", status_verdict(s), status_digest(s), by_hand ? by_hand : "",
			 by_hand ? "\n" : "");
}

/* A claim that could not be taken back is for who reads the record, too. */
static void set_warnings(struct status *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->warnings.n; i++)
		json_array_append_new(list, json_string(s->warnings.v[i]));
	json_object_del(s->doc, "warnings");
	if (s->warnings.n)
		json_object_set(s->doc, "warnings", list);
	json_decref(list);
}

int status_store(const struct root *root, struct status *s, struct err *err)
{
	cleanup_free char *text = NULL;
	struct err later = {0};
	bool admitted;
	int r = 0, w;

	drop_admission(s);
	admitted = status_admitted(s);
	if (!admitted)
		r = status_withdraw(root, s, err);
	if (r < 0 && !strv_contains(&s->warnings, err->text))
		strv_add(&s->warnings, err->text);
	set_warnings(s);
	text = json_dumps(s->doc, JSON_INDENT(1));
	w = state_write(root, STATUS_FILE, text, r < 0 ? &later : err);
	if (w < 0 && !admitted)
		state_remove(root, STATUS_FILE, NULL);
	if (w == 0 && admitted && has_ready_file(root))
		tell(root, s, true);
	return r < 0 ? r : w;
}

int status_begin(const struct root *root, struct status *s, struct err *err)
{
	unsigned int begun = status_begun(s) + 1;
	uint64_t now = clock_usec();
	cleanup_free char *text = xasprintf("the gate has been at work since %llu s after boot",
					    (unsigned long long)(now / 1000000));

	status_set_simple(s, VERDICT_WAITING, text);
	json_object_set_new(
		s->doc, "judging",
		json_pack("{s:I, s:i}", "since_usec", (json_int_t)now, "begun", (int)begun));
	json_object_del(s->doc, "measurements");
	return status_store(root, s, err);
}

void status_renew(const struct root *root, struct status *s)
{
	tell(root, s, status_admitted(s) && has_ready_file(root));
}

int status_admit(const struct root *root, struct status *s, struct err *err)
{
	cleanup_free char *ready = NULL;
	int r = status_store(root, s, err);

	if (r < 0 || !status_admitted(s))
		return r;
	ready = ready_text(s);
	r = state_write(root, READY_FILE, ready, err);
	if (r == 0)
		tell(root, s, true);
	else
		status_withdraw(root, s, NULL); /* an old one may be there: admitted by hand */
	return r;
}
