/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/changes.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "plan/render.h"
#include "report/fold.h"
#include "report/text.h"

enum { LABEL_WIDTH = 11, GAP = 2, VALUE_MOST = 40, INDENT = 4 };

enum rank { PREMISES, FAILURES, DONE, DIFFERENCES, WAITING, UNSUPPORTED, UNMEASURABLE, NO_RANK };

/* What is read first. */
static enum rank rank_of(const struct change *c)
{
	if (change_broken_premise(c))
		return PREMISES;
	switch (c->state) {
	case CHANGE_FAILED:
		return FAILURES;
	case CHANGE_SET:
		return DONE;
	case CHANGE_DIFFERS:
		return DIFFERENCES;
	case CHANGE_WAITS:
		return WAITING;
	case CHANGE_UNSUPPORTED:
		return UNSUPPORTED;
	case CHANGE_TO_MEASURE:
		return c->note ? UNMEASURABLE : NO_RANK; /* now, it could not be measured */
	default:
		return NO_RANK;
	}
}

struct ordered {
	VEC(const struct change *) list;
};

/* By rank, and in each by stage. */
static void put_in_order(const struct run *run, unsigned int stages, enum stage running,
			 struct ordered *ret)
{
	for (enum rank rank = PREMISES; rank < NO_RANK; rank++)
		for (enum stage s = 0; s < STAGE_COUNT; s++)
			for (size_t i = 0; i < run->plan.list.n; i++) {
				const struct change *c = run->plan.list.v[i];

				if (c->stage == s && rank_of(c) == rank &&
				    (run_covers(c, stages, running) ||
				     (rank == PREMISES && running == STAGE_COUNT)))
					vec_push(&ret->list, c);
			}
}

/* A file of railhead's own has many lines; without any it is to go. */
static const char *wanted_of(const struct change *c)
{
	return c->kind == &kind_file && *c->desired ? "the profile's text" : c->desired;
}

/* The note says which files other changes have. NULL: there is nothing to say. */
static char *reason_of(const struct change *c)
{
	if (!c->reason || !c->note)
		return c->reason || c->note ? xstrdup(c->reason ? c->reason : c->note) : NULL;
	return xasprintf("%s; %s", c->reason, c->note);
}

/* The first line of a value, which says so if there are more. */
static char *one_line(const char *value, const char *more)
{
	size_t n = strcspn(value, "\n");

	return xasprintf("%.*s%s", (int)n, value, value[n] && value[n + 1] ? more : "");
}

/* What is there, or was there before it was set. */
static const char *found_of(const struct change *c)
{
	const char *found = c->state == CHANGE_SET ? c->before : c->observed;

	return found ? found : "unknown";
}

static void print_whole(FILE *out, const struct change *c)
{
	cleanup_free char *found = one_line(found_of(c), "...");
	cleanup_free char *wanted = one_line(wanted_of(c), "...");
	cleanup_free char *reason = reason_of(c);

	fprintf(out, "  %-*s %-40s '%s' -> '%s'%s%s\n", LABEL_WIDTH, state_name(c->state), c->id,
		found, wanted, reason ? ": " : "", reason ? reason : "");
}

/* --- folded ----------------------------------------------------------------------------------- */

/* The text of an item. */
struct line {
	char *found, *wanted, *value, *reason, *place;
};

struct lines {
	VEC(struct line) text;
	VEC(struct fold_item) items;
};

static char *or_nothing(const char *value, const struct screen *screen)
{
	return *value ? one_line(value, screen->utf8 ? "…" : "...") : xstrdup("(nothing)");
}

static char *short_place(struct place at)
{
	cleanup_free char *origin = render_place(at);

	return at.line ? text_place(origin) : xstrdup("");
}

static const char *arrow(const struct screen *screen)
{
	return screen->utf8 ? " → " : " -> ";
}

static void add_line(struct lines *lines, const struct change *c, const struct screen *screen)
{
	struct line text = {
		.found = or_nothing(found_of(c), screen),
		.wanted = or_nothing(wanted_of(c), screen),
		.reason = reason_of(c),
		.place = short_place(c->origin),
	};
	struct fold_item item = {state_name(c->state), c->id, NULL, text.reason};

	text.value = xasprintf("%s%s%s", text.found, arrow(screen), text.wanted);
	item.value = text.value;
	vec_push(&lines->text, text);
	vec_push(&lines->items, item);
}

static void lines_free(struct lines *lines)
{
	for (size_t i = 0; i < lines->text.n; i++) {
		free(lines->text.v[i].found);
		free(lines->text.v[i].wanted);
		free(lines->text.v[i].value);
		free(lines->text.v[i].reason);
		free(lines->text.v[i].place);
	}
	vec_free(&lines->text);
	vec_free(&lines->items);
}

struct page {
	FILE *out;
	const struct screen *screen;
	struct lines lines;
	struct fold fold;
	size_t subject_width;
};

static const struct line *line_of(const struct page *p, const struct fold_item *item)
{
	return &p->lines.text.v[item - p->lines.items.v];
}

