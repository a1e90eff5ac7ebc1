/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/why.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "kinds/checks.h"
#include "plan/change.h"
#include "plan/render.h"
#include "profile/search.h"
#include "profile/yaml.h"
#include "report/changes.h"
#include "report/inventory.h"
#include "report/text.h"
#include "sections/sections.h"

/* The sizes of a key's block and of a list, and the most names in a line. */
enum {
	LABEL_WIDTH = 9,
	ROWS_MOST = 12,
	OTHERS_MOST = 4,
	SHADOWS_MOST = 3,
	TARGETS_MOST = 2,
	LINE_MOST = 90,
	VALUE_LEAST = 20
};

struct page {
	FILE *out;
	const struct run *run;
	const struct record *record;
	const struct screen *screen;
};

#define print_line(p, label, ...) \
	text_labelled((p)->out, (p)->screen, label, LABEL_WIDTH, __VA_ARGS__)

/* --- the line of the profile ------------------------------------------------------------------ */

/* True for .../NAME.d/x.yaml below the root; profile_is_dropin() takes paths of the caller. */
static bool is_dropin(const char *file, const char *slash)
{
	return slash && slash - file > 2 && slash[-2] == '.' && slash[-1] == 'd';
}

/* "the profile", "base h100-base", "drop-in site.yaml" */
static char *layer_of(const struct profile *p, const char *file)
{
	const char *slash = strrchr(file, '/');
	cleanup_free char *stem = NULL;

	if (streq(file, p->file))
		return xstrdup("the profile");
	if (is_dropin(file, slash))
		return xasprintf("drop-in %s", slash + 1);
	stem = profile_stem(file);
	return xasprintf("base %s", stem);
}

static char *place_and_layer(const struct profile *p, struct place at)
{
	cleanup_free char *place = render_place(at);
	cleanup_free char *layer = layer_of(p, at.file ? at.file : "");

	return xasprintf("%s (%s)", place, layer);
}

static char *value_of(const struct why_key *key)
{
	return key->line ? ynode_line(key->line->value) : NULL;
}

static void print_shadows(const struct page *p, const struct why_key *key)
{
	size_t n = key->shadows.n, first = n > SHADOWS_MOST ? n - SHADOWS_MOST : 0;

	for (size_t i = n; i-- > first;) {
		const struct shadow *s = key->shadows.v[i];
		cleanup_free char *place = place_and_layer(p->run->profile, s->at);
		cleanup_free char *value = text_cut(s->value, LINE_MOST, p->screen->utf8);
		bool whole = streq(s->key, key->path);

		print_line(p, i == n - 1 ? "over:" : "", "%s%s%s at %s", whole ? "" : s->key,
			   whole ? "" : ": ", value, place);
	}
	if (first)
		print_line(p, "", "and %zu more", first);
}

/* A key that a later document deleted has no line. */
static void print_deleted(const struct page *p, const struct why_key *key)
{
	const struct shadow *last = key->shadows.n ? key->shadows.v[key->shadows.n - 1] : NULL;
	cleanup_free char *place = last ? place_and_layer(p->run->profile, last->by) : xstrdup("");

	if (last && last->deleted)
		print_line(p, "line:", "deleted at %s", place);
}

/* The room after the path, on the same line. */
static size_t room_of_value(const struct page *p, const struct why_key *key)
{
	size_t path = text_width(key->path) + 2;

	if (!p->screen->terminal || path + VALUE_LEAST > p->screen->columns)
		return LINE_MOST;
	return p->screen->columns - path;
}

static void print_key(const struct page *p, const struct why_key *key)
{
	cleanup_free char *value = value_of(key), *cut = NULL, *place = NULL;

	style_begin(p->out, STYLE_GOOD);
	fprintf(p->out, "%s", key->path);
	style_end(p->out);
	if (value)
		cut = text_cut(value, room_of_value(p, key), p->screen->utf8);
	fprintf(p->out, "%s%s\n", cut ? ": " : "", or_empty(cut));
	if (key->line) {
		place = place_and_layer(p->run->profile, key->line->value->at);
		print_line(p, "line:", "%s", place);
	} else {
		print_deleted(p, key);
	}
	print_shadows(p, key);
}

/* --- the change ------------------------------------------------------------------------------- */

static const char *or_unknown(const char *value)
{
	return !value ? "unknown" : *value ? value : "(nothing)";
}

/* The file, if there is one; else the kind's name for the target. */
static char *target_of(const struct change *c)
{
	char *file = writers_file(c);

	if (file || !c->target || !*c->target || c->on.item == &given_item)
		return file;
	return xstrdup(c->target);
}

