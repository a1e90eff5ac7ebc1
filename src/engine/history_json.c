/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The history as a JSON file, one line for each boot. A line leaves out the parts of a boot if they
 * equal those of the previous line, as they do most of the time.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "engine/history.h"
#include "sys/state.h"

enum { HISTORY_SCHEMA = 1 };

static const char *const units[] = {
	[QUANTITY_RATE] = "B/s",
	[QUANTITY_TIME] = "ns",
	[QUANTITY_MESSAGES] = "messages/s",
	[QUANTITY_FAULTS] = "faults",
};

/* --- written ----------------------------------------------------------------------------- */

static json_t *figures_to_json(const struct boot_past *b)
{
	json_t *list = json_array();

	for (size_t i = 0; i < b->figures.n; i++) {
		const struct past_figure *f = &b->figures.v[i];

		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:f, s:s, s:b}", "check",
						      f->check, "subject", f->subject, "key",
						      f->key, "value", f->value, "unit",
						      units[f->quantity], "fresh", f->fresh));
	}
	return list;
}

static json_t *stages_to_json(const struct boot_past *b)
{
	json_t *obj = json_object();

	for (enum stage s = 0; s < STAGE_COUNT; s++)
		if (b->stage[s].ran)
			json_object_set_new(obj, stage_name(s),
					    json_integer((json_int_t)b->stage[s].duration));
	return obj;
}

static json_t *texts_to_json(const struct strv *texts)
{
	json_t *list = json_array();

	for (size_t i = 0; i < texts->n; i++)
		json_array_append_new(list, json_string(texts->v[i]));
	return list;
}

/* Leaves out a text that is not UTF-8; firmware may have such texts. */
static void put_text(json_t *obj, const char *key, const char *text)
{
	json_object_set_new(obj, key, json_string(text));
}

json_t *boot_past_to_json(const struct boot_past *b)
{
	json_t *profile = json_object();
	json_t *obj = json_pack("{s:s, s:I, s:s, s:b, s:o}", "boot_id", b->boot_id, "time",
				(json_int_t)b->time, "verdict", verdict_name(b->verdict), "admit",
				b->admit, "faults", texts_to_json(&b->faults));

	put_text(profile, "name", b->profile);
	put_text(profile, "version", b->version);
	put_text(profile, "digest", b->digest);
	put_text(obj, "reason", b->reason);
	json_object_set_new(obj, "profile", profile);
	put_text(obj, "kernel", b->kernel);
	put_text(obj, "railhead", b->railhead);
	json_object_set_new(obj, "stages_usec", stages_to_json(b));
	json_object_set_new(obj, "judged_usec", json_integer((json_int_t)b->judged));
	json_object_set_new(obj, "waited_usec", json_integer((json_int_t)b->waited));
	json_object_set_new(obj, "reboots", json_integer(b->reboots));
	json_object_set_new(obj, "parts", binding_to_json(&b->parts));
	json_object_set_new(obj, "figures", figures_to_json(b));
	return obj;
}

static char *render(const struct history *h)
{
	struct str out = {0};

	str_addf(&out, "{\"schema\": %d, \"boots\": [", HISTORY_SCHEMA);
	for (size_t i = 0; i < h->boots.n; i++) {
		json_t *obj = boot_past_to_json(&h->boots.v[i]);
		cleanup_free char *line = NULL;

		if (i && binding_same(&h->boots.v[i].parts, &h->boots.v[i - 1].parts))
			json_object_del(obj, "parts");
		line = json_dumps(obj, JSON_COMPACT | JSON_REAL_PRECISION(9));
		str_addf(&out, "%s\n%s", i ? "," : "", line);
		json_decref(obj);
	}
	str_add(&out, "\n]}\n");
	return str_take(&out);
}

int history_write(const struct root *root, struct history *h, struct err *err)
{
	cleanup_free char *text = NULL, *old = NULL;

	if (h->boots.n > HISTORY_BOOTS)
		history_drop_oldest(h, h->boots.n - HISTORY_BOOTS);
	text = render(h);
	while (strlen(text) > HISTORY_BYTES && h->boots.n > 1) {
		history_drop_oldest(h, (h->boots.n + 7) / 8);
		free(text);
		text = render(h);
	}
	if (strlen(text) > HISTORY_BYTES)
		return err_set(err, -EFBIG,
			       HISTORY_PATH
			       ": the entry of this boot takes %zu bytes, and the limit is %d",
			       strlen(text), HISTORY_BYTES);
	if (state_kept(root, HISTORY_FILE, &old, NULL) == 0 && streq(old, text))
		return 0;
	return state_keep(root, HISTORY_FILE, text, err);
}

/* --- read -------------------------------------------------------------------------------- */

static bool figure_in(json_t *obj, struct past_figure *ret)
{
	const char *check, *subject, *key;
	const struct figure_key *k;
	int fresh;
	double value;

	if (json_unpack(obj, "{s:s, s:s, s:s, s:F, s:b}", "check", &check, "subject", &subject,
			"key", &key, "value", &value, "fresh", &fresh) < 0)
		return false;
	k = figure_key_find(key);
	if (!k)
		return false;
	*ret = (struct past_figure){xstrdup(check), xstrdup(subject), k->key, k->quantity, value,
				    fresh};
	return true;
}

