/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/publish.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/mode.h"
#include "profile/site.h"
#include "sys/read.h"
#include "sys/state.h"

/* Work is admitted by hand against the verdict. */
static bool by_hand(const struct record *record, bool ready)
{
	return ready && !record->verdict.admit && record->admission.until;
}

static const char *verdict_of(const struct record *record, bool ready)
{
	bool under_way = record->verdict.admit && !ready;

	return verdict_name(under_way ? VERDICT_WAITING : record->verdict.kind);
}

/* --- metrics --------------------------------------------------------------------------- */

/* The escapes of the exposition format, text version 0.0.4: backslash, quote, newline. */
static void add_label(struct str *out, const char *name, const char *value)
{
	str_addf(out, "%s=\"", name);
	for (const char *p = value; *p; p++) {
		if (*p == '\n')
			str_add(out, "\\n");
		else if (*p == '\\' || *p == '"')
			str_addf(out, "\\%c", *p);
		else
			str_addn(out, p, 1);
	}
	str_add(out, "\"");
}

/* The state of a change at the end of a stage. */
struct seen {
	const struct record_change *change;
	uint64_t at; /* begin of the stage */
};

static int by_id_and_time(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;
	int order = strcmp(x->change->now.id, y->change->now.id);

	return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* Each stage that looked at a change has recorded it: the latest look counts. */
static void count_states(const struct record *record, size_t count[CHANGE_STATE_COUNT])
{
	VEC(struct seen) all = {0};

	for (enum stage s = 0; s < STAGE_COUNT; s++)
		for (size_t i = 0; i < record->stage[s].changes.n; i++)
			vec_push(&all, ((struct seen){&record->stage[s].changes.v[i],
						      record->stage[s].started}));
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_id_and_time);
	for (size_t i = 0; i < all.n; i++)
		if (i + 1 == all.n || !streq(all.v[i].change->now.id, all.v[i + 1].change->now.id))
			count[all.v[i].change->now.state]++;
	vec_free(&all);
}

/* Every state, even with 0, because alerts need series that stay. */
static void add_changes(struct str *out, const struct record *record)
{
	size_t count[CHANGE_STATE_COUNT] = {0};

	count_states(record, count);
	str_add(out, "# HELP railhead_changes Changes of the profile, by their last known state.\n"
		     "# TYPE railhead_changes gauge\n");
	for (enum change_state st = CHANGE_SAME; st <= CHANGE_UNSUPPORTED; st++)
		str_addf(out, "railhead_changes{state=\"%s\"} %zu\n", state_name(st), count[st]);
}

/* One for each existing code, so that an alert needs no list of codes. */
static void add_faults(struct str *out, const struct record *record)
{
	struct fault_seen seen[FAULT_COUNT];
	size_t n = findings_faults(&record->verdict.findings, seen);

	if (!n)
		return;
	str_add(out, "# HELP railhead_fault Reasons of the verdict that have this fault code.\n"
		     "# TYPE railhead_fault gauge\n");
	for (size_t i = 0; i < n; i++) {
		const struct fault_row *row = fault_row(seen[i].fault);

		str_addf(out, "railhead_fault{code=\"%s\",action=\"%s\",on_fail=\"%s\"} %zu\n",
			 row->code, fault_action_name(row->action), on_fail_name(seen[i].on_fail),
			 seen[i].n);
	}
}

static void add_figure(struct str *out, const struct measurement *m, const struct reading *r)
{
	str_addf(out, "%s{", quantities[r->quantity].metric);
	add_label(out, "check", m->check);
	str_add(out, ",");
	add_label(out, "member", member_of_id(m->id, m->check));
	str_add(out, ",");
	add_label(out, "key", r->name);
	str_addf(out, "} %.6g\n", r->value * quantities[r->quantity].base);
}

/* Figures of one name must be adjacent. */
static void add_figures(struct str *out, const struct measurements *all)
{
	for (size_t q = 0; q < QUANTITY_COUNT; q++) {
		bool any = false;

		for (size_t i = 0; i < all->list.n; i++) {
			const struct measurement *m = &all->list.v[i];

			for (size_t k = 0; k < m->readings.list.n; k++) {
				if (m->readings.list.v[k].quantity != q)
					continue;
				if (!any)
					str_addf(out, "# HELP %s %s\n# TYPE %s gauge\n",
						 quantities[q].metric, quantities[q].help,
						 quantities[q].metric);
				any = true;
				add_figure(out, m, &m->readings.list.v[k]);
			}
		}
	}
}

static void add_look(struct str *out, const struct record *record, bool recheck)
{
	str_addf(out,
		 "# HELP railhead_recheck_interval_seconds Time from one look at the node to the "
		 "next; 0: railhead.conf says recheck: off.\n"
		 "# TYPE railhead_recheck_interval_seconds gauge\n"
		 "railhead_recheck_interval_seconds %" PRIu64 "\n",
		 recheck ? record_interval(record) / 1000000 : 0);
	if (record->last_look.at)
		str_addf(out,
			 "# HELP railhead_looked_timestamp_seconds Time of the last look at the "
			 "node.\n"
			 "# TYPE railhead_looked_timestamp_seconds gauge\n"
			 "railhead_looked_timestamp_seconds %" PRId64 "\n",
			 record->last_look.wall);
}

