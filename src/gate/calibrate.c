/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gate/calibrate.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "checks/probe.h"
#include "gate/fleet.h"
#include "profile/yaml.h"

/* 1: series had "quantity" in place of "unit". */
enum { SCHEMA = 2 };

/* --- one node's numbers ---------------------------------------------------------------------- */

static json_t *sub(json_t *obj, const char *key)
{
	json_t *child = json_object_get(obj, key);

	if (!child) {
		child = json_object();
		json_object_set_new(obj, key, child);
	}
	return child;
}

static json_t *list_in(json_t *obj, const char *key)
{
	if (!json_object_get(obj, key))
		json_object_set_new(obj, key, json_array());
	return json_object_get(obj, key);
}

static const char *text_in(const json_t *obj, const char *key)
{
	const char *s = json_string_value(json_object_get(obj, key));

	return s ? s : "";
}

/* A name in the printed text must not end its line, nor read as YAML. */
static bool is_word(const char *s)
{
	return *s && strlen(s) <= 128 &&
	       !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:")];
}

json_t *calibration_new(const char *node, const struct profile *profile, const struct strv *basis,
			const char *boot_id, int64_t measured)
{
	json_t *doc = json_pack("{s:i, s:s, s:s, s:I, s:{s:s, s:s, s:s}, s:{}}", "calibration",
				SCHEMA, "node", node, "boot_id", boot_id, "measured",
				(json_int_t)measured, "profile", "name", profile->name, "version",
				profile->version ? profile->version : "", "digest", profile->digest,
				"checks");
	for (size_t i = 0; basis && i < basis->n; i++)
		json_array_append_new(list_in(doc, "basis"), json_string(basis->v[i]));
	return doc;
}

/*
 * NULL: the profile has no threshold for the figure. A share of the set requires a floor, and the
 * floor is the threshold for a single node.
 */
static const char *key_of(const struct profile *profile, const char *check, const char *key)
{
	const struct ynode *checks = ynode_get(profile_section(profile, "gate"), "checks");
	const struct ynode *wanted = ynode_get(ynode_get(checks, check), key);

	if (!wanted)
		return NULL;
	return wanted->value.of && streq(wanted->value.of, "set") ? "floor" : key;
}

static void add_value(json_t *doc, const char *check, const char *key, enum quantity q,
		      const char *id, double value)
{
	json_t *series = sub(sub(sub(doc, "checks"), check), key);

	json_object_set_new(series, "unit", json_string(quantities[q].unit));
	json_array_append_new(list_in(sub(series, "members"), id), json_real(value));
}

static bool has_text(const json_t *list, const char *text)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *is = json_string_value(json_array_get(list, i));

		if (is && streq(is, text))
			return true;
	}
	return false;
}

/* Adds the name once for all members and runs. */
static void add_told(json_t *doc, const char *check, const char *key)
{
	json_t *names = list_in(sub(doc, "told"), check);

	if (!has_text(names, key))
		json_array_append_new(names, json_string(key));
}

int calibration_add(json_t *doc, const struct profile *profile, const struct measurements *m,
		    struct err *err)
{
	size_t added = 0;

	for (size_t i = 0; i < m->list.n; i++) {
		const struct measurement *one = &m->list.v[i];
		const char *page = text_in(one->detail, "page");

		if (is_word(page))
			json_object_set_new(sub(doc, "pages"), one->check, json_string(page));
		if (one->state != CHANGE_SAME && one->state != CHANGE_SLOW)
			return err_set(err, -EINVAL, "%s: %s", one->id,
				       one->reason ? one->reason : state_name(one->state));
		for (size_t j = 0; j < one->readings.list.n; j++) {
			const struct reading *r = &one->readings.list.v[j];
			const char *key = key_of(profile, one->check, r->name);

			if (isnan(r->limit))
				add_told(doc, one->check, r->name);
			if (!key || r->quantity == QUANTITY_FAULTS)
				continue;
			add_value(doc, one->check, key, r->quantity, one->id, r->value);
			added++;
		}
	}
	return added ? 0
		     : err_set(err, -EINVAL,
			       "gate.checks of the profile has no measured check with a threshold");
}

