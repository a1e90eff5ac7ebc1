/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record as JSON, in the order of readers' interest. Measurements and findings have the same
 * keys as changes: state, desired, observed. A record of schema 2, in which a finding was a
 * sentence with its code, is read, too: an upgrade of the package on a running node finds it.
 */
#include "base/mem.h"
#include "base/str.h"
#include "engine/record.h"

enum { SCHEMA_SENTENCES = 2, SCHEMA = 3 };

/* --- stages ------------------------------------------------------------------------------ */

STORED_TABLE(record_change_stored, STORED(record_change, now.id, "id", STRING),
	     STORED(record_change, section, "step", TEXT),
	     STORED(record_change, stage, "stage", ENUM, STAGE_WORDS),
	     STORED(record_change, kind, "kind", TEXT),
	     STORED(record_change, now.state, "state", ENUM, STATE_WORDS),
	     STORED(record_change, target, "target", TEXT),
	     STORED(record_change, now.wanted, "desired", TEXT),
	     STORED(record_change, now.found, "observed", TEXT),
	     STORED(record_change, now.before, "before", TEXT),
	     STORED(record_change, now.why, "reason", TEXT),
	     STORED(record_change, now.remedy, "remedy", TEXT),
	     STORED(record_change, now.fault, "fault", ENUM, FAULT_WORDS),
	     STORED(record_change, now.note, "note", TEXT),
	     STORED(record_change, now.follows, "follows", TEXT),
	     STORED(record_change, now.tried, "tried", STRUCT, .rows = tried_stored, .omit = true),
	     STORED(record_change, origin, "origin", TEXT),
	     STORED(record_change, now.on_fail, "on_fail", ENUM, ON_FAIL_WORDS, .omit = true),
	     STORED(record_change, started, "started_usec", NUMBER, .omit = true),
	     STORED(record_change, duration, "duration_usec", NUMBER, .omit = true));

json_t *change_to_json(const struct change *c)
{
	struct record_change recorded = record_change_of(c);
	json_t *obj = stored_to_json(record_change_stored, &recorded);

	stored_free(record_change_stored, &recorded);
	return obj;
}

#define COUNT(name, state) STORED(record_stage, count[state], name, NUMBER, .omit = true)

static STORED_TABLE(counts_stored, COUNT("same", CHANGE_SAME), COUNT("differs", CHANGE_DIFFERS),
		    COUNT("waits", CHANGE_WAITS), COUNT("set", CHANGE_SET),
		    COUNT("failed", CHANGE_FAILED), COUNT("unsupported", CHANGE_UNSUPPORTED),
		    COUNT("slow", CHANGE_SLOW), COUNT("intermittent", CHANGE_INTERMITTENT),
		    COUNT("invalid", CHANGE_INVALID), COUNT("not yet", CHANGE_NOT_YET),
		    COUNT("cannot measure", CHANGE_CANNOT_MEASURE),
		    COUNT("to measure", CHANGE_TO_MEASURE));

STORED_TABLE(record_stage_stored, STORED(record_stage, started, "started_usec", NUMBER),
	     STORED(record_stage, duration, "duration_usec", NUMBER),
	     STORED_GROUP("counts", counts_stored), STORED(record_stage, lacks, "lacks", TEXT),
	     STORED(record_stage, vfs, "vfs", STRUCT, .rows = vfs_works_stored, .omit = true),
	     STORED_ITEMS(record_stage, changes, "changes", LIST, record_change_stored));

#define STAGE(name, s)                                                      \
	STORED(record, stage[s], name, STRUCT, .rows = record_stage_stored, \
	       .there = offsetof(struct record, stage[s].ran))

static STORED_TABLE(stages_stored, STAGE("initrd", STAGE_INITRD), STAGE("early", STAGE_EARLY),
		    STAGE("devices", STAGE_DEVICES), STAGE("gate", STAGE_GATE));

/* --- the verdict ------------------------------------------------------------------------- */

/* The sentences, and again with their parts. */
static void put_findings(json_t *obj, const void *at)
{
	json_t *texts = json_array(), *faults = stored_to_json(findings_stored, at), *fault;
	size_t i;

	json_array_foreach(faults, i, fault)
		json_array_append(texts, json_object_get(fault, "reason"));
	json_object_set_new(obj, "reasons", texts);
	json_object_set_new(obj, "faults", faults);
}