static void figures_in(const json_t *list, struct boot_past *b)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		struct past_figure f;

		if (figure_in(json_array_get(list, i), &f))
			vec_push(&b->figures, f);
	}
}

static uint64_t usec_of(json_int_t n)
{
	return n > 0 ? (uint64_t)n : 0;
}

static void stages_in(const json_t *obj, struct boot_past *b)
{
	for (enum stage s = 0; s < STAGE_COUNT; s++) {
		const json_t *usec = json_object_get(obj, stage_name(s));

		b->stage[s] = (struct past_stage){json_is_integer(usec),
						  usec_of(json_integer_value(usec))};
	}
}

static void texts_in(const json_t *list, struct strv *ret)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (json_is_string(json_array_get(list, i)))
			strv_add(ret, json_string_value(json_array_get(list, i)));
}

/* False: not an entry of a boot. before: the previous line, or NULL. */
static bool boot_in(json_t *obj, const struct boot_past *before, struct boot_past *ret)
{
	const char *id, *verdict, *reason = "", *profile = "", *version = "", *digest = "";
	const char *kernel = "", *railhead = "";
	json_t *faults = NULL, *stages = NULL, *parts = NULL, *figures = NULL;
	json_int_t time, judged = 0, waited = 0;
	int admit = 0, reboots = 0;
	enum verdict_kind kind;

	if (json_unpack(obj,
			"{s:s, s:I, s:s, s?b, s?o, s?s, s?{s?s, s?s, s?s}, s?s, s?s, s?o, s?I, "
			"s?I, s?i, s?o, s?o}",
			"boot_id", &id, "time", &time, "verdict", &verdict, "admit", &admit,
			"faults", &faults, "reason", &reason, "profile", "name", &profile,
			"version", &version, "digest", &digest, "kernel", &kernel, "railhead",
			&railhead, "stages_usec", &stages, "judged_usec", &judged, "waited_usec",
			&waited, "reboots", &reboots, "parts", &parts, "figures", &figures) < 0 ||
	    verdict_parse(verdict, &kind) < 0)
		return false;
	*ret = (struct boot_past){
		.boot_id = xstrdup(id),
		.time = time,
		.verdict = kind,
		.admit = admit,
		.reason = xstrdup(reason),
		.profile = xstrdup(profile),
		.version = xstrdup(version),
		.digest = xstrdup(digest),
		.kernel = xstrdup(kernel),
		.railhead = xstrdup(railhead),
		.judged = usec_of(judged),
		.waited = usec_of(waited),
		.reboots = reboots > 0 ? (unsigned int)reboots : 0,
	};
	texts_in(faults, &ret->faults);
	stages_in(stages, ret);
	if (parts)
		binding_from_json(parts, &ret->parts);
	else if (before)
		binding_copy(&before->parts, &ret->parts);
	figures_in(figures, ret);
	return true;
}

static int damaged(struct err *err, const char *problem)
{
	return err_set(err, -EBADMSG, HISTORY_PATH ": %s; a gate begins a new history", problem);
}

static int boots_in(const json_t *list, struct history *ret, struct err *err)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const struct boot_past *before = i ? &ret->boots.v[i - 1] : NULL;
		struct boot_past b;

		if (!boot_in(json_array_get(list, i), before, &b)) {
			cleanup_free char *problem = xasprintf("entry %zu is damaged", i + 1);

			history_free(ret);
			return damaged(err, problem);
		}
		vec_push(&ret->boots, b);
	}
	return 0;
}

static int doc_in(const json_t *doc, struct history *ret, struct err *err)
{
	const json_t *schema = json_object_get(doc, "schema");
	const json_t *boots = json_object_get(doc, "boots");

	if (json_is_integer(schema) && json_integer_value(schema) > HISTORY_SCHEMA)
		return err_set(err, -EPROTO,
			       HISTORY_PATH ": schema %" JSON_INTEGER_FORMAT
					    "; this railhead reads version %d and does not change "
					    "the file: upgrade railhead, or remove the file",
			       json_integer_value(schema), HISTORY_SCHEMA);
	if (json_integer_value(schema) != HISTORY_SCHEMA || !json_is_array(boots))
		return damaged(err, "railhead did not write this history");
	return boots_in(boots, ret, err);
}

int history_read(const struct root *root, struct history *ret, struct err *err)
{
	cleanup_free char *text = NULL;
	json_error_t where;
	json_t *doc;
	int r;

	*ret = (struct history){0};
	r = state_kept(root, HISTORY_FILE, &text, err);
	if (r == -EFBIG)
		return damaged(err, "larger than a history can be");
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	doc = json_loads(text, 0, &where);
	if (doc) {
		r = doc_in(doc, ret, err);
		json_decref(doc);
	} else {
		cleanup_free char *problem =
			xasprintf("damaged at line %d: %s", where.line, where.text);

		r = damaged(err, problem);
	}
	return r;
}