static void add_recorded(json_t *doc, const json_t *measurement)
{
	const char *id = text_in(measurement, "id"), *check = text_in(measurement, "check"), *key;
	json_t *limits = json_object_get(measurement, "limits");
	json_t *of_set = json_object_get(measurement, "of_set");
	const char *page = text_in(json_object_get(measurement, "detail"), "page");
	json_t *readings = json_object_get(measurement, "readings"), *value;

	if (is_word(page))
		json_object_set_new(sub(doc, "pages"), check, json_string(page));
	json_object_foreach(readings, key, value)
	{
		const struct figure_key *f = figure_key_find(key);

		if (f && !json_object_get(limits, key))
			add_told(doc, check, key);
		else if (f && f->quantity != QUANTITY_FAULTS)
			add_value(doc, check, has_text(of_set, key) ? "floor" : key, f->quantity,
				  id, json_number_value(value));
	}
}

json_t *calibration_of_status(const json_t *status, const char *node)
{
	const json_t *measurements = json_object_get(status, "measurements");
	json_t *profile = json_object_get(status, "profile"), *doc;

	if (!json_is_array(measurements) || !json_is_object(profile))
		return NULL;
	doc = json_pack("{s:i, s:s, s:O, s:{}}", "calibration", SCHEMA, "node", node, "profile",
			profile, "checks");
	json_object_set(doc, "boot_id", json_object_get(status, "boot_id"));
	json_object_set(doc, "measured",
			json_object_get(json_object_get(status, "numbers"), "measured"));
	for (size_t i = 0; i < json_array_size(measurements); i++) {
		const json_t *m = json_array_get(measurements, i);
		const char *state = text_in(m, "state");

		if (streq(state, state_name(CHANGE_SAME)) ||
		    streq(state, state_name(CHANGE_SLOW)) ||
		    streq(state, state_name(CHANGE_INTERMITTENT)))
			add_recorded(doc, m);
	}
	return doc;
}

void calibration_marks(const json_t *doc, struct strv *ret)
{
	const json_t *measured = json_object_get(doc, "measured");
	cleanup_free char *of_node = NULL, *of_boot = NULL, *all = NULL;

	if (!json_is_integer(measured)) {
		all = json_dumps(doc, JSON_COMPACT | JSON_SORT_KEYS);
		strv_add(ret, or_empty(all));
		return;
	}
	of_node = xasprintf("%" JSON_INTEGER_FORMAT " on node %s", json_integer_value(measured),
			    text_in(doc, "node"));
	strv_add(ret, of_node);
	if (!*text_in(doc, "boot_id"))
		return;
	of_boot = xasprintf("%" JSON_INTEGER_FORMAT " in boot %s", json_integer_value(measured),
			    text_in(doc, "boot_id"));
	strv_add(ret, of_boot);
}

/* -1: unknown */
static int quantity_of(const json_t *series)
{
	for (size_t q = 0; q < QUANTITY_FAULTS; q++)
		if (streq(quantities[q].unit, text_in(series, "unit")))
			return (int)q;
	return -1;
}

static bool is_series(const json_t *series)
{
	json_t *members = json_object_get(series, "members"), *values;
	const char *id;

	if (quantity_of(series) < 0 || !json_object_size(members))
		return false;
	json_object_foreach(members, id, values)
	{
		if (!json_array_size(values))
			return false;
		for (size_t i = 0; i < json_array_size(values); i++) {
			double value = json_number_value(json_array_get(values, i));

			if (!(value > 0) || value > FIGURE_VALUE_MAX)
				return false;
		}
	}
	return true;
}

static int check_told(const json_t *doc, struct err *err)
{
	json_t *told = json_object_get(doc, "told"), *keys;
	const char *name;

	json_object_foreach(told, name, keys) for (size_t i = 0; i < json_array_size(keys); i++)
	{
		const char *key = json_string_value(json_array_get(keys, i));

		if (!is_word(name) || !key || !figure_key_find(key))
			return err_set(err, -EINVAL, "told.%.64s names no figure", name);
	}
	return 0;
}

