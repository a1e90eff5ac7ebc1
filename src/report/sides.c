/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/sides.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "report/fold.h"
#include "report/text.h"

enum { LABEL_WIDTH = 11, GAP = 2, VALUE_MOST = 40, INDENT = 4, MEMBERS_LEAST = 16 };

/* The printed values of a line. */
struct text {
	char *left, *right, *value;
};

/* The first line of a value, with a mark if it has more lines. */
static char *first_line(const char *value, const char *more)
{
	size_t n = strcspn(value, "\n");

	return xasprintf("%.*s%s", (int)n, value, value[n] && value[n + 1] ? more : "");
}

static char *or_nothing(const char *value, const struct screen *screen)
{
	return *value ? first_line(value, screen->utf8 ? "…" : "...") : xstrdup("(nothing)");
}

static const char *arrow(const struct screen *screen)
{
	return screen->utf8 ? " → " : " -> ";
}

struct page {
	FILE *out;
	const struct screen *screen;
	const struct sides *lines;
	VEC(struct text) texts; /* one for each line */
	VEC(struct fold_item) items;
	struct fold fold;
	size_t subject_width;
};

static const struct text *text_of(const struct page *p, const struct fold_item *item)
{
	return &p->texts.v[item - p->items.v];
}

static const char *place_of(const struct page *p, const struct fold_item *item)
{
	return or_empty(p->lines->list.v[item - p->items.v].place);
}

/* Fits the value into `room` columns; if both sides are too long, each gets half. */
static char *fit_value(const struct page *p, const struct text *line, size_t room)
{
	size_t left = text_width(line->left), right = text_width(or_empty(line->right));
	size_t sides = room - text_width(arrow(p->screen)), half = sides / 2;
	cleanup_free char *a = NULL, *b = NULL;

	if (!line->right)
		return text_cut(line->left, room, p->screen->utf8);
	if (left + right <= sides)
		return xstrdup(line->value);
	a = text_cut(line->left, right < half ? sides - right : half, p->screen->utf8);
	b = text_cut(line->right, sides - text_width(a), p->screen->utf8);
	return xasprintf("%s%s%s", a, arrow(p->screen), b);
}

/* Prints the line of the profile, if all items share it and it has room. */
static void print_place(const struct page *p, const struct fold_row *row, size_t room)
{
	const char *place = place_of(p, row->items.v[0]);

	for (size_t i = 1; i < row->items.n; i++)
		if (!streq(place_of(p, row->items.v[i]), place))
			return;
	if (!*place || (text_width(place) + GAP > room && !p->lines->all_places))
		return;
	if (text_width(place) + GAP > room) {
		fprintf(p->out, "\n%*s", LABEL_WIDTH + 1, "");
		room = 0;
	}
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

/* The members give way to the name of the setting; an open list of them is closed. */
static char *fit_subject(const struct page *p, const struct fold_row *row)
{
	cleanup_free char *whole = fold_subject(row), *of = NULL;
	size_t name = text_width(row->name) + 2, room = p->subject_width;
	const char *end;

	if (text_width(whole) <= room || row->names || !*row->name || name + MEMBERS_LEAST > room)
		return text_cut(whole, room, p->screen->utf8);
	of = text_cut(row->of, room - name - 1, p->screen->utf8);
	end = strchr(of, '(') && !strchr(of, ')') ? ")" : "";
	return xasprintf("%s%s: %s", of, end, row->name);
}

static void print_row(const struct page *p, const struct fold_row *row)
{
	const struct fold_item *first = row->items.v[0];
	size_t room = p->screen->columns - LABEL_WIDTH - 1 - p->subject_width - GAP;
	cleanup_free char *subject = fit_subject(p, row);
	cleanup_free char *value = fit_value(p, text_of(p, first), room);

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

/* "link rings, qos pfc: REASON", unless an earlier row has printed the reason. */
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

/* Values get their columns first, but at most half of all columns. */
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

static void add_line(struct page *p, const struct side_line *line)
{
	struct text text = {
		.left = or_nothing(line->left, p->screen),
		.right = line->right ? or_nothing(line->right, p->screen) : NULL,
	};
	struct fold_item item = {line->label, line->id, NULL, line->reason};

	text.value = text.right ? xasprintf("%s%s%s", text.left, arrow(p->screen), text.right)
				: xstrdup(text.left);
	item.value = text.value;
	vec_push(&p->texts, text);
	vec_push(&p->items, item);
}

static void page_free(struct page *p)
{
	fold_free(&p->fold);
	vec_free(&p->items);
	for (size_t i = 0; i < p->texts.n; i++) {
		free(p->texts.v[i].left);
		free(p->texts.v[i].right);
		free(p->texts.v[i].value);
	}
	vec_free(&p->texts);
}

void sides_free(struct sides *lines)
{
	for (size_t i = 0; i < lines->list.n; i++) {
		free(lines->list.v[i].reason);
		free(lines->list.v[i].place);
	}
	vec_free(&lines->list);
}

void sides_print_whole(FILE *out, const struct side_line *line)
{
	cleanup_free char *left = first_line(line->left, "...");
	cleanup_free char *right = line->right ? first_line(line->right, "...") : NULL;

	fprintf(out, "  %-*s %-40s '%s'", LABEL_WIDTH, line->label, line->id, left);
	if (right)
		fprintf(out, " -> '%s'", right);
	fprintf(out, "%s%s\n", line->reason ? ": " : "", or_empty(line->reason));
}

void sides_render(FILE *out, const struct sides *lines, const struct record_sets *sets,
		  const struct screen *screen, size_t most)
{
	cleanup(page_free) struct page p = {.out = out, .screen = screen, .lines = lines};
	size_t shown, reasons = 0;

	for (size_t i = 0; i < lines->list.n; i++)
		add_line(&p, &lines->list.v[i]);
	fold(p.items.v, p.items.n, sets, screen->utf8, &p.fold);
	p.subject_width = subject_width(&p);
	shown = p.fold.rows.n > most ? most : p.fold.rows.n;
	for (size_t r = 0; r < shown; r++) {
		print_row(&p, &p.fold.rows.v[r]);
		reasons += reason_of_row(&p, r) != NULL;
	}
	if (shown < p.fold.rows.n)
		fprintf(out, "%-*s %zu more lines; --json has all\n", LABEL_WIDTH, "",
			p.fold.rows.n - shown);
	if (reasons)
		fputc('\n', out);
	reasons = 0;
	for (size_t r = 0; r < shown && reasons <= most / 3; r++)
		if (reason_of_row(&p, r) && ++reasons)
			print_reason(&p, r);
	if (shown)
		fputc('\n', out);
}
