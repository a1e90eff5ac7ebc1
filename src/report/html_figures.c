/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The gate's figures: each against its threshold, next to the figures of earlier boots. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "gate/gate.h"
#include "report/fold.h"
#include "report/html.h"
#include "report/html_parts.h"

/* --- history -------------------------------------------------------------------------------- */

enum { CHART_WIDTH = 120, CHART_HEIGHT = 28, CHART_EDGE = 4 };

#define NOISE 0.05

struct range {
	double least, most;
};

static void widen(struct range *r, double value)
{
	r->least = fmin(r->least, value);
	r->most = fmax(r->most, value);
}

static double y_of(const struct range *r, double value)
{
	double span = r->most - r->least, share = span > 0 ? (value - r->least) / span : 0.5;

	return CHART_HEIGHT - CHART_EDGE - share * (CHART_HEIGHT - 2 * CHART_EDGE);
}

static double x_of(size_t i, size_t n)
{
	return CHART_EDGE + (double)i / (double)(n - 1) * (CHART_WIDTH - 2 * CHART_EDGE);
}

void html_history(FILE *out, const double *values, size_t n, double threshold,
		  enum quantity quantity)
{
	struct range range = {INFINITY, -INFINITY}, chart;
	cleanup_free char *least = NULL, *most = NULL;

	if (n < 2)
		return;
	for (size_t i = 0; i < n; i++)
		widen(&range, values[i]);
	chart = range;
	widen(&chart, values[n - 1] * (1 - NOISE)); /* so that mere noise looks flat */
	widen(&chart, values[n - 1] * (1 + NOISE));
	if (!isnan(threshold))
		widen(&chart, threshold);
	least = quantity_format(quantity, range.least);
	most = quantity_format(quantity, range.most);
	html(out,
	     "<span class=past><svg class=history role=img width=\"%d\" height=\"%d\" viewBox=\"0 "
	     "0 %d %d\" "
	     "aria-label=\"%zu values, %s to %s\">",
	     CHART_WIDTH, CHART_HEIGHT, CHART_WIDTH, CHART_HEIGHT, n, least, most);
	if (!isnan(threshold))
		html(out,
		     "<line class=threshold x1=\"0\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"></line>",
		     CHART_WIDTH, y_of(&chart, threshold), y_of(&chart, threshold));
	html(out, "<polyline points=\"");
	for (size_t i = 0; i < n; i++)
		html(out, "%s%.1f,%.1f", i ? " " : "", x_of(i, n), y_of(&chart, values[i]));
	html(out, "\"></polyline><circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"></circle></svg>\n",
	     x_of(n - 1, n), y_of(&chart, values[n - 1]));
	html(out, "<small>%zu boots, %s to %s</small></span>", n, least, most);
}

/* The figure of the same measurement in that boot; NULL: no valid figure. */
static const struct past_figure *past_of(const struct boot_past *b, const struct measurement *m,
					 const struct reading *reading)
{
	for (size_t i = 0; i < b->figures.n; i++) {
		const struct past_figure *f = &b->figures.v[i];

		if (f->fresh && streq(f->key, reading->name) && streq(f->check, m->check) &&
		    streq(f->subject, member_of_id(m->id, m->check)))
			return f;
	}
	return NULL;
}

/* The figures of earlier boots, then this boot's. */
static void put_history(FILE *out, const struct page *page, const struct measurement *m,
			const struct reading *reading, double threshold)
{
	const struct history *h = page->history;
	double values[HISTORY_BOOTS + 1];
	size_t n = 0;

	for (size_t i = 0; i < h->boots.n && n < HISTORY_BOOTS; i++) {
		const struct boot_past *b = &h->boots.v[i];
		const struct past_figure *f = past_of(b, m, reading);

		if (f && !streq(b->boot_id, or_empty(page->record->boot_id)))
			values[n++] = f->value;
	}
	values[n++] = reading->value;
	html_history(out, values, n, threshold, reading->quantity);
}

/* --- a figure ------------------------------------------------------------------------------- */

/* The full length of a check's bars: the greatest figure or threshold. */
static double scale_of(const struct measurements *all, const struct measurement *m,
		       const struct reading *reading)
{
	double most = fmax(reading->value, 0);

	for (size_t i = 0; i < all->list.n; i++) {
		const struct measurement *one = &all->list.v[i];
		const struct reading *r = measurement_judged(one);

		if (!r || !streq(one->check, m->check) || !streq(r->name, reading->name))
			continue;
		most = fmax(most, r->value);
		most = fmax(most, r->limit); /* fmax() ignores NAN */
	}
	return most > 0 ? most * 1.05 : 1;
}