int calibration_check(const json_t *doc, struct err *err)
{
	json_t *checks = json_object_get(doc, "checks"), *check, *series;
	const json_t *schema = json_object_get(doc, "calibration");
	const char *name, *key;

	if (json_is_integer(schema) && json_integer_value(schema) != SCHEMA)
		return err_set(err, -EINVAL,
			       "written by another version of railhead (calibration %lld; this one "
			       "reads %d): run `railhead calibrate --json` of this version there",
			       (long long)json_integer_value(schema), SCHEMA);
	if (!json_is_integer(schema) || !is_word(text_in(doc, "node")) ||
	    !json_object_size(checks) || !is_word(text_in(json_object_get(doc, "profile"), "name")))
		return err_set(err, -EINVAL, "is not the output of `railhead calibrate --json`");
	json_object_foreach(checks, name, check) json_object_foreach(
		check, key,
		series) if (!is_word(name) || !is_word(key) ||
			    !is_series(series)) return err_set(err, -EINVAL,
							       "has no numbers for %.64s.%.32s",
							       name, key);
	return check_told(doc, err);
}

/* --- texts ---------------------------------------------------------------------------------- */

static double distance(double a, double b)
{
	return a > b ? a - b : b - a;
}

static bool is_worse(enum quantity q, double a, double b)
{
	return quantities[q].at_most ? a > b : a < b;
}

/* Rounds down, but to 1 at least, because 0 is no threshold. */
static uint64_t whole(double v)
{
	return v >= 1 ? (uint64_t)v : 1;
}

char *calibration_text(enum quantity q, double threshold)
{
	uint64_t up = whole(threshold) + ((double)whole(threshold) < threshold);

	switch (q) {
	case QUANTITY_RATE:
		return xasprintf("%" PRIu64 "MB/s", whole(threshold / 1e6));
	case QUANTITY_TIME:
		return xasprintf("%" PRIu64 "ns", up);
	case QUANTITY_MESSAGES:
		return threshold >= 1e4 ? xasprintf("%" PRIu64 "K/s", whole(threshold / 1e3))
					: xasprintf("%" PRIu64 "/s", whole(threshold));
	case QUANTITY_FAULTS:
		break;
	}
	return xstrdup("");
}

/* --- a figure of a check, on all nodes -----------------------------------------------------------
 */

/* A calibration under way. */
struct work {
	const json_t **docs; /* grouped by node */
	size_t *node_of;     /* of each doc */
	size_t n_docs, n_nodes;
	struct promise promise;
	json_t *own; /* of the current check: {MEMBER: {KEY: TEXT}} */
	struct str *out;
	struct strv *notes;
};

struct key {
	const char *check, *name;
	enum quantity quantity;
	VEC(struct series) members;
	struct fit *fits;	/* of each member */
	struct node_left *left; /* of each node */
	size_t n_left;
};

static void __attribute__((format(printf, 2, 3))) note(struct work *w, const char *fmt, ...)
{
	cleanup_str struct str text = {0};
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	strv_add(w->notes, str_get(&text));
}

static const char *name_of(const struct work *w, size_t node)
{
	for (size_t i = 0; i < w->n_docs; i++)
		if (w->node_of[i] == node)
			return text_in(w->docs[i], "node");
	return "";
}

static json_t *members_of(const struct work *w, size_t doc, const struct key *k)
{
	const json_t *check = json_object_get(json_object_get(w->docs[doc], "checks"), k->check);

	return json_object_get(json_object_get(check, k->name), "members");
}

static size_t docs_with(const struct work *w, const struct key *k, const char *id)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n_docs; i++)
		n += json_object_get(members_of(w, i, k), id) != NULL;
	return n;
}

static bool is_member(const struct key *k, const char *id)
{
	for (size_t i = 0; i < k->members.n; i++)
		if (streq(k->members.v[i].id, id))
			return true;
	return false;
}

/* The members that most nodes have. */
static void find_members(const struct work *w, struct key *k)
{
	json_t *values;
	const char *id;

	for (size_t i = 0; i < w->n_docs; i++)
		json_object_foreach(members_of(w, i, k), id, values)
		{
			if (!is_member(k, id) && 2 * docs_with(w, k, id) > w->n_docs)
				vec_push(&k->members, (struct series){.id = id});
		}
}