char *publish_metrics(const struct record *record, bool ready, bool recheck)
{
	struct str out = {0};

	str_addf(&out,
		 "# HELP railhead_ready Whether railhead admits work (/run/railhead/ready "
		 "exists).\n"
		 "# TYPE railhead_ready gauge\n"
		 "railhead_ready %d\n"
		 "# HELP railhead_admitted_by_hand Whether work was admitted by hand, against the "
		 "verdict.\n"
		 "# TYPE railhead_admitted_by_hand gauge\n"
		 "railhead_admitted_by_hand %d\n"
		 "# HELP railhead_maintenance Whether a person has announced work on the node, so "
		 "that nobody need be called.\n"
		 "# TYPE railhead_maintenance gauge\n"
		 "railhead_maintenance %d\n"
		 "# HELP railhead_info The profile of this boot and its verdict; always 1.\n"
		 "# TYPE railhead_info gauge\n"
		 "railhead_info{",
		 ready, by_hand(record, ready), record_is_maintained(record));
	add_label(&out, "profile", or_empty(record->profile.name));
	str_add(&out, ",");
	add_label(&out, "version", or_empty(record->profile.version));
	str_add(&out, ",");
	add_label(&out, "verdict", verdict_of(record, ready));
	str_add(&out, ",");
	add_label(&out, "boot_id", or_empty(record->boot_id));
	str_add(&out, "} 1\n");
	add_look(&out, record, recheck);
	add_changes(&out, record);
	add_faults(&out, record);
	add_figures(&out, &record->measurements);
	return str_take(&out);
}

/* --- features -------------------------------------------------------------------------- */

/* Kubernetes accepts up to 63 of these characters, with a letter or digit at both ends. */
static bool is_label_value(const char *s)
{
	size_t len = strlen(s);

	if (!len || len > 63 || !isalnum((unsigned char)s[0]) ||
	    !isalnum((unsigned char)s[len - 1]))
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("-_.", *s))
			return false;
	return true;
}

static void add_feature(struct str *out, const char *name, const char *value)
{
	if (is_label_value(value))
		str_addf(out, "railhead.io/%s=%s\n", name, value);
}

/* Rounding, so that a text that is soon published again is equal, and no file is written. */
enum { STEP_S = 1800 };

/* node-feature-discovery ignores the features below this line after that time. */
static void add_expiry(struct str *out, time_t at)
{
	char text[32];
	struct tm tm;

	if (gmtime_r(&at, &tm) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		str_addf(out, "# +expiry-time=%s\n", text);
}

/* Adds only the first fault that keeps work out, because a label has one value. */
static void add_fault(struct str *out, const struct record *record)
{
	struct fault_seen seen[FAULT_COUNT];

	if (record->verdict.admit || !findings_faults(&record->verdict.findings, seen))
		return;
	add_feature(out, "fault", fault_code(seen[0].fault));
	add_feature(out, "action", fault_action_name(fault_row(seen[0].fault)->action));
}

char *publish_features(const struct record *record, bool ready, time_t looked)
{
	struct str out = {0};

	if (ready)
		add_expiry(&out, looked - looked % STEP_S + STEP_S + PUBLISH_LASTS_S);
	add_feature(&out, "ready", ready ? "true" : "false");
	add_feature(&out, "verdict", verdict_of(record, ready));
	if (by_hand(record, ready))
		add_feature(&out, "admitted-by-hand", "true");
	add_feature(&out, "profile", or_empty(record->profile.name));
	add_fault(&out, record);
	return str_take(&out);
}

/* --- both ------------------------------------------------------------------------------ */

static bool is_special(const struct root *root)
{
	cleanup_free char *cmdline = NULL;

	if (read_attr(root, &cmdline, NULL, "/proc/cmdline") < 0)
		cmdline = xstrdup("");
	return boot_mode(root, cmdline, NULL) == BOOT_SPECIAL;
}

static int tell_one(const struct root *root, enum notice n, const char *text, bool ready,
		    bool special, struct err *err)
{
	if (special && (ready || !root_exists(root, "%s", notice_path(n))))
		return 0;
	return ready ? notice_write(root, n, text, err) : notice_withdraw(root, n, text, err);
}

void publish(const struct root *root, const struct record *record, bool ready,
	     struct strv *warnings)
{
	bool recheck = !site_ends_looks(root);
	cleanup_free char *metrics = publish_metrics(record, ready, recheck);
	cleanup_free char *features = publish_features(
		record, ready,
		recheck && record->verdict.admit && record->last_look.at ? record->last_look.wall
									 : time(NULL));
	const char *const texts[NOTICE_COUNT] = {metrics, features};
	bool special = is_special(root);

	if (special && !boot_is_of_machine(root))
		return;
	for (enum notice n = 0; n < NOTICE_COUNT; n++) {
		cleanup_free char *sentence = NULL;
		struct err err = {0};

		if (tell_one(root, n, texts[n], ready, special, &err) == 0)
			continue;
		sentence = xasprintf("%s%s", err.text,
				     root_exists(root, "%s", notice_path(n))
					     ? "; the verdict in that file may be out of date"
					     : "");
		if (!strv_contains(warnings, sentence))
			strv_add(warnings, sentence);
	}
}