/* Prints each line of the profile with its arguments, because one change has all arguments. */
static void print_arguments(const struct page *p, const struct change *c)
{
	const struct kargs *all = &p->run->kargs;
	bool first = true;

	for (size_t i = 0, n; c->kind == &kind_bootenv && i < all->n; i += n) {
		cleanup_str struct str args = {0};
		cleanup_free char *place = render_place(all->v[i].why->at);

		for (n = 0; i + n < all->n && all->v[i + n].why == all->v[i].why; n++)
			str_addf(&args, " %s", all->v[i + n].text);
		print_line(p, first ? "wants:" : "", "%s:%s", place, args.s);
		first = false;
	}
}

static void print_others(const struct page *p, const struct writers *others)
{
	size_t n = others->list.n, first = n > OTHERS_MOST ? n - OTHERS_MOST : 0;

	for (size_t i = n; i-- > first;) {
		const struct writer *w = &others->list.v[i];
		cleanup_free char *says = text_cut(w->says, LINE_MOST, p->screen->utf8);

		print_line(p, i == n - 1 ? "also:" : "", "%s%s %s", w->by, *w->by == '/' ? ":" : "",
			   says);
	}
	if (first)
		print_line(p, "", "and %zu more", first);
}

static void print_recorded(const struct page *p, const struct why_change *c)
{
	const struct record_change *then = c->then;
	cleanup_free char *at = format_duration(then->started);
	cleanup_free char *took = format_duration(then->duration);
	cleanup_free char *reason = finding_reason(&then->now);

	if (then->now.state == CHANGE_SET)
		print_line(p, "boot:", "set by stage %s %s after boot, in %s: %s -> %s",
			   stage_name(c->in), at, took, or_unknown(then->now.before),
			   or_unknown(then->now.found));
	else
		print_line(p, "boot:", "%s in stage %s: %s%s%s", state_name(then->now.state),
			   stage_name(c->in), or_unknown(then->now.found), reason ? "; " : "",
			   or_empty(reason));
}

/* The change says why it is wrong, unless the figure is of another profile. */
static void print_measured(const struct page *p, const struct why_change *c)
{
	const struct measurement *m = c->measured;
	cleanup_free char *took = format_duration(m->duration);
	const char *reason = c->change->now.state == CHANGE_TO_MEASURE ? m->reason : NULL;

	print_line(p, "boot:", "measured in %s: %s, required %s: %s%s%s", took,
		   m->measured ? m->measured : "no number", m->wanted ? m->wanted : "nothing",
		   state_name(m->state), reason ? "; " : "", or_empty(reason));
}

static void print_now(const struct page *p, const struct change *c)
{
	cleanup_free char *found = text_cut(or_unknown(c->now.found), LINE_MOST, p->screen->utf8);
	cleanup_free char *wanted = text_cut(changes_wanted(c), LINE_MOST, p->screen->utf8);

	found[strcspn(found, "\n")] = wanted[strcspn(wanted, "\n")] = '\0';
	if (c->now.state == CHANGE_SAME)
		print_line(p, "now:", "same: %s", found);
	else if (c->now.state == CHANGE_TO_MEASURE)
		print_line(p, "now:", "to measure by `railhead gate`: %s", wanted);
	else
		print_line(p, "now:", "%s: found %s, expected %s", state_name(c->now.state), found,
			   wanted);
}

static void print_wrong(const struct page *p, const struct why_change *c)
{
	cleanup_free char *remedy = why_remedy(c);
	enum fault fault = fault_of_change(c->change);
	bool by_itself =
		c->change->now.state == CHANGE_WAITS || c->change->now.state == CHANGE_UNSUPPORTED;

	if (finding_was_refused(&c->change->now))
		print_line(p, "wrong:", "stage %s could not set it: %s",
			   stage_name(c->change->now.tried.stage), c->change->now.tried.words);
	if (c->change->now.why && (by_itself || !change_holds(c->change)))
		print_line(p, by_itself ? "reason:" : "wrong:", "%s%s%s", c->change->now.why,
			   c->change->now.causes ? "; " : "", or_empty(c->change->now.causes));
	if (why_drifted(c))
		print_line(p, "drift:", "held when stage %s ended: another program set it since",
			   stage_name(c->in));
	if (remedy)
		print_line(p, "remedy:", "%s", remedy);
	if (remedy && fault)
		print_line(p, "fault:", "%s (%s)", fault_code(fault),
			   fault_action_name(fault_row(fault)->action));
}