/* In so many columns: where both sides are too long each gets half. */
static char *fit_value(const struct page *p, const struct line *line, size_t room)
{
	size_t found = text_width(line->found), wanted = text_width(line->wanted);
	size_t sides = room - text_width(arrow(p->screen)), half = sides / 2;
	cleanup_free char *a = NULL, *b = NULL;

	if (found + wanted <= sides)
		return xstrdup(line->value);
	a = text_cut(line->found, wanted < half ? sides - wanted : half, p->screen->utf8);
	b = text_cut(line->wanted, sides - text_width(a), p->screen->utf8);
	return xasprintf("%s%s%s", a, arrow(p->screen), b);
}

/* The line of the profile, if that is one and has room. */
static void print_place(const struct page *p, const struct fold_row *row, size_t room)
{
	const char *place = line_of(p, row->items.v[0])->place;

	for (size_t i = 1; i < row->items.n; i++)
		if (!streq(line_of(p, row->items.v[i])->place, place))
			return;
	if (!*place || text_width(place) + GAP > room)
		return;
	style_begin(p->out, STYLE_DIM);
	fprintf(p->out, "%*s", (int)room, place);
	style_end(p->out);
}

static enum style style_of(const char *label)
{
	if (streq(label, state_name(CHANGE_FAILED)))
		return STYLE_BAD;
	if (streq(label, state_name(CHANGE_SET)))
		return STYLE_GOOD;
	return streq(label, state_name(CHANGE_DIFFERS)) ? STYLE_DIFFERS : STYLE_DIM;
}

static void print_row(const struct page *p, const struct fold_row *row)
{
	const struct fold_item *first = row->items.v[0];
	size_t room = p->screen->columns - LABEL_WIDTH - 1 - p->subject_width - GAP;
	cleanup_free char *whole = fold_subject(row);
	cleanup_free char *subject = text_cut(whole, p->subject_width, p->screen->utf8);
	cleanup_free char *value = fit_value(p, line_of(p, first), room);

	style_begin(p->out, style_of(first->label));
	fprintf(p->out, "%-*s ", LABEL_WIDTH, first->label);
	style_end(p->out);
	fprintf(p->out, "%s%*s%s", subject, (int)(p->subject_width - text_width(subject) + GAP), "",
		value);
	print_place(p, row, room - text_width(value));
	fputc('\n', p->out);
}

static const char *reason_of_row(const struct page *p, size_t r)
{
	return p->fold.rows.v[r].items.v[0]->reason;
}

static bool has_reason(const struct page *p, size_t r, const char *reason)
{
	return reason_of_row(p, r) && streq(reason_of_row(p, r), reason);
}

/* "link rings, qos pfc: REASON", unless a row before this one has it. */
static void print_reason(const struct page *p, size_t r)
{
	const char *reason = reason_of_row(p, r);
	cleanup_str struct str text = {0};
	bool same = true;

	for (size_t i = 0; i < p->fold.rows.n; i++) {
		if (!has_reason(p, i, reason))
			continue;
		if (i < r)
			return;
		str_addf(&text, "%s%s", text.len ? ", " : "", p->fold.rows.v[i].name);
		same &= p->fold.rows.v[i].reason_same;
	}
	str_addf(&text, ": %s%s", same ? "" : "for one, ", reason);
	text_wrap(p->out, text.s, p->screen->columns, INDENT);
}

static size_t widest(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Values get their columns first, but not most of them. */
static size_t subject_width(const struct page *p)
{
	size_t subject = 0, value = 0, left;

	for (size_t r = 0; r < p->fold.rows.n; r++) {
		const struct fold_row *row = &p->fold.rows.v[r];
		cleanup_free char *text = fold_subject(row);

		subject = widest(subject, text_width(text));
		value = widest(value, text_width(row->items.v[0]->value));
	}
	value = value < VALUE_MOST ? value : VALUE_MOST;
	left = p->screen->columns - LABEL_WIDTH - 1 - GAP;
	if (value > left / 2)
		value = left / 2;
	return subject < left - value ? subject : left - value;
}

static void print_folded(FILE *out, const struct run *run, const struct ordered *changes,
			 const struct screen *screen)
{
	cleanup(record_sets_free) struct record_sets sets = {0};
	struct page p = {.out = out, .screen = screen};
	bool reasons = false;

	for (size_t i = 0; i < changes->list.n; i++)
		add_line(&p.lines, changes->list.v[i], screen);
	record_sets_add(&sets, &run->sets);
	fold(p.lines.items.v, p.lines.items.n, &sets, screen->utf8, &p.fold);
	p.subject_width = subject_width(&p);
	for (size_t r = 0; r < p.fold.rows.n; r++) {
		print_row(&p, &p.fold.rows.v[r]);
		reasons |= reason_of_row(&p, r) != NULL;
	}
	if (reasons)
		fputc('\n', out);
	for (size_t r = 0; r < p.fold.rows.n; r++)
		if (reason_of_row(&p, r))
			print_reason(&p, r);
	if (p.fold.rows.n)
		fputc('\n', out);
	fold_free(&p.fold);
	lines_free(&p.lines);
}

void changes_render(FILE *out, const struct run *run, unsigned int stages, enum stage running,
		    const struct screen *screen)
{
	struct ordered changes = {0};

	put_in_order(run, stages, running, &changes);
	if (screen->terminal)
		print_folded(out, run, &changes, screen);
	for (size_t i = 0; !screen->terminal && i < changes.list.n; i++)
		print_whole(out, changes.list.v[i]);
	vec_free(&changes.list);
}