static void add_samples(struct work *w, struct key *k)
{
	for (size_t i = 0; i < w->n_docs; i++) {
		const json_t *members = members_of(w, i, k);

		if (json_object_size(members) != k->members.n)
			k->left[w->node_of[i]].why = LEFT_LACKS;
		for (size_t m = 0; m < k->members.n; m++) {
			struct series *s = &k->members.v[m];
			const json_t *values = json_object_get(members, s->id);

			if (!values)
				k->left[w->node_of[i]].why = LEFT_LACKS;
			for (size_t v = 0; v < json_array_size(values); v++) {
				double value = json_number_value(json_array_get(values, v));

				vec_push(&s->list, ((struct sample){w->node_of[i], value}));
			}
		}
	}
}

static void key_free(struct key *k)
{
	for (size_t i = 0; i < k->members.n; i++)
		vec_free(&k->members.v[i].list);
	vec_free(&k->members);
	free(k->fits);
	free(k->left);
}

static char *why_left(const struct node_left *l)
{
	switch (l->why) {
	case LEFT_SLOW:
		return xasprintf("%s is %.1f %% worse than on the other nodes", l->id, l->by * 100);
	case LEFT_FAST:
		return xasprintf(
			"%s is %.1f %% better than on the other nodes, and unlike the others",
			l->id, l->by * 100);
	case LEFT_INTERMITTENT:
		return xasprintf("%s is %.1f %% worse in one run than in others", l->id,
				 l->by * 100);
	case LEFT_LACKS:
		return xstrdup("its members differ from those of most nodes");
	case LEFT_NOT:
		break;
	}
	return xstrdup("");
}

/* Names the first of many only, because the others have the same cause. */
enum { NAMED_MOST = 10 };

static void tell_left(struct work *w, struct key *k)
{
	for (size_t i = 0; i < w->n_nodes; i++) {
		cleanup_free char *why = why_left(&k->left[i]);

		if (k->left[i].why == LEFT_NOT)
			continue;
		if (++k->n_left > NAMED_MOST)
			continue;
		note(w, "%s is left out of %s.%s: %s", name_of(w, i), k->check, k->name, why);
		str_addf(w->out, "      # left out: %s: %s\n", name_of(w, i), why);
	}
	if (k->n_left <= NAMED_MOST)
		return;
	note(w, "%zu more nodes are left out of %s.%s", k->n_left - NAMED_MOST, k->check, k->name);
	str_addf(w->out, "      # left out: %zu more\n", k->n_left - NAMED_MOST);
}

/* --- its threshold
 * -------------------------------------------------------------------------------- */

/* The common threshold of all members. */
struct common {
	const struct series *weakest;
	struct fit fit; /* of the weakest member */
	double best;	/* typical figure of the strongest member */
	double threshold, finds;
	size_t lacks; /* the largest of all members; SIZE_MAX: no number is enough */
};

static void fit_members(const struct work *w, struct key *k)
{
	k->fits = xcalloc(k->members.n, sizeof(*k->fits));
	for (size_t i = 0; i < k->members.n; i++)
		fleet_fit(k->quantity, &k->members.v[i], &w->promise, k->left, &k->fits[i]);
}

static void add_member(const struct work *w, const struct key *k, size_t i, struct common *c)
{
	const struct fit *fit = &k->fits[i];
	size_t lacks = fleet_lacks(fit, &w->promise);

	c->lacks = lacks > c->lacks ? lacks : c->lacks;
	if (!c->weakest || is_worse(k->quantity, fit->threshold, c->threshold))
		c->threshold = fit->threshold;
	if (!c->weakest || is_worse(k->quantity, c->best, fit->typical))
		c->best = fit->typical;
	if (!c->weakest || is_worse(k->quantity, fit->typical, c->fit.typical)) {
		c->weakest = &k->members.v[i];
		c->fit = *fit;
	}
}

/* The loss found at every member: with that threshold, or (0) with each member's own. */
static double loss_found(const struct key *k, double threshold)
{
	double most = 0;

	for (size_t i = 0; i < k->members.n; i++)
		most = fmax(most, fleet_finds(k->quantity, &k->fits[i],
					      threshold ? threshold : k->fits[i].threshold));
	return most;
}

