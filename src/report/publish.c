/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/publish.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/mode.h"
#include "gate/gate.h"
#include "plan/change.h"
#include "report/json_text.h"
#include "sys/read.h"
#include "sys/state.h"

/* Work was let in though the verdict keeps it out. */
static bool by_hand(const json_t *record, bool ready)
{
	return ready && !json_is_true(json_object_get(record, "admit")) &&
	       json_object_get(record, "admission");
}

static const char *verdict_of(const json_t *record, bool ready)
{
	const char *verdict = json_text(record, "verdict", "");
	bool under_way = json_is_true(json_object_get(record, "admit")) && !ready;

	return *verdict && !under_way ? verdict : verdict_name(VERDICT_WAITING);
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

/* The stage that ran first of those after *from; NULL if there is none. */
static const json_t *next_stage(json_t *stages, json_int_t *from)
{
	json_int_t least = INT64_MAX;
	const json_t *found = NULL;
	const char *name;
	json_t *stage;

	json_object_foreach(stages, name, stage)
	{
		json_int_t at = json_integer_value(json_object_get(stage, "started_usec"));

		if (at > *from && at < least) {
			least = at;
			found = stage;
		}
	}
	*from = least;
	return found;
}

/* A change is in the record of each stage that looked at it: the latest look counts. */
static json_t *latest_states(const json_t *record)
{
	json_t *stages = json_object_get(record, "stages"), *states = json_object();
	json_int_t from = -1;
	const json_t *stage;

	while ((stage = next_stage(stages, &from))) {
		const json_t *changes = json_object_get(stage, "changes");

		for (size_t i = 0; i < json_array_size(changes); i++) {
			const json_t *c = json_array_get(changes, i);

			json_object_set(states, json_text(c, "id", ""),
					json_object_get(c, "state"));
		}
	}
	return states;
}

static size_t count_state(json_t *states, const char *name)
{
	const char *id;
	json_t *state;
	size_t n = 0;

	json_object_foreach(states, id, state) n += streq(json_string_value(state), name);
	return n;
}

/* Every state, 0 too: a series that comes and goes makes poor alerts. */
static void add_changes(struct str *out, const json_t *record)
{
	json_t *states = latest_states(record);

	str_add(out, "# HELP railhead_changes Changes of the profile, by the state they were last "
		     "seen in.\n"
		     "# TYPE railhead_changes gauge\n");
	for (enum change_state st = CHANGE_SAME; st <= CHANGE_UNSUPPORTED; st++)
		str_addf(out, "railhead_changes{state=\"%s\"} %zu\n", state_name(st),
			 count_state(states, state_name(st)));
	json_decref(states);
}

char *publish_metrics(const json_t *record, bool ready)
{
	const json_t *profile = json_object_get(record, "profile");
	struct str out = {0};

	str_addf(&out,
		 "# HELP railhead_ready Whether railhead lets work in (/run/railhead/ready is "
		 "there).\n"
		 "# TYPE railhead_ready gauge\n"
		 "railhead_ready %d\n"
		 "# HELP railhead_admitted_by_hand Whether work was let in by hand, against the "
		 "verdict.\n"
		 "# TYPE railhead_admitted_by_hand gauge\n"
		 "railhead_admitted_by_hand %d\n"
		 "# HELP railhead_info The profile of this boot and what was judged; always 1.\n"
		 "# TYPE railhead_info gauge\n"
		 "railhead_info{",
		 ready, by_hand(record, ready));
	add_label(&out, "profile", json_text(profile, "name", ""));
	str_add(&out, ",");
	add_label(&out, "version", json_text(profile, "version", ""));
	str_add(&out, ",");
	add_label(&out, "verdict", verdict_of(record, ready));
	str_add(&out, "} 1\n");
	add_changes(&out, record);
	return str_take(&out);
}

/* --- features -------------------------------------------------------------------------- */

/* What Kubernetes takes: 63 of these characters, and a letter or digit at both ends. */
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

/* So that what is told again soon is the same text, and no file is written. */
enum { STEP_S = 1800 };

/* node-feature-discovery takes no feature below it from that time on. */
static void add_expiry(struct str *out, time_t at)
{
	char text[32];
	struct tm tm;

	if (gmtime_r(&at, &tm) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		str_addf(out, "# +expiry-time=%s\n", text);
}

char *publish_features(const json_t *record, bool ready, time_t now)
{
	struct str out = {0};

	if (ready)
		add_expiry(&out, now - now % STEP_S + STEP_S + PUBLISH_LASTS_S);
	add_feature(&out, "ready", ready ? "true" : "false");
	add_feature(&out, "verdict", verdict_of(record, ready));
	if (by_hand(record, ready))
		add_feature(&out, "admitted-by-hand", "true");
	add_feature(&out, "profile", json_text(json_object_get(record, "profile"), "name", ""));
	return str_take(&out);
}

/* --- both ------------------------------------------------------------------------------ */

static bool is_special(const struct root *root)
{
	cleanup_free char *cmdline = NULL;

	if (read_text(root, &cmdline, NULL, "/proc/cmdline") < 0)
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

void publish(const struct root *root, const json_t *record, bool ready, struct strv *warnings)
{
	cleanup_free char *metrics = publish_metrics(record, ready);
	cleanup_free char *features = publish_features(record, ready, time(NULL));
	const char *const texts[NOTICE_COUNT] = {metrics, features};
	bool special = is_special(root);

	if (special && !boot_is_of_machine(root))
		return;
	for (enum notice n = 0; n < NOTICE_COUNT; n++) {
		cleanup_free char *sentence = NULL;
		struct err err = {0};

		if (tell_one(root, n, texts[n], ready, special, &err) == 0)
			continue;
		sentence = xasprintf("%s; what that file says of the verdict may be out of date",
				     err.text);
		if (!strv_contains(warnings, sentence))
			strv_add(warnings, sentence);
	}
}