static bool get_findings(const json_t *obj, void *at)
{
	return stored_from_json(findings_stored, json_object_get(obj, "faults"), at);
}

/* --- what else --------------------------------------------------------------------------- */

STORED_TABLE(record_profile_stored, STORED(record_profile, name, "name", TEXT, .required = true),
	     STORED(record_profile, version, "version", STRING),
	     STORED(record_profile, digest, "digest", STRING),
	     STORED(record_profile, file, "file", STRING));

static STORED_TABLE(set_stored, STORED(record_set, name, NULL, TEXT),
		    STORED_TEXTS(record_set, addresses, ""));

static STORED_TABLE(sets_stored, STORED_ITEMS(record_sets, list, "", MAP, set_stored));

STORED_TABLE(record_device_stored, STORED(record_device, addr, NULL, TEXT),
	     STORED(record_device, lost, "lost", STRING),
	     STORED(record_device, lost_at, "lost_usec", NUMBER),
	     STORED(record_device, applied_at, "applied_usec", NUMBER),
	     STORED(record_device, duration, "duration_usec", NUMBER));

STORED_TABLE(record_numbers_stored, STORED(record_numbers, measured, "measured", NUMBER),
	     STORED(record_numbers, boots_ago, "boots_ago", NUMBER),
	     STORED(record_numbers, why, "again_because", TEXT),
	     STORED_TEXTS(record_numbers, this_boot, "this_boot", .omit = true),
	     STORED_TEXTS(record_numbers, unjudged, "unjudged", .omit = true));

static STORED_TABLE(judging_stored, STORED(record, begun_at, "since_usec", NUMBER),
		    STORED(record, begun, "begun", NUMBER, .required = true, .omit = true));

static STORED_TABLE(waiting_stored, STORED(waiting, since, "since_usec", NUMBER),
		    STORED(waiting, until, "until_usec", NUMBER, .required = true, .omit = true),
		    STORED(waiting, looked, "looked_usec", NUMBER));

static STORED_TABLE(last_look_stored,
		    STORED(last_look, at, "at_usec", NUMBER, .required = true, .omit = true),
		    STORED(last_look, wall, "unix_time", NUMBER),
		    STORED(last_look, interval, "interval_usec", NUMBER, .omit = true),
		    STORED(last_look, asked, "asked_usec", NUMBER, .omit = true));

static STORED_TABLE(count_stored, STORED(count, member, NULL, TEXT),
		    STORED(count, value, "", NUMBER));

static STORED_TABLE(count_list_stored, STORED_ITEMS(count_list, list, "", MAP, count_stored));

STORED_TABLE(record_counters_stored, STORED(record_counters, id, NULL, TEXT),
	     STORED(record_counters, counts, "", STRUCT, .rows = count_list_stored));

static STORED_TABLE(drift_stored,
		    STORED(drift, lapses, "lapses", NUMBER, .required = true, .omit = true),
		    STORED(drift, quiet_at, "quiet_usec", NUMBER));

static STORED_TABLE(window_stored, STORED(window, since, "since_usec", NUMBER),
		    STORED(window, until, "until_usec", NUMBER, .required = true, .omit = true),
		    STORED(window, ends, "until", STRING), STORED(window, digest, "digest", STRING),
		    STORED(window, who, "who", STRING), STORED(window, reason, "reason", STRING));

/* --- the whole --------------------------------------------------------------------------- */