/* Gives members their own thresholds ("members:") if the common one finds less than they do. */
static void give_own(struct work *w, const struct key *k, struct common *c)
{
	double finds = loss_found(k, 0);

	if (c->finds <= w->promise.loss || finds > c->finds - w->promise.loss / 2)
		return;
	c->finds = finds;
	for (size_t i = 0; i < k->members.n; i++) {
		const char *member = member_of_id(k->members.v[i].id, k->check);
		cleanup_free char *text = calibration_text(k->quantity, k->fits[i].threshold);

		if (k->fits[i].threshold != c->threshold)
			json_object_set_new(sub(w->own, member), k->name, json_string(text));
	}
}

/* Notes differences between the members of a single node, which can't tell faults from design. */
static void tell_apart(struct work *w, const struct key *k, const struct common *c)
{
	double by = distance(c->best, c->fit.typical) / c->best;

	if (w->n_nodes == 1 && by > w->promise.loss)
		note(w,
		     "%s.%s: %s is %.1f %% worse than the best member. If the member has lost "
		     "a part, the threshold accepts the loss",
		     k->check, k->name, c->weakest->id, by * 100);
	if (c->fit.stray)
		note(w,
		     "%s.%s: %zu of %zu runs of %s were slow now and then, and are left out: is "
		     "the "
		     "node idle, and nothing throttled?",
		     k->check, k->name, c->fit.stray, c->fit.stray + c->fit.runs, c->weakest->id);
}

static void tell_unkept(struct work *w, const struct key *k, const struct common *c)
{
	cleanup_free char *more = NULL;

	if (c->finds <= w->promise.loss)
		return;
	if (c->lacks == SIZE_MAX)
		more = xasprintf("the figures of good nodes spread by %.1f %%, and more %s do "
				 "not narrow the spread",
				 c->fit.spread * 100, w->n_nodes > 1 ? "nodes" : "runs");
	else if (c->lacks)
		more = xasprintf("measure %zu more %s%s", c->lacks, w->n_nodes > 1 ? "node" : "run",
				 c->lacks > 1 ? "s" : "");
	else
		more = xstrdup("the worst run of the remaining nodes is too low");
	note(w, "%s.%s finds a loss of %.1f %%, not of %.1f %%: %s", k->check, k->name,
	     c->finds * 100, w->promise.loss * 100, more);
}

static void describe(struct work *w, const struct key *k, const struct common *c)
{
	cleanup_free char *typical = quantity_format(k->quantity, c->fit.typical);

	str_add(w->out, "      # ");
	if (w->n_nodes > 1)
		str_addf(w->out, "%zu nodes, ", c->fit.nodes);
	str_addf(w->out, "%zu run%s; weakest of %zu: %s, %s; ", c->fit.runs,
		 c->fit.runs == 1 ? "" : "s", k->members.n, c->weakest->id, typical);
	if (w->n_nodes > 1)
		str_addf(w->out, "nodes spread by %.2f %%, ", c->fit.between * 100);
	str_addf(w->out, "runs %sby %.2f %%\n      # finds a loss of %.1f %%\n",
		 w->n_nodes > 1 ? "" : "spread ", c->fit.within * 100, c->finds * 100);
}

static int conclude(struct work *w, struct key *k, struct err *err)
{
	struct common c = {0};
	cleanup_free char *text = NULL;

	if (2 * k->n_left >= w->n_nodes)
		return err_set(err, -EINVAL,
			       "%s.%s: %zu of %zu nodes would be left out, so these files do "
			       "not describe a fleet of good nodes",
			       k->check, k->name, k->n_left, w->n_nodes);
	fit_members(w, k);
	for (size_t i = 0; i < k->members.n; i++)
		add_member(w, k, i, &c);
	c.finds = loss_found(k, c.threshold);
	give_own(w, k, &c);
	describe(w, k, &c);
	tell_apart(w, k, &c);
	tell_unkept(w, k, &c);
	text = calibration_text(k->quantity, c.threshold);
	str_addf(w->out, "      %s: %s\n", k->name, text);
	return 0;
}

static int add_key(struct work *w, const char *check, const char *name, enum quantity q,
		   struct err *err)
{
	struct key k = {.check = check,
			.name = name,
			.quantity = q,
			.left = xcalloc(w->n_nodes, sizeof(struct node_left))};
	int r;

	find_members(w, &k);
	add_samples(w, &k);
	fleet_leave_out(q, k.members.v, k.members.n, &w->promise, k.left, w->n_nodes);
	tell_left(w, &k);
	r = conclude(w, &k, err);
	key_free(&k);
	return r;
}

