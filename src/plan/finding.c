/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/finding.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

static const char *const stage_names[] = {[STAGE_INITRD] = "initrd",
					  [STAGE_EARLY] = "early",
					  [STAGE_DEVICES] = "devices",
					  [STAGE_GATE] = "gate"};

static const char *const state_names[] = {[CHANGE_UNKNOWN] = "unknown",
					  [CHANGE_SAME] = "same",
					  [CHANGE_DIFFERS] = "differs",
					  [CHANGE_WAITS] = "waits",
					  [CHANGE_SET] = "set",
					  [CHANGE_FAILED] = "failed",
					  [CHANGE_UNSUPPORTED] = "unsupported",
					  [CHANGE_SLOW] = "slow",
					  [CHANGE_INTERMITTENT] = "intermittent",
					  [CHANGE_INVALID] = "invalid",
					  [CHANGE_NOT_YET] = "not yet",
					  [CHANGE_CANNOT_MEASURE] = "cannot measure",
					  [CHANGE_TO_MEASURE] = "to measure"};

static const char *const on_fail_names[] = {
	[ON_FAIL_BLOCK] = "block", [ON_FAIL_DEGRADE] = "degrade", [ON_FAIL_WARN] = "warn"};

const char *stage_name(enum stage s)
{
	return stage_names[s];
}

int stage_parse(const char *name, enum stage *ret)
{
	int i = str_index(name, stage_names, array_len(stage_names));

	if (i >= 0)
		*ret = (enum stage)i;
	return i < 0 ? -EINVAL : 0;
}

const char *state_name(enum change_state s)
{
	return state_names[s];
}

const char *on_fail_name(enum on_fail f)
{
	return on_fail_names[f];
}

int on_fail_parse(const char *name, enum on_fail *ret)
{
	int i = str_index(name, on_fail_names, array_len(on_fail_names));

	if (i >= 0)
		*ret = (enum on_fail)i;
	return i < 0 ? -EINVAL : 0;
}

/* --- sentences --------------------------------------------------------------------------- */

void finding_say(struct finding *f, char *text, unsigned int mend)
{
	free(f->why);
	free(f->remedy);
	f->why = text;
	f->remedy = text && mend ? xstrdup(text + mend) : NULL;
	if (f->remedy)
		text[err_len_before(mend)] = '\0';
}

bool finding_was_refused(const struct finding *f)
{
	return f->state == CHANGE_DIFFERS && f->tried.words;
}

char *finding_reason(const struct finding *f)
{
	bool refused = finding_was_refused(f);
	const char *why = refused ? f->tried.words : f->why;
	const char *remedy = refused ? f->tried.remedy : f->remedy;

	return why ? xasprintf("%s%s%s%s%s", why, f->causes ? "; " : "", or_empty(f->causes),
			       remedy ? "; " : "", or_empty(remedy))
		   : NULL;
}

