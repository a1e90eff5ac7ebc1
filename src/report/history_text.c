/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/history_text.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "report/table.h"
#include "report/text.h"

enum {
	GAP = 2,	 /* between two columns of a table */
	WHAT_LEAST = 20, /* columns of the last one, even on a narrow terminal */
	LABEL_WIDTH = 9,
	FAULTS_NAMED = 2,
	STEPS_NAMED = 4,
	MANY_SECONDS = 1000,
};

static size_t first_of(const struct history *h, size_t most)
{
	return h->boots.n > most ? h->boots.n - most : 0;
}

/* In seconds, the shortest form, unless there are many. */
static char *short_time(uint64_t usec)
{
	return usec < MANY_SECONDS * UINT64_C(1000000) ? xasprintf("%.0f s", (double)usec / 1e6)
						       : format_duration(usec);
}

static char *own_time(const struct boot_past *b)
{
	uint64_t usec = 0;

	for (enum stage s = 0; s < STAGE_COUNT; s++)
		usec += b->stage[s].duration;
	return short_time(usec);
}

/* --- the last column ---------------------------------------------------------------------- */

static void say_faults(struct str *out, const struct boot_past *b)
{
	cleanup_free char *names = strv_some(&b->faults, FAULTS_NAMED);

	if (b->faults.n)
		str_clause(out, "%s", names);
	else if (!b->admit && *b->reason)
		str_clause(out, "%s", b->reason);
}

/* "firmware of 8 functions" */
static char *name_of(const struct past_change *c)
{
	struct binding_name name = binding_name(c->part);

	return c->times > 1 ? xasprintf("%.*s of %zu functions", name.len, name.what, c->times)
			    : xstrdup(c->part);
}

static void say_change(struct str *out, const struct past_change *c, bool utf8)
{
	cleanup_free char *name = name_of(c);

	if (!c->was)
		str_clause(out, "%s: now %s", name, *c->now ? c->now : "known");
	else if (!c->now)
		str_clause(out, "%s: gone", name);
	else if (!*c->was || !*c->now)
		str_clause(out, "%s: changed", name);
	else
		str_clause(out, "%s %s %s %s", name, c->was, utf8 ? "→" : "->", c->now);
}

static bool is_one_family(const struct past_figure *a, const struct past_figure *b)
{
	return streq(a->check, b->check) && streq(a->key, b->key);
}

/* Finds the member of a check that changed most, which stands for all; returns their number. */
static size_t of_family(const struct past_changes *c, size_t first, const struct past_step **ret)
{
	size_t n = 0;

	*ret = &c->steps.v[first];
	for (size_t i = 0; i < c->steps.n; i++) {
		const struct past_step *step = &c->steps.v[i];

		if (!is_one_family(step->figure, c->steps.v[first].figure))
			continue;
		if (i < first)
			return 0;
		n++;
		if (fabs(step->percent) > fabs((*ret)->percent))
			*ret = step;
	}
	return n;
}

static void say_steps(struct str *out, const struct past_changes *c)
{
	size_t told = 0;

	for (size_t i = 0; i < c->steps.n; i++) {
		const struct past_step *most;
		size_t n = of_family(c, i, &most);

		if (!n || told++ >= STEPS_NAMED)
			continue;
		if (n > 1)
			str_clause(out, "%s %s %+.1f%% of %zu", most->figure->check,
				   most->figure->key, most->percent, n);
		else
			str_clause(out, "%s %s %s %+.1f%%", most->figure->check,
				   most->figure->subject, most->figure->key, most->percent);
	}
	if (told > STEPS_NAMED)
		str_clause(out, "%zu more checks", told - STEPS_NAMED);
}

/* The events of a boot, and its differences from the previous boot. */
static char *what_of(const struct history *h, size_t boot, bool utf8)
{
	const struct boot_past *b = &h->boots.v[boot];
	cleanup(past_changes_free) struct past_changes changes = {0};
	cleanup_free char *waited = format_duration(b->waited);
	struct str out = {0};

	history_changes(h, boot, &changes);
	say_faults(&out, b);
	if (history_clock_is_off(h, boot))
		str_clause(&out, "the clock was not set");
	if (b->waited >= 1000000)
		str_clause(&out, "waited %s", waited);
	if (b->reboots)
		str_clause(&out, "%u %s by railhead before", b->reboots,
			   b->reboots > 1 ? "reboots" : "reboot");
	for (size_t i = 0; i < changes.list.n; i++)
		say_change(&out, &changes.list.v[i], utf8);
	say_steps(&out, &changes);
	return str_take(&out);
}

/* --- the page ----------------------------------------------------------------------------- */