/* --- all of them
 * ----------------------------------------------------------------------------------- */

/* -EINVAL if a doc lacks a key of the first doc. */
static int same_keys(json_t *const *docs, size_t n, struct err *err)
{
	json_t *check, *series;
	const char *name, *key;

	json_object_foreach(json_object_get(docs[0], "checks"), name, check)
		json_object_foreach(check, key, series) for (size_t i = 1; i < n; i++)
	{
		const json_t *checks = json_object_get(docs[i], "checks");
		const json_t *its = json_object_get(json_object_get(checks, name), key);

		if (!is_series(its) || quantity_of(its) != quantity_of(series))
			return err_set(err, -EINVAL, "%s has no such numbers for %s.%s as %s",
				       text_in(docs[i], "node"), name, key,
				       text_in(docs[0], "node"));
	}
	return 0;
}

static int same_profile(json_t *const *docs, size_t n, struct err *err)
{
	const json_t *first = json_object_get(docs[0], "profile");

	for (size_t i = 1; i < n; i++) {
		const json_t *p = json_object_get(docs[i], "profile");

		if (!streq(text_in(p, "digest"), text_in(first, "digest")))
			return err_set(err, -EINVAL,
				       "%s was measured with %s %s %.12s, and %s with %s %s "
				       "%.12s: merge figures of one profile only",
				       text_in(docs[0], "node"), text_in(first, "name"),
				       text_in(first, "version"), text_in(first, "digest"),
				       text_in(docs[i], "node"), text_in(p, "name"),
				       text_in(p, "version"), text_in(p, "digest"));
	}
	return 0;
}

/* The number of figures that a gate of this node judges. */
static size_t count_figures(const json_t *doc)
{
	json_t *check, *series;
	const char *name, *key;
	size_t n = 0;

	json_object_foreach(json_object_get(doc, "checks"), name, check)
		json_object_foreach(check, key, series) n +=
		json_object_size(json_object_get(series, "members"));
	return n;
}

static int by_node(const void *a, const void *b)
{
	return strcmp(text_in(*(const json_t *const *)a, "node"),
		      text_in(*(const json_t *const *)b, "node"));
}

static void number_nodes(struct work *w)
{
	qsort(w->docs, w->n_docs, sizeof(*w->docs), by_node);
	for (size_t i = 0; i < w->n_docs; i++) {
		if (i && by_node(&w->docs[i - 1], &w->docs[i]) != 0)
			w->n_nodes++;
		w->node_of[i] = w->n_nodes;
	}
	w->n_nodes++;
}

/* Text i of the basis if it is valid, because people may have edited it; "" after the last. */
static const char *basis_in(const json_t *doc, size_t i)
{
	const char *text = json_string_value(json_array_get(json_object_get(doc, "basis"), i));

	return text && !text[strcspn(text, "\n\"\\")] && strlen(text) < 256 ? text : "";
}

static void begin(const struct work *w)
{
	const json_t *profile = json_object_get(w->docs[0], "profile");
	size_t with = 0; /* the first doc with a basis */

	str_addf(w->out, "# Measured with profile %s %.12s on %s", text_in(profile, "name"),
		 text_in(profile, "digest"), text_in(w->docs[0], "node"));
	if (w->n_nodes > 1)
		str_addf(w->out, " and %zu other%s", w->n_nodes - 1, w->n_nodes > 2 ? "s" : "");
	str_addf(
		w->out,
		".\n# %zu figures; by their thresholds together at most %.3g %% of the gates of %s "
		"blocked\n"
		"# (%d %% confidence), and the loss that each comment names is found in %d "
		"of "
		"100.\n"
		"# A drop-in: /etc/railhead/profiles/%s.d/50-calibrated.yaml\n"
		"schema: 1\n"
		"gate:\n",
		w->promise.figures, w->promise.false_blocks * 100,
		w->n_nodes > 1 ? "good nodes are" : "this node are", FLEET_CONFIDENCE_PCT,
		FLEET_FINDS_PCT, text_in(profile, "name"));
	while (with < w->n_docs && !*basis_in(w->docs[with], 0))
		with++;
	if (with < w->n_docs)
		str_add(w->out, "  calibrated_on:\n");
	for (size_t i = 0; with < w->n_docs && *basis_in(w->docs[with], i); i++)
		str_addf(w->out, "    - \"%s\"\n", basis_in(w->docs[with], i));
	str_add(w->out, "  checks:\n");
}

