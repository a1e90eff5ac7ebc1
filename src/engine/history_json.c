/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The history as a JSON file, one line for each boot. A line leaves out the parts of a boot if they
 * equal those of the previous line, as they do most of the time.
 */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "engine/history.h"
#include "sys/state.h"

enum { HISTORY_SCHEMA = 1 };

/* --- an entry ---------------------------------------------------------------------------- */

/* For readers; it follows from the key, which railhead must know. */
static void put_unit(json_t *obj, const void *at)
{
	const struct past_figure *f = at;

	json_object_set_new(obj, "unit", json_string(quantities[f->quantity].unit));
}

static bool get_quantity(const json_t *obj, void *at)
{
	const char *name = json_string_value(json_object_get(obj, "key"));
	const struct figure_key *key = name ? figure_key_find(name) : NULL;

	if (key)
		((struct past_figure *)at)->quantity = key->quantity;
	return key;
}

static STORED_TABLE(figure_stored, STORED(past_figure, check, "check", TEXT, .required = true),
		    STORED(past_figure, subject, "subject", TEXT, .required = true),
		    STORED(past_figure, key, "key", TEXT),
		    STORED(past_figure, value, "value", REAL, .required = true),
		    {.type = STORED_OWN, .put = put_unit, .get = get_quantity, .required = true},
		    STORED(past_figure, fresh, "fresh", BOOL));

static STORED_TABLE(profile_stored, STORED(boot_past, profile, "name", STRING),
		    STORED(boot_past, version, "version", STRING),
		    STORED(boot_past, digest, "digest", STRING));

#define STAGE(name, s)                                     \
	STORED(boot_past, stage[s].duration, name, NUMBER, \
	       .there = offsetof(struct boot_past, stage[s].ran))

static STORED_TABLE(stages_stored, STAGE("initrd", STAGE_INITRD), STAGE("early", STAGE_EARLY),
		    STAGE("devices", STAGE_DEVICES), STAGE("gate", STAGE_GATE));

static STORED_TABLE(boot_stored, STORED(boot_past, boot_id, "boot_id", TEXT, .required = true),
		    STORED(boot_past, time, "time", NUMBER, .required = true),
		    STORED(boot_past, verdict, "verdict", ENUM, VERDICT_WORDS, .required = true),
		    STORED(boot_past, admit, "admit", BOOL),
		    STORED_TEXTS(boot_past, faults, "faults"),
		    STORED(boot_past, reason, "reason", STRING),
		    STORED_GROUP("profile", profile_stored),
		    STORED(boot_past, kernel, "kernel", STRING),
		    STORED(boot_past, railhead, "railhead", STRING),
		    STORED_GROUP("stages_usec", stages_stored),
		    STORED(boot_past, judged, "judged_usec", NUMBER),
		    STORED(boot_past, waited, "waited_usec", NUMBER),
		    STORED(boot_past, reboots, "reboots", NUMBER),
		    STORED(boot_past, parts, "parts", STRUCT, .rows = binding_stored),
		    STORED(boot_past, good, "good", STRUCT, .rows = binding_stored),
		    STORED_ITEMS(boot_past, figures, "figures", LIST, figure_stored));

json_t *boot_past_to_json(const struct boot_past *b)
{
	return stored_to_json(boot_stored, b);
}

void boot_past_free(struct boot_past *b)
{
	stored_free(boot_stored, b);
}

/* --- written ----------------------------------------------------------------------------- */

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

static int damaged(struct err *err, const char *problem)
{
	return err_set(err, -EBADMSG, HISTORY_PATH ": %s; a gate begins a new history", problem);
}

/* A line without parts has those of the previous line. */
static int boots_in(const json_t *list, struct history *ret, struct err *err)
{
	json_t *parts = NULL;

	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *obj = json_array_get(list, i), *own = json_object_get(obj, "parts");
		struct boot_past b = {0};

		parts = own ? own : parts;
		json_object_set(obj, "parts", parts);
		if (!stored_from_json(boot_stored, obj, &b)) {
			cleanup_free char *problem = xasprintf("entry %zu is damaged", i + 1);

			boot_past_free(&b);
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