static void add_clause(struct str *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add_clause(struct str *out, const char *fmt, ...)
{
	va_list ap;

	str_add(out, out->len ? "; " : "");
	va_start(ap, fmt);
	str_vaddf(out, fmt, ap);
	va_end(ap);
}

static void add_found(struct str *out, const struct finding *f)
{
	if (f->tried.words)
		add_clause(out, "%s (stage %s; still '%s')", f->tried.words,
			   stage_name(f->tried.stage), f->found ? f->found : "unknown");
	else if (f->wanted)
		add_clause(out, "found '%s', expected '%s'", f->found ? f->found : "nothing",
			   f->wanted);
	if (f->why && !f->tried.words)
		add_clause(out, "%s", f->why);
}

char *finding_what(const struct finding *f)
{
	struct str out = {0};
	char *text;

	add_found(&out, f);
	if (f->causes)
		add_clause(&out, "%s", f->causes);
	if (f->load && f->late)
		add_clause(&out, "failed under the load of the benchmarks (%s), and held before",
			   f->load);
	else if (f->load)
		add_clause(&out, "the load was that of the benchmarks (%s)", f->load);
	if (f->drifted)
		add_clause(&out, "changed since the verdict: another program set it%s%s%s",
			   f->by ? " (" : "", f->by ? f->by : "", f->by ? ")" : "");
	if (f->followers)
		str_addf(&out, " (and %u more that wait for it)", f->followers);
	text = str_take(&out);
	str_make_line(text); /* a value of a device may be in it */
	return text;
}

char *finding_text(const struct finding *f)
{
	cleanup_free char *what = finding_what(f);
	char *text = xasprintf("%s%s%s%s%s", or_empty(f->id), f->id ? ": " : "", what,
			       f->remedy ? "; " : "", or_empty(f->remedy));

	str_make_line(text);
	return text;
}

char *finding_remedy(const struct finding *f)
{
	if (f->remedy)
		return str_printable(f->remedy, SIZE_MAX);
	if (f->lasting && f->fault != f->lasting)
		return xasprintf("%s %s", fault_row(f->fault)->remedy,
				 fault_row(f->lasting)->remedy);
	return f->fault ? xstrdup(fault_row(f->fault)->remedy) : NULL;
}

char *finding_next_step(const struct finding *f)
{
	return f->apply && !f->remedy ? xasprintf("`railhead apply` sets the value of %s; then run "
						  "`railhead gate`",
						  f->apply)
				      : finding_remedy(f);
}

/* --- stored ------------------------------------------------------------------------------ */

STORED_TABLE(tried_stored, STORED(tried, stage, "stage", ENUM, STAGE_WORDS),
	     STORED(tried, fault, "fault", ENUM, FAULT_WORDS),
	     STORED(tried, words, "words", TEXT, .required = true),
	     STORED(tried, remedy, "remedy", TEXT), STORED(tried, follows, "follows", TEXT));

static void put_words(json_t *obj, const void *at)
{
	const struct finding *f = at;
	cleanup_free char *text = finding_text(f), *remedy = finding_remedy(f);

	if (f->fault)
		json_object_set_new(obj, "action",
				    json_string(fault_action_name(fault_row(f->fault)->action)));
	json_object_set_new(obj, "reason", json_string(text));
	json_object_set_new(obj, "remedy", json_string(remedy));
}

/* Of schema 2 there is only the sentence. */
static bool get_words(const json_t *obj, void *at)
{
	const char *text = json_string_value(json_object_get(obj, "reason"));
	struct finding *f = at;

	if (text && *text && !f->id && !f->why && !f->wanted && !f->tried.words)
		f->why = xstrdup(text);
	return true;
}

STORED_TABLE(finding_stored, STORED(finding, fault, "code", ENUM, FAULT_WORDS),
	     {.type = STORED_OWN, .put = put_words},
	     STORED(finding, on_fail, "on_fail", ENUM, ON_FAIL_WORDS),
	     STORED(finding, id, "id", TEXT),
	     STORED(finding, state, "state", ENUM, STATE_WORDS, .omit = true),
	     STORED(finding, wanted, "desired", TEXT), STORED(finding, found, "observed", TEXT),
	     STORED(finding, why, "why", TEXT), STORED(finding, causes, "causes", TEXT),
	     STORED(finding, tried, "tried", STRUCT, .rows = tried_stored, .omit = true),
	     STORED(finding, lasting, "lasting", ENUM, FAULT_WORDS),
	     STORED(finding, load, "load", TEXT),
	     STORED(finding, late, "since_load", BOOL, .omit = true),
	     STORED(finding, drifted, "drifted", BOOL, .omit = true),
	     STORED(finding, by, "by", TEXT), STORED(finding, remedy, "own_remedy", TEXT),
	     STORED(finding, apply, "apply", TEXT),
	     STORED(finding, followers, "followers", NUMBER, .omit = true),
	     STORED(finding, before, NULL, TEXT), STORED(finding, note, NULL, TEXT),
	     STORED(finding, follows, NULL, TEXT), STORED_TEXTS(finding, covers, NULL),
	     {.type = STORED_OWN, .get = get_words});

STORED_TABLE(held_stored, STORED(finding, id, NULL, TEXT),
	     STORED(finding, on_fail, "on_fail", ENUM, ON_FAIL_WORDS, .omit = true),
	     STORED_TEXTS(finding, covers, "covers", .omit = true));

STORED_TABLE(findings_stored, STORED_ITEMS(findings, list, "", LIST, finding_stored));

/* --- lists ------------------------------------------------------------------------------- */

bool finding_same(const struct finding *a, const struct finding *b)
{
	cleanup_free char *x = finding_text(a), *y = finding_text(b);

	return a->fault == b->fault && streq(x, y);
}

void findings_add(struct findings *l, const struct finding *f)
{
	struct finding one = *f;
	size_t at = l->list.n;

	stored_own(finding_stored, &one);
	vec_push(&l->list, one);
	for (; at > 0 && l->list.v[at - 1].on_fail > one.on_fail; at--)
		l->list.v[at] = l->list.v[at - 1];
	l->list.v[at] = one;
}

void findings_say(struct findings *l, enum fault fault, const char *id, const char *why)
{
	findings_add(l, &(struct finding){.id = (char *)id, .fault = fault, .why = (char *)why});
}

const struct finding *findings_find(const struct findings *l, const char *id)
{
	for (size_t i = 0; i < l->list.n; i++)
		if (l->list.v[i].id && streq(l->list.v[i].id, id))
			return &l->list.v[i];
	return NULL;
}

void findings_drop(struct findings *l, enum fault fault)
{
	size_t n = 0;

	for (size_t i = 0; i < l->list.n; i++)
		if (l->list.v[i].fault == fault)
			stored_free(finding_stored, &l->list.v[i]);
		else
			l->list.v[n++] = l->list.v[i];
	l->list.n = n;
}

void findings_free(struct findings *l)
{
	stored_free(findings_stored, l);
}

size_t findings_faults(const struct findings *l, struct fault_seen ret[FAULT_COUNT])
{
	size_t n = 0;

	for (size_t i = 0; i < l->list.n; i++) {
		const struct finding *f = &l->list.v[i];
		size_t k = 0;

		while (k < n && ret[k].fault != f->fault)
			k++;
		if (!f->fault)
			continue;
		if (k == n)
			ret[n++] = (struct fault_seen){f->fault, f->on_fail, 0, f};
		ret[k].n++;
	}
	return n;
}