/* Readers rely on "verdict" to "judged_usec", "warnings" and "trends", which are always there. */
static STORED_TABLE(
	record_stored, {.key = "schema", .type = STORED_CONSTANT, .otherwise = SCHEMA},
	STORED(record, boot_id, "boot_id", STRING), STORED(record, user_space, "user_space", TEXT),
	STORED(record, unreadable, "unreadable", TEXT),
	STORED(record, verdict.kind, "verdict", ENUM, VERDICT_WORDS,
	       .there = offsetof(struct record, judged), .null = true),
	STORED(record, verdict.admit, "admit", BOOL),
	STORED(record, verdict.findings, NULL, STRUCT, .rows = findings_stored, .put = put_findings,
	       .get = get_findings),
	STORED_TEXTS(record, verdict.skipped, "skipped"),
	STORED(record, judged_at, "judged_usec", NUMBER, .null = true),
	STORED_GROUP("judging", judging_stored),
	STORED(record, waiting, "waiting", STRUCT, .rows = waiting_stored),
	STORED(record, last_look, "last_look", STRUCT, .rows = last_look_stored),
	STORED_ITEMS(record, counters, "counters", MAP, record_counters_stored, .omit = true),
	STORED(record, too_old, "not_looked_at_minutes", NUMBER, .omit = true),
	STORED(record, unwatched, "recheck_off", BOOL, .omit = true),
	STORED(record, drift, "drift", STRUCT, .rows = drift_stored),
	STORED(record, admission, "admission", STRUCT, .rows = window_stored),
	STORED(record, maintenance, "maintenance", STRUCT, .rows = window_stored),
	STORED(record, profile, "profile", STRUCT, .rows = record_profile_stored),
	STORED(record, sets, "sets", STRUCT, .rows = sets_stored, .omit = true),
	STORED(record, missing, "missing", STRUCT, .rows = missing_list_stored, .omit = true),
	STORED_GROUP("stages", stages_stored, .omit = true),
	STORED(record, measurements, "measurements", STRUCT, .rows = measurements_stored,
	       .there = offsetof(struct record, measured)),
	STORED_ITEMS(record, held.list, "held", MAP, held_stored, .omit = true),
	STORED(record, numbers, "numbers", STRUCT, .rows = record_numbers_stored,
	       .there = offsetof(struct record, numbers.there)),
	STORED_ITEMS(record, devices, "devices", MAP, record_device_stored, .omit = true),
	STORED_TEXTS(record, warnings, "warnings"), STORED_TEXTS(record, trends, "trends"));

json_t *record_to_json(const struct record *r)
{
	return stored_to_json(record_stored, r);
}

static bool is_known(json_int_t schema)
{
	return schema == SCHEMA || schema == SCHEMA_SENTENCES;
}

char *record_explain_schema(const json_t *doc)
{
	json_int_t schema = json_integer_value(json_object_get(doc, "schema"));

	return schema == SCHEMA ? NULL
				: xasprintf("written by another version of railhead (schema %lld; "
					    "this one reads %d)",
					    (long long)schema, SCHEMA);
}

/* Why it is no record that this railhead reads; NULL: it is one, or it is of another boot. */
static char *find_damage(const json_t *doc, const json_error_t *where, const char *boot_id)
{
	const json_t *schema = json_object_get(doc, "schema");
	const char *boot = json_string_value(json_object_get(doc, "boot_id"));
	cleanup_free char *other = record_explain_schema(doc);
	char *why = NULL;

	if (!doc)
		why = xasprintf(RECORD_PATH ": damaged at line %d: %s; " RECORD_REMEDY, where->line,
				where->text);
	else if (!boot || !json_is_integer(schema))
		why = xstrdup(RECORD_PATH ": damaged: no record of railhead; " RECORD_REMEDY);
	else if (streq(boot, boot_id) && !is_known(json_integer_value(schema)))
		why = xasprintf(RECORD_PATH ": %s: run `railhead gate --again`", other);
	if (why)
		str_make_line(why); /* a part of the file may be in it */
	return why;
}

void record_parse(struct record *ret, const char *text, const char *boot_id)
{
	json_error_t where;
	json_t *doc = text ? json_loads(text, 0, &where) : NULL;
	const char *boot = json_string_value(json_object_get(doc, "boot_id"));

	record_init(ret, boot_id);
	if (text)
		ret->unreadable = find_damage(doc, &where, boot_id);
	if (!ret->unreadable && boot && streq(boot, boot_id))
		stored_from_json(record_stored, doc, ret);
	if (!ret->judged) { /* an unknown word, too, is no verdict */
		verdict_free(&ret->verdict);
		ret->verdict = (struct verdict){.kind = VERDICT_WAITING};
		ret->judged_at = 0;
	}
	json_decref(doc);
}

const char *record_why_none(const struct record *r)
{
	return r->unreadable ? r->unreadable : "railhead has not run in this boot";
}

void record_end_window(struct window *w)
{
	stored_free(window_stored, w);
	*w = (struct window){0};
}

void record_sets_free(struct record_sets *sets)
{
	stored_free(sets_stored, sets);
}

void record_free(struct record *r)
{
	stored_free(record_stored, r);
	*r = (struct record){0};
}