static void add_own(struct work *w)
{
	json_t *keys, *text;
	const char *member, *key;

	if (json_object_size(w->own))
		str_add(w->out, "      members:\n");
	json_object_foreach(w->own, member, keys)
	{
		const char *between = "";

		str_addf(w->out, "        \"%s\": {", member);
		json_object_foreach(keys, key, text)
		{
			str_addf(w->out, "%s%s: %s", between, key, json_string_value(text));
			between = ", ";
		}
		str_add(w->out, "}\n");
	}
	json_object_clear(w->own);
}

static int add_checks(struct work *w, const json_t *doc, struct err *err)
{
	json_t *check, *series;
	const char *name, *key;
	int r = 0;

	json_object_foreach(json_object_get(doc, "checks"), name, check)
	{
		const char *page = text_in(json_object_get(doc, "pages"), name);

		str_addf(w->out, "    %s:%s%s\n", name, is_word(page) ? " # on pages of " : "",
			 is_word(page) ? page : "");
		json_object_foreach(check, key, series)
		{
			if (r == 0)
				r = add_key(w, name, key, (enum quantity)quantity_of(series), err);
		}
		add_own(w);
	}
	return r;
}

/* Figures of two kernels are two populations. A doc without a basis is not compared. */
static int same_basis(json_t *const *docs, size_t n, struct err *err)
{
	for (size_t i = 1; i < n; i++)
		for (size_t k = 0; *basis_in(docs[0], k) && *basis_in(docs[i], 0); k++) {
			if (streq(basis_in(docs[0], k), basis_in(docs[i], k)))
				continue;
			return err_set(err, -EINVAL,
				       "%s was measured with %s, and %s with %s: merge figures "
				       "of the same kernel, BIOS and firmware only",
				       text_in(docs[0], "node"), basis_in(docs[0], k),
				       text_in(docs[i], "node"),
				       *basis_in(docs[i], k) ? basis_in(docs[i], k) : "none");
		}
	return 0;
}

/* Notes figures that some node measured and that get no threshold. */
static void tell_told(struct work *w)
{
	cleanup_strv struct strv names = {0};
	cleanup_free char *text = NULL;
	json_t *told, *keys;
	const char *check;

	for (size_t i = 0; i < w->n_docs; i++) {
		told = json_object_get(w->docs[i], "told");
		json_object_foreach(told, check, keys) for (size_t k = 0; k < json_array_size(keys);
							    k++)
		{
			cleanup_free char *name = xasprintf(
				"%s.%s", check, json_string_value(json_array_get(keys, k)));

			if (!strv_contains(&names, name))
				strv_add(&names, name);
		}
	}
	if (!names.n)
		return;
	text = strv_some(&names, NAMED_MOST);
	note(w,
	     "%s: measured without a threshold: the profile has none for %s; add a threshold to "
	     "gate.checks for each figure that the gate must judge",
	     text, names.n > 1 ? "them" : "it");
}

int calibration_section(json_t *const *docs, size_t n, double false_blocks, double loss, char **ret,
			struct strv *notes, struct err *err)
{
	cleanup_str struct str out = {0};
	cleanup_free const json_t **sorted = xcalloc(n, sizeof(*sorted));
	cleanup_free size_t *node_of = xcalloc(n, sizeof(*node_of));
	struct work w = {.docs = sorted,
			 .node_of = node_of,
			 .n_docs = n,
			 .promise = {false_blocks, loss, count_figures(docs[0])},
			 .own = json_object(),
			 .out = &out,
			 .notes = notes};
	int r = same_profile(docs, n, err);

	if (r == 0)
		r = same_basis(docs, n, err);
	if (r == 0)
		r = same_keys(docs, n, err);
	if (r == 0) {
		for (size_t i = 0; i < n; i++)
			sorted[i] = docs[i];
		number_nodes(&w);
		begin(&w);
		r = add_checks(&w, docs[0], err);
		tell_told(&w);
	}
	json_decref(w.own);
	if (r == 0)
		*ret = str_take(&out);
	return r;
}