static void print_change(const struct page *p, const struct why_change *c)
{
	cleanup_free char *target = target_of(c->change);

	print_line(p, "change:", "%s, stage %s", c->change->id, stage_name(c->change->stage));
	if (target)
		print_line(p, "target:", "%s", target);
	print_arguments(p, c->change);
	if (c->change->now.note)
		print_line(p, "shared:", "%s", c->change->now.note);
	print_others(p, &c->others);
	if (c->measured)
		print_measured(p, c);
	else if (c->then)
		print_recorded(p, c);
	if (!c->measured || c->change->now.state == CHANGE_TO_MEASURE)
		print_now(p, c->change);
	print_wrong(p, c);
}

/* --- several ---------------------------------------------------------------------------------- */

struct chosen {
	VEC(const struct why_change *) list;
};

/* A stage's refusal explains the changes that wait for it, or that only serve it. */
static int rank_of(const struct change *c)
{
	if (finding_was_refused(&c->now))
		return 0;
	return change_holds(c) || c->now.state == CHANGE_TO_MEASURE ? 2 : 1;
}

static void order_changes(const struct why *why, struct chosen *ret)
{
	for (int rank = 0; rank < 3; rank++)
		for (size_t k = 0; k < why->keys.n; k++)
			for (size_t i = 0; i < why->keys.v[k].changes.n; i++) {
				const struct why_change *c = &why->keys.v[k].changes.v[i];

				if (rank_of(c->change) == rank)
					vec_push(&ret->list, c);
			}
}

static void print_rows(const struct page *p, const struct chosen *chosen)
{
	VEC(const struct change *) list = {0};

	for (size_t i = 0; i < chosen->list.n; i++)
		vec_push(&list, chosen->list.v[i]->change);
	changes_print(p->out, p->run, list.v, list.n, p->screen, ROWS_MOST);
	vec_free(&list);
}

/* Prints the targets of a key's changes. */
static void print_targets(const struct page *p, const struct chosen *chosen)
{
	cleanup_strv struct strv targets = {0};
	cleanup_free char *list = NULL;

	for (size_t i = 0; i < chosen->list.n; i++) {
		cleanup_free char *target = target_of(chosen->list.v[i]->change);

		if (target)
			strv_add(&targets, target);
	}
	list = strv_some(&targets, TARGETS_MOST);
	if (*list)
		print_line(p, "target:", "%s", list);
}

static void print_counts(const struct page *p, const struct chosen *chosen)
{
	size_t count[CHANGE_STATE_COUNT] = {0};
	cleanup_str struct str text = {0};

	for (size_t i = 0; i < chosen->list.n; i++)
		if (chosen->list.v[i]->then)
			count[chosen->list.v[i]->then->now.state]++;
	for (enum change_state s = 0; s < CHANGE_STATE_COUNT; s++)
		if (count[s])
			str_addf(&text, "%s%zu %s", text.len ? ", " : "", count[s], state_name(s));
	if (text.len)
		print_line(p, "boot:", "%s", text.s);
}

static bool was_named(const struct writers *others, const struct writer *w)
{
	for (size_t i = 0; i < others->list.n; i++)
		if (streq(others->list.v[i].by, w->by))
			return true;
	return false;
}

/* Prints each other writer of any of the targets once. */
static void print_all_others(const struct page *p, const struct chosen *chosen)
{
	struct writers all = {0}; /* borrows its texts from the changes */

	for (size_t i = 0; i < chosen->list.n; i++)
		for (size_t j = 0; j < chosen->list.v[i]->others.list.n; j++)
			if (!was_named(&all, &chosen->list.v[i]->others.list.v[j]))
				vec_push(&all.list, chosen->list.v[i]->others.list.v[j]);
	print_others(p, &all);
	vec_free(&all.list);
}

static void print_first_remedy(const struct page *p, const struct chosen *chosen)
{
	cleanup_free char *remedy = chosen->list.n ? why_remedy(chosen->list.v[0]) : NULL;

	if (remedy)
		print_line(p, "remedy:", "%s", remedy);
}

/* A key without a change, such as gate.wait, has its line only. */
static void print_keys(const struct page *p, const struct why *why)
{
	for (size_t k = 0; k < why->keys.n && k < ROWS_MOST; k++)
		if (why->keys.n == 1 || !why->keys.v[k].changes.n)
			print_key(p, &why->keys.v[k]);
}