static void add_row(struct table *t, const struct history *h, size_t boot,
		    const struct screen *screen)
{
	const struct boot_past *b = &h->boots.v[boot];
	cleanup_free char *time = history_time(h, boot), *what = what_of(h, boot, screen->utf8);
	cleanup_free char *after = short_time(b->judged), *own = own_time(b);

	table_add(t, time, verdict_name(b->verdict), after, own, what);
}

/* Cuts the last column, so that each boot has one line. True: a text was cut. */
static bool cut_rows(struct table *t, const struct screen *screen)
{
	size_t last = 0, left = 0, width, room;
	bool cut = false;

	while (t->heading[last + 1])
		last++;
	for (size_t c = 0; c < last; c++) {
		width = text_width(t->heading[c]);
		for (size_t r = 0; r < t->rows.n; r++)
			if (text_width(t->rows.v[r].v[c]) > width)
				width = text_width(t->rows.v[r].v[c]);
		left += width + GAP;
	}
	room = screen->columns > left + WHAT_LEAST ? screen->columns - left : WHAT_LEAST;
	for (size_t r = 0; r < t->rows.n; r++) {
		char *whole = t->rows.v[r].v[last];

		t->rows.v[r].v[last] = text_cut(whole, room, screen->utf8);
		cut |= !streq(whole, t->rows.v[r].v[last]);
		free(whole);
	}
	return cut;
}

static void print_left_out(FILE *out, size_t boots, bool cut)
{
	if (boots)
		fprintf(out, "(%zu earlier boots: railhead history N)\n", boots);
	if (cut)
		fputs("(lines are cut: railhead history | cat)\n", out);
}

static void print_trends(FILE *out, const struct history *h, const struct screen *screen)
{
	struct past_trends trends = {0};

	history_trends(h, &trends);
	for (size_t i = 0; i < trends.list.n; i++) {
		cleanup_free char *text = past_trend_text(&trends.list.v[i]);

		text_labelled(out, screen, "trend:", LABEL_WIDTH, "%s", text);
	}
	vec_free(&trends.list);
}

void history_render(FILE *out, const struct history *h, size_t most, const struct screen *screen)
{
	static const char *const heading[] = {"VERDICT AT", "VERDICT", "AFTER",
					      "STAGES",	    "WHAT",    NULL};
	struct table t = {.name = "boot", .heading = heading};
	bool cut;

	for (size_t i = first_of(h, most); i < h->boots.n; i++)
		add_row(&t, h, i, screen);
	cut = screen->terminal && cut_rows(&t, screen);
	table_print(out, &t, screen->terminal);
	table_free(&t);
	if (screen->terminal)
		print_left_out(out, first_of(h, most), cut);
	print_trends(out, h, screen);
}

/* --- JSON --------------------------------------------------------------------------------- */

static json_t *changes_to_json(const struct past_changes *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->list.n; i++) {
		const struct past_change *change = &c->list.v[i];

		json_array_append_new(list,
				      json_pack("{s:s, s:s?, s:s?, s:I}", "part", change->part,
						"was", change->was, "now", change->now, "times",
						(json_int_t)change->times));
	}
	return list;
}

static json_t *steps_to_json(const struct past_changes *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->steps.n; i++) {
		const struct past_figure *f = c->steps.v[i].figure;

		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o*}", "check", f->check,
						      "subject", f->subject, "key", f->key,
						      "percent", json_real(c->steps.v[i].percent)));
	}
	return list;
}

static json_t *boot_to_json(const struct history *h, size_t boot)
{
	json_t *obj = boot_past_to_json(&h->boots.v[boot]);
	cleanup(past_changes_free) struct past_changes changes = {0};

	history_changes(h, boot, &changes);
	json_object_update_new(obj, json_pack("{s:b, s:o, s:o}", "clock_off",
					      history_clock_is_off(h, boot), "changed",
					      changes_to_json(&changes), "steps",
					      steps_to_json(&changes)));
	return obj;
}

static json_t *trends_to_json(const struct history *h)
{
	json_t *list = json_array();
	struct past_trends trends = {0};

	history_trends(h, &trends);
	for (size_t i = 0; i < trends.list.n; i++) {
		const struct past_trend *t = &trends.list.v[i];
		const struct past_figure *f = t->figure;
		cleanup_free char *text = past_trend_text(t);

		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s, s:o*, s:I, s:o*, s:s}", "check",
						f->check, "subject", f->subject, "key", f->key,
						"percent", json_real(t->trend.percent), "boots",
						(json_int_t)t->trend.boots, "z",
						json_real(t->trend.z), "text", text));
	}
	vec_free(&trends.list);
	return list;
}

json_t *history_to_json(const struct history *h, size_t most)
{
	json_t *boots = json_array();

	for (size_t i = first_of(h, most); i < h->boots.n; i++)
		json_array_append_new(boots, boot_to_json(h, i));
	return json_pack("{s:i, s:o, s:o}", "schema", 1, "boots", boots, "trends",
			 trends_to_json(h));
}
