/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "checks/measurement.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

const struct quantity_row quantities[QUANTITY_COUNT] = {
	[QUANTITY_RATE] = {"B/s", "railhead_gate_rate_bytes_per_second",
			   "Rate that the gate measured last.", 1, false},
	[QUANTITY_TIME] = {"ns", "railhead_gate_latency_seconds",
			   "Latency that the gate measured last.", 1e-9, true},
	[QUANTITY_MESSAGES] = {"messages/s", "railhead_gate_messages_per_second",
			       "Rate of small messages that the gate measured last.", 1, false},
	[QUANTITY_FAULTS] = {"faults", "railhead_gate_faults",
			     "Faults that a check of the gate found last.", 1, true},
};

const struct figure_key figure_keys[] = {
	{"min", QUANTITY_RATE},	     {"max", QUANTITY_TIME},   {"p50", QUANTITY_TIME},
	{"p99", QUANTITY_TIME},	     {"p9999", QUANTITY_TIME}, {"min_messages", QUANTITY_MESSAGES},
	{"faults", QUANTITY_FAULTS}, /* for gpu_health and gpu_fabric, which have no such key */
	{NULL, QUANTITY_FAULTS},
};

const struct figure_key *figure_key_find(const char *key)
{
	for (const struct figure_key *k = figure_keys; k->key; k++)
		if (streq(k->key, key))
			return k;
	return NULL;
}

void readings_add(struct readings *r, const char *key, double value, double limit, bool of_set)
{
	const struct figure_key *k = figure_key_find(key);

	if (k)
		vec_push(&r->list, ((struct reading){k->key, k->quantity, value, limit, of_set}));
}

static bool is_wrong(const struct reading *r)
{
	return quantities[r->quantity].at_most ? r->value > r->limit : r->value < r->limit;
}

const struct reading *measurement_judged(const struct measurement *m)
{
	const struct reading *first = NULL, *share = NULL;

	for (size_t i = 0; i < m->readings.list.n; i++) {
		const struct reading *r = &m->readings.list.v[i];

		if (is_wrong(r))
			return r;
		if (!share && r->of_set && m->state == CHANGE_SLOW)
			share = r;
		if (!first || (isnan(first->limit) && !isnan(r->limit)))
			first = r;
	}
	return share ? share : first;
}

char *quantity_format(enum quantity q, double v)
{
	switch (q) {
	case QUANTITY_RATE:
		return v >= 1e9 ? xasprintf("%.1f GB/s", v / 1e9) : xasprintf("%.1f MB/s", v / 1e6);
	case QUANTITY_TIME:
		return v >= 1e6	  ? xasprintf("%.2f ms", v / 1e6)
		       : v >= 1e3 ? xasprintf("%.2f us", v / 1e3)
				  : xasprintf("%.1f ns", v);
	case QUANTITY_MESSAGES:
		return v >= 1e6 ? xasprintf("%.2f M/s", v / 1e6) : xasprintf("%.1f K/s", v / 1e3);
	case QUANTITY_FAULTS:
		break;
	}
	return xasprintf("%.0f %s", v, v == 1 ? "fault" : "faults");
}

void measurement_say(struct measurement *m, char *text, unsigned int mend)
{
	free(m->reason);
	free(m->remedy);
	m->reason = text;
	m->remedy = mend ? xstrdup(text + mend) : NULL;
	if (mend)
		text[err_len_before(mend)] = '\0';
}

struct finding measurement_finding(const struct measurement *m)
{
	return (struct finding){.id = m->id,
				.state = m->state,
				.on_fail = m->on_fail,
				.fault = m->fault,
				.why = m->reason,
				.causes = m->causes,
				.remedy = m->remedy};
}

void measurement_forget(struct measurement *m)
{
	vec_free(&m->readings.list);
	free(m->measured);
	free(m->wanted);
	free(m->reason);
	free(m->causes);
	free(m->remedy);
	json_decref(m->detail);
	m->measured = m->wanted = m->reason = m->causes = m->remedy = NULL;
	m->detail = NULL;
}

void measurement_looks_free(struct measurement *m)
{
	for (size_t i = 0; i < m->looks.n; i++) {
		free(m->looks.v[i].measured);
		vec_free(&m->looks.v[i].readings.list);
	}
	vec_free(&m->looks);
}

const char *member_of_id(const char *id, const char *check)
{
	const size_t before = strlen("gate/") + strlen(check) + 1;

	return strlen(id) > before ? id + before : id;
}

/* --- as JSON ----------------------------------------------------------------------------- */

/* The thresholds, and the names of the figures that are judged as a share of their set. */
static void put_limits(json_t *obj, const void *at)
{
	json_t *limits = json_object(), *of_set = json_array();
	const struct readings *r = at;

	for (size_t i = 0; i < r->list.n; i++) {
		const struct reading *one = &r->list.v[i];

		if (!isnan(one->limit))
			json_object_set_new(limits, one->name, json_real(one->limit));
		if (one->of_set)
			json_array_append_new(of_set, json_string(one->name));
	}
	if (json_object_size(limits))
		json_object_set(obj, "limits", limits);
	if (json_array_size(of_set))
		json_object_set(obj, "of_set", of_set);
	json_decref(limits);
	json_decref(of_set);
}