static const char *record_lacks(const struct page *p)
{
	const struct record_profile *of = &p->record->profile;

	if (p->record->unreadable)
		return p->record->unreadable;
	if (!of->name)
		return "railhead has not run in this boot: there is no record";
	return of->digest && !streq(of->digest, p->run->profile->digest)
		       ? "the record of this boot belongs to another profile"
		       : NULL;
}

void why_render(FILE *out, const struct run *run, const struct record *record,
		const struct why *why, const struct screen *screen)
{
	struct page p = {out, run, record, screen};
	struct chosen chosen = {0};

	order_changes(why, &chosen);
	if (why->about)
		fprintf(out, "%s\n", why->about);
	print_keys(&p, why);
	if (chosen.list.n == 1) {
		print_change(&p, chosen.list.v[0]);
	} else if (chosen.list.n) {
		print_rows(&p, &chosen);
		if (why->keys.n == 1)
			print_targets(&p, &chosen);
		print_all_others(&p, &chosen);
		print_counts(&p, &chosen);
		print_first_remedy(&p, &chosen);
		print_line(&p, "more:", "`railhead why %s` describes one of them in full",
			   chosen.list.v[0]->change->id);
	} else {
		print_line(&p, "change:", "none: no setting or check on this node");
	}
	if (chosen.list.n && record_lacks(&p))
		print_line(&p, "boot:", "%s", record_lacks(&p));
	vec_free(&chosen.list);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *place_json(struct place at)
{
	cleanup_free char *place = render_place(at);

	return text_json(place);
}

static json_t *others_json(const struct writers *others)
{
	json_t *list = json_array();

	for (size_t i = 0; i < others->list.n; i++) {
		const struct writer *w = &others->list.v[i];

		json_array_append_new(list,
				      json_pack("{s:o, s:o, s:o?}", "by", text_json(w->by), "says",
						text_json(w->says), "value", text_json(w->value)));
	}
	return list;
}

static json_t *recorded_json(const struct record_change *c, enum stage in)
{
	return json_pack("{s:s, s:s, s:s?, s:s?, s:s?, s:s?, s:I, s:I}", "stage", stage_name(in),
			 "state", state_name(c->now.state), "before", c->now.before, "after",
			 c->now.found, "reason", c->now.why, "remedy", c->now.remedy,
			 "started_usec", (json_int_t)c->started, "duration_usec",
			 (json_int_t)c->duration);
}

static json_t *change_json(const struct why_change *c)
{
	json_t *obj = change_to_json(c->change);
	cleanup_free char *remedy = why_remedy(c);

	json_object_set_new(obj, "also", others_json(&c->others));
	json_object_set_new(obj, "drifted", json_boolean(why_drifted(c)));
	if (c->then)
		json_object_set_new(obj, "boot", recorded_json(c->then, c->in));
	if (c->measured) {
		const struct measurements one = {{(struct measurement *)c->measured, 1, 1}};

		json_object_set_new(obj, "measured", measurements_to_json(&one));
	}
	if (remedy)
		json_object_set_new(obj, "remedy", text_json(remedy));
	return obj;
}

static json_t *shadow_json(const struct shadow *s)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:b}", "key", text_json(s->key), "value",
			 text_json(s->value), "origin", place_json(s->at), "by", place_json(s->by),
			 "deleted", s->deleted);
}

static json_t *key_json(const struct why_key *key)
{
	json_t *changes = json_array(), *over = json_array();
	cleanup_free char *value = value_of(key);

	for (size_t i = 0; i < key->changes.n; i++)
		json_array_append_new(changes, change_json(&key->changes.v[i]));
	for (size_t i = 0; i < key->shadows.n; i++)
		json_array_append_new(over, shadow_json(key->shadows.v[i]));
	return json_pack("{s:o, s:o, s:o, s:o*, s:o*}", "key", text_json(key->path), "overrides",
			 over, "changes", changes, "value", text_json(value), "origin",
			 key->line ? place_json(key->line->value->at) : NULL);
}

json_t *why_to_json(const struct run *run, const struct record *record, const struct why *why)
{
	json_t *keys = json_array();

	for (size_t i = 0; i < why->keys.n; i++)
		json_array_append_new(keys, key_json(&why->keys.v[i]));
	return json_pack("{s:s, s:s, s:b, s:o, s:o*, s:o*}", "profile", run->profile->name,
			 "digest", run->profile->digest, "recorded",
			 streq(record_digest(record), run->profile->digest), "keys", keys, "device",
			 text_json(why->about), "missing",
			 why->missing.addr ? stored_to_json(missing_stored, &why->missing) : NULL);
}