static void put_bar(FILE *out, const struct measurement *m, double value, double threshold,
		    double scale)
{
	double share = fmin(fmax(value / scale, 0), 1);

	html(out,
	     "<svg class=\"figure %s\" width=\"100%%\" height=\"12\" aria-hidden=true>"
	     "<rect class=ground width=\"100%%\" height=\"12\"></rect>"
	     "<rect class=value width=\"%.2f%%\" height=\"12\"></rect>",
	     measurement_holds(m) ? "good" : "bad", 100 * share);
	if (!isnan(threshold))
		html(out,
		     "<line class=threshold x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"0\" y2=\"12\"></line>",
		     100 * threshold / scale, 100 * threshold / scale);
	html(out, "</svg>");
}

static void put_others(FILE *out, const struct measurement *m, const struct reading *judged)
{
	for (size_t i = 0; i < m->readings.list.n; i++) {
		const struct reading *r = &m->readings.list.v[i];
		cleanup_free char *text = quantity_format(r->quantity, r->value);

		if (r != judged)
			html(out, "<small>%s %s%s</small>", r->name, text,
			     isnan(r->limit) ? ", not judged" : "");
	}
}

static void put_looks(FILE *out, const struct measurement *m)
{
	if (!m->looks.n)
		return;
	html(out, "<small>%zu looks: ", m->looks.n);
	for (size_t i = 0; i < m->looks.n; i++)
		html(out, "%s%s %s", i ? ", " : "", m->looks.v[i].measured,
		     state_name(m->looks.v[i].state));
	html(out, "</small>");
}

static void put_member(FILE *out, const struct page *page, const struct measurement *m)
{
	struct id_subject on = id_subject_of(m->id);
	const char *member = member_of_id(m->id, m->check);
	cleanup_free char *id = html_anchor(on.addr);

	if (node_find(page->node, on.addr))
		html(out, "<a href=\"#%s\">%s</a>", id, member);
	else
		html(out, "%s", member);
}

static void put_row(FILE *out, const struct page *page, const struct measurement *m)
{
	const struct reading *reading = measurement_judged(m);
	double threshold = reading && reading->limit > 0 ? reading->limit : NAN;
	cleanup_free char *took = html_time(m->duration);

	html(out, "<tr><th scope=row>%s</th><td>", m->check);
	put_member(out, page, m);
	html(out, "</td><td class=number>%s%s", m->measured, m->measured ? "" : "no number");
	put_others(out, m, reading);
	put_looks(out, m);
	html(out, "</td><td class=number>%s</td><td class=chart>",
	     m->wanted ? m->wanted : "nothing");
	if (reading)
		put_bar(out, m, reading->value, threshold,
			scale_of(&page->record->measurements, m, reading));
	html(out, "</td><td><span class=\"state %s\">%s</span></td><td class=number>%s</td><td>",
	     measurement_holds(m) ? "up" : "down",
	     m->state == CHANGE_SAME ? "holds" : state_name(m->state), took);
	if (reading && page->history)
		put_history(out, page, m, reading, threshold);
	html(out, "</td></tr>\n");
}

static void put_when(FILE *out, const struct record_numbers *n)
{
	int64_t age = time(NULL) - n->measured;
	cleanup_free char *text = format_duration(age > 0 ? (uint64_t)age * 1000000 : 0);

	if (!n->there)
		return;
	html(out, "<p class=note>Measured %s ago", text);
	if (n->boots_ago)
		html(out, ", %lld boot%s before", (long long)n->boots_ago,
		     n->boots_ago == 1 ? "" : "s");
	html(out, "%s%s.</p>\n", n->why ? "; again because of: " : "", n->why);
}

void html_figures(FILE *out, const struct page *page)
{
	static const char *const heading[] = {
		"check", "of",	 "measured", "required", "against threshold",
		"state", "took", "history"};
	const struct measurements *m = &page->record->measurements;

	html(out,
	     "<section id=figures aria-labelledby=figures-h><h2 id=figures-h>Figures of the gate"
	     "</h2>\n");
	if (!m->list.n)
		html(out, "<p class=note>The gate has measured nothing.</p>\n");
	else
		put_when(out, &page->record->numbers);
	for (size_t i = 0; i < page->record->trends.n; i++)
		html(out, "<p class=note><strong class=\"badge warning\">trend</strong> %s</p>\n",
		     page->record->trends.v[i]);
	if (!m->list.n) {
		html(out, "</section>\n");
		return;
	}
	html(out, "<div class=\"card wide\"><table class=figures><thead><tr>");
	for (size_t i = 0; i < array_len(heading); i++)
		html(out, "<th scope=col>%s</th>", heading[i]);
	html(out, "</tr></thead><tbody>\n");
	for (size_t i = 0; i < m->list.n; i++)
		put_row(out, page, &m->list.v[i]);
	html(out, "</tbody></table></div>\n</section>\n");
}
