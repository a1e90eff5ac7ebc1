/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gate/calibrate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "checks/probe.h"

enum { SCHEMA = 1 };

static const char *const quantities[] = {
	[QUANTITY_RATE] = "rate",
	[QUANTITY_TIME] = "time",
	[QUANTITY_MESSAGES] = "messages",
};

static bool is_time(enum quantity q)
{
	return q == QUANTITY_TIME;
}

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

static const char *text_in(const json_t *obj, const char *key)
{
	const char *s = json_string_value(json_object_get(obj, key));

	return s ? s : "";
}

/* What stands in the text that is printed must not end its line or be something else there. */
static bool is_word(const char *s)
{
	return *s && strlen(s) <= 128 &&
	       !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:")];
}

json_t *calibration_new(const char *node, const struct profile *profile)
{
	return json_pack("{s:i, s:s, s:{s:s, s:s, s:s}, s:{}}", "calibration", SCHEMA, "node", node,
			 "profile", "name", profile->name, "version",
			 profile->version ? profile->version : "", "digest", profile->digest,
			 "checks");
}

/*
 * NULL: the profile has no threshold for it. Beside a share of the set stands a floor: that is the
 * number which is a node's own.
 */
static const char *key_of(const struct profile *profile, const char *check, const char *key)
{
	const struct ynode *checks = ynode_get(profile_section(profile, "gate"), "checks");
	const char *text = ynode_text(ynode_get(checks, check), key, NULL);

	return text && strstr(text, "% of set") ? "floor" : text ? key : NULL;
}

static void add_reading(json_t *doc, const char *key, const struct measurement *m,
			const struct reading *r)
{
	json_t *check = sub(sub(doc, "checks"), m->check);
	json_t *series = sub(check, key);
	json_t *members = sub(series, "members");

	json_object_set_new(series, "quantity", json_string(quantities[r->quantity]));
	if (!json_object_get(members, m->id))
		json_object_set_new(members, m->id, json_array());
	json_array_append_new(json_object_get(members, m->id), json_real(r->value));
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

			if (!key || r->quantity == QUANTITY_FAULTS)
				continue;
			add_reading(doc, key, one, r);
			added++;
		}
	}
	return added ? 0
		     : err_set(err, -EINVAL,
			       "gate.checks of the profile has nothing that is measured and has a "
			       "threshold");
}