static bool get_readings(const json_t *obj, void *at)
{
	json_t *readings = json_object_get(obj, "readings"), *value;
	cleanup_strv struct strv of_set = {0};
	const char *name;

	stored_from_json(texts_stored, json_object_get(obj, "of_set"), &of_set);
	json_object_foreach(readings, name, value)
	{
		const json_t *limit = json_object_get(json_object_get(obj, "limits"), name);

		if (json_is_number(value))
			readings_add(at, name, json_number_value(value),
				     json_is_number(limit) ? json_number_value(limit) : NAN,
				     strv_contains(&of_set, name));
	}
	return readings;
}

static STORED_TABLE(timing_stored,
		    STORED(timing, started, "started_usec", NUMBER, .required = true),
		    STORED(timing, duration, "duration_usec", NUMBER));

static STORED_TABLE(timings_stored, STORED_ITEMS(measurement, timings, "", LIST, timing_stored));

/* Of one run only the beginning: its duration is that of the measurement. */
static void put_timings(json_t *obj, const void *at)
{
	json_t *runs = stored_to_json(timings_stored, at);

	json_object_set(obj, "started_usec",
			json_object_get(json_array_get(runs, 0), "started_usec"));
	if (json_array_size(runs) > 1)
		json_object_set(obj, "timings", runs);
	json_decref(runs);
}

static bool get_timings(const json_t *obj, void *at)
{
	json_t *runs = json_object_get(obj, "timings");

	runs = runs ? json_incref(runs) : json_pack("[O]", obj);
	stored_from_json(timings_stored, runs, at);
	json_decref(runs);
	return true;
}

/* A reader prints the reason of each measurement that is not SAME. */
static bool complete(const json_t *obj, void *at)
{
	struct measurement *m = at;

	(void)obj;
	if (m->state != CHANGE_SAME && !m->reason)
		m->reason = xstrdup("");
	return true;
}

static STORED_TABLE(reading_stored, STORED(reading, value, "", REAL));

/* An unknown state counts as not measured. */
static STORED_TABLE(look_stored,
		    STORED(look, state, "state", ENUM, STATE_WORDS,
			   .otherwise = CHANGE_CANNOT_MEASURE),
		    STORED(look, measured, "observed", TEXT),
		    STORED_ITEMS(look, readings.list, "readings", MAP, reading_stored, .omit = true,
				 .get = get_readings),
		    STORED(look, readings, NULL, OWN, .put = put_limits),
		    STORED(look, whole, "whole", REAL), STORED(look, own_pct, "own_pct", REAL),
		    STORED(look, others_pct, "others_pct", REAL));

static STORED_TABLE(measurement_stored, STORED(measurement, id, "id", STRING),
		    STORED(measurement, check, "check", STRING),
		    STORED(measurement, state, "state", ENUM, STATE_WORDS,
			   .otherwise = CHANGE_CANNOT_MEASURE),
		    STORED(measurement, wanted, "desired", TEXT),
		    STORED(measurement, measured, "observed", TEXT),
		    {.type = STORED_OWN, .put = put_timings, .get = get_timings},
		    STORED_ITEMS(measurement, timings, NULL, LIST, timing_stored),
		    STORED(measurement, duration, "duration_usec", NUMBER),
		    STORED(measurement, origin, "origin", TEXT),
		    STORED(measurement, on_fail, "on_fail", ENUM, ON_FAIL_WORDS),
		    STORED(measurement, demanded, "demanded", BOOL),
		    STORED(measurement, reason, "reason", TEXT),
		    STORED(measurement, causes, "causes", TEXT),
		    STORED(measurement, remedy, "remedy", TEXT),
		    STORED(measurement, follows, "follows", BOOL, .omit = true),
		    STORED(measurement, fault, "fault", ENUM, FAULT_WORDS),
		    STORED(measurement, detail, "detail", JSON),
		    STORED_ITEMS(measurement, readings.list, "readings", MAP, reading_stored,
				 .omit = true, .get = get_readings),
		    STORED(measurement, readings, NULL, OWN, .put = put_limits),
		    STORED_ITEMS(measurement, looks, "looks", LIST, look_stored, .omit = true),
		    {.type = STORED_OWN, .get = complete});

STORED_TABLE(measurements_stored, STORED_ITEMS(measurements, list, "", LIST, measurement_stored));

json_t *measurements_to_json(const struct measurements *m)
{
	return stored_to_json(measurements_stored, m);
}

void measurement_free(struct measurement *m)
{
	stored_free(measurement_stored, m);
}

void measurements_free(struct measurements *m)
{
	stored_free(measurements_stored, m);
}

void measurements_forget_timings(struct measurements *m)
{
	for (size_t i = 0; i < m->list.n; i++)
		vec_free(&m->list.v[i].timings);
}