/* -1: none of them */
static int quantity_of(const json_t *series)
{
	for (size_t q = 0; q < array_len(quantities); q++)
		if (streq(quantities[q], text_in(series, "quantity")))
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

int calibration_check(const json_t *doc, struct err *err)
{
	json_t *checks = json_object_get(doc, "checks"), *check, *series;
	const char *name, *key;

	if (json_integer_value(json_object_get(doc, "calibration")) != SCHEMA ||
	    !is_word(text_in(doc, "node")) || !json_object_size(checks) ||
	    !is_word(text_in(json_object_get(doc, "profile"), "name")))
		return err_set(err, -EINVAL, "is no output of `railhead calibrate --json`");
	json_object_foreach(checks, name, check) json_object_foreach(
		check, key,
		series) if (!is_word(name) || !is_word(key) ||
			    !is_series(series)) return err_set(err, -EINVAL,
							       "has no numbers for %.64s.%.32s",
							       name, key);
	return 0;
}

/* --- arithmetic ------------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* values become sorted. percent 50: the median. Between two: in proportion. */
static double percentile(double *values, size_t n, double percent)
{
	double at = (double)(n - 1) * percent / 100;
	size_t low = (size_t)at;

	qsort(values, n, sizeof(*values), by_value);
	return low + 1 < n ? values[low] + (values[low + 1] - values[low]) * (at - (double)low)
			   : values[n - 1];
}

static double distance(double a, double b)
{
	return a > b ? a - b : b - a;
}

static bool is_worse(enum quantity q, double a, double b)
{
	return is_time(q) ? a > b : a < b;
}

double calibration_threshold(enum quantity q, double median, double worst, unsigned int margin_pct)
{
	double margin = is_time(q) ? margin_pct : -(double)margin_pct;
	double of_median = median * (100 + margin) / 100, of_worst = worst * (200 + margin) / 200;

	return is_worse(q, of_worst, of_median) ? of_worst : of_median;
}

/* Down, but to 1 at least: 0 is no threshold. */
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

/* --- a check's key, on one node and on all of them ----------------------------------------------
 */

struct seen {
	const char *node;
	const char *weakest; /* id of the member */
	double median;	     /* its */
	double worst, best;  /* of all members */
	size_t runs, members;
	bool left_out;
};

/* Of one node. */
static struct seen look_at(const json_t *doc, enum quantity q, const json_t *series)
{
	struct seen s = {.node = text_in(doc, "node")};
	json_t *values;
	const char *id;

	json_object_foreach(json_object_get(series, "members"), id, values)
	{
		size_t n = json_array_size(values);
		cleanup_free double *v = xcalloc(n, sizeof(*v));
		double median, low, high;

		for (size_t i = 0; i < n; i++)
			v[i] = json_number_value(json_array_get(values, i));
		median = percentile(v, n, 50);
		low = is_time(q) ? v[n - 1] : v[0];
		high = is_time(q) ? v[0] : v[n - 1];
		if (!s.members || is_worse(q, median, s.median)) {
			s.median = median;
			s.weakest = id;
		}
		s.worst = !s.members || is_worse(q, low, s.worst) ? low : s.worst;
		s.best = !s.members || is_worse(q, s.best, high) ? high : s.best;
		s.runs = n;
		s.members++;
	}
	return s;
}

static double percentile_of(const struct seen *s, size_t n, double percent)
{
	cleanup_free double *medians = xcalloc(n, sizeof(*medians));
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		if (!s[i].left_out)
			medians[k++] = s[i].median;
	return percentile(medians, k, percent);
}

/* Against the median of all; it is never more than half of them. */
static void leave_out(struct seen *s, size_t n, enum quantity q, unsigned int margin_pct,
		      const char *name, const char *key, struct strv *notes)
{
	double middle = percentile_of(s, n, 50);
	double limit = calibration_threshold(q, middle, middle, margin_pct);

	for (size_t i = 0; i < n; i++) {
		cleanup_free char *its = quantity_format(q, s[i].median);
		cleanup_free char *all = quantity_format(q, middle);
		cleanup_free char *note = NULL;

		if (!is_worse(q, s[i].median, limit))
			continue;
		s[i].left_out = true;
		note = xasprintf("%s is left out of %s.%s: its median is %s, that of all %s",
				 s[i].node, name, key, its, all);
		strv_add(notes, note);
	}
}

static void describe_node(struct str *out, const struct seen *s, enum quantity q)
{
	cleanup_free char *median = quantity_format(q, s->median);
	cleanup_free char *worst = quantity_format(q, s->worst);
	cleanup_free char *best = quantity_format(q, s->best);

	str_addf(out,
		 "      # %zu run%s; weakest of %zu: %s, median %s; of all %s to %s (%.1f %%)\n",
		 s->runs, s->runs == 1 ? "" : "s", s->members, s->weakest, median, worst, best,
		 distance(s->best, s->worst) / s->median * 100);
}

static void describe_fleet(struct str *out, const struct seen *s, size_t n, enum quantity q,
			   double worst)
{
	cleanup_free char *p5 = quantity_format(q, percentile_of(s, n, 5));
	cleanup_free char *p50 = quantity_format(q, percentile_of(s, n, 50));
	cleanup_free char *p95 = quantity_format(q, percentile_of(s, n, 95));
	cleanup_free char *last = quantity_format(q, worst);
	size_t out_n = 0;

	for (size_t i = 0; i < n; i++)
		out_n += s[i].left_out;
	str_addf(out, "      # %zu nodes; medians: 5%% %s, 50%% %s, 95%% %s; worst run %s\n",
		 n - out_n, p5, p50, p95, last);
	for (size_t i = 0; i < n; i++) {
		cleanup_free char *median = quantity_format(q, s[i].median);

		if (s[i].left_out)
			str_addf(out, "      # left out: %s, median %s\n", s[i].node, median);
	}
}

/* The line of the key. What it finds is said, since a wide spread makes it find little. */
static void conclude(struct str *out, const struct seen *s, size_t n, enum quantity q,
		     unsigned int margin_pct, const char *name, const char *key, struct strv *notes)
{
	double median = 0, worst = 0, threshold, finds;
	cleanup_free char *text = NULL, *note = NULL;
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		if (s[i].left_out)
			continue;
		if (!any || is_worse(q, s[i].median, median))
			median = s[i].median;
		if (!any || is_worse(q, s[i].worst, worst))
			worst = s[i].worst;
		any = true;
	}
	if (n > 1)
		describe_fleet(out, s, n, q, worst);
	else
		describe_node(out, s, q);
	threshold = calibration_threshold(q, median, worst, margin_pct);
	finds = distance(threshold, median) / median * 100;
	text = calibration_text(q, threshold);
	str_addf(out, "      %s: %s\n", key, text);
	if (finds <= 1.5 * margin_pct)
		return;
	note = xasprintf("%s.%s: the runs spread so far that only what is %.0f %% worse is found; "
			 "is the node idle, and nothing throttled?",
			 name, key, finds);
	strv_add(notes, note);
}

/* -EINVAL if a doc lacks what the first one has. */
static int add_key(struct str *out, json_t *const *docs, size_t n, unsigned int margin_pct,
		   const char *name, const char *key, struct strv *notes, struct err *err)
{
	cleanup_free struct seen *s = xcalloc(n, sizeof(*s));
	enum quantity q = QUANTITY_RATE;

	for (size_t i = 0; i < n; i++) {
		const json_t *checks = json_object_get(docs[i], "checks");
		const json_t *series = json_object_get(json_object_get(checks, name), key);

		if (!is_series(series) || (i && (int)q != quantity_of(series)))
			return err_set(err, -EINVAL, "%s has no such numbers for %s.%s as %s",
				       text_in(docs[i], "node"), name, key,
				       text_in(docs[0], "node"));
		q = (enum quantity)quantity_of(series);
		s[i] = look_at(docs[i], q, series);
	}
	if (n > 1)
		leave_out(s, n, q, margin_pct, name, key, notes);
	conclude(out, s, n, q, margin_pct, name, key, notes);
	return 0;
}

static int same_profile(json_t *const *docs, size_t n, struct err *err)
{
	const json_t *first = json_object_get(docs[0], "profile");

	for (size_t i = 1; i < n; i++) {
		const json_t *p = json_object_get(docs[i], "profile");

		if (!streq(text_in(p, "digest"), text_in(first, "digest")))
			return err_set(err, -EINVAL,
				       "%s was measured with %s %s %.12s, and %s with %s %s %.12s: "
				       "numbers of one profile go together",
				       text_in(docs[0], "node"), text_in(first, "name"),
				       text_in(first, "version"), text_in(first, "digest"),
				       text_in(docs[i], "node"), text_in(p, "name"),
				       text_in(p, "version"), text_in(p, "digest"));
	}
	return 0;
}

int calibration_section(json_t *const *docs, size_t n, unsigned int margin_pct, char **ret,
			struct strv *notes, struct err *err)
{
	const json_t *profile = json_object_get(docs[0], "profile");
	json_t *check, *series;
	cleanup_str struct str out = {0};
	const char *name, *key;
	int r = same_profile(docs, n, err);

	str_addf(&out,
		 "# Measured with profile %s %.12s on %s%s. Margin: %u %%.\n"
		 "# A drop-in: /etc/railhead/profiles/%s.d/50-calibrated.yaml\n"
		 "schema: 1\n"
		 "gate:\n"
		 "  checks:\n",
		 text_in(profile, "name"), text_in(profile, "digest"), text_in(docs[0], "node"),
		 n > 1 ? " and others" : "", margin_pct, text_in(profile, "name"));
	json_object_foreach(json_object_get(docs[0], "checks"), name, check)
	{
		const char *page = text_in(json_object_get(docs[0], "pages"), name);

		str_addf(&out, "    %s:%s%s\n", name, is_word(page) ? " # on pages of " : "",
			 is_word(page) ? page : "");
		json_object_foreach(check, key, series)
		{
			if (r == 0)
				r = add_key(&out, docs, n, margin_pct, name, key, notes, err);
		}
	}
	if (r == 0)
		*ret = str_take(&out);
	return r;
}
