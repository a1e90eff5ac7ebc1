/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stage that changed or measured something, as lanes: the work for one device, section or check
 * next to the work for the others.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "report/fold.h"
#include "report/html.h"
#include "report/html_parts.h"

/* Parts of the work on VFs (engine/vfs.h), changes and measurements; each has a colour. */
static const char *const sorts[] = {"change",  "failed", "measurement", "link_up",
				    "eswitch", "numvfs", "vfs_seen",	"addresses",
				    "bind",    "ready",	 "mtu",		"look_again"};
enum { SORT_CHANGE, SORT_FAILED, SORT_MEASUREMENT };

struct bar {
	uint64_t from, to; /* since the stage began */
	const char *what;  /* not owned */
	size_t sort;
	size_t row; /* in its lane */
};

struct lane {
	char *name; /* a PCI address, a section, or a check */
	char *text;
	bool is_vfs;
	size_t n_changes, n_measurements;
	VEC(struct bar) bars; /* in the order of their starts */
};

struct lanes {
	VEC(struct lane) list;
};

static struct lane *lane_of(struct lanes *lanes, const char *name)
{
	for (size_t i = 0; i < lanes->list.n; i++)
		if (streq(lanes->list.v[i].name, name))
			return &lanes->list.v[i];
	vec_push(&lanes->list, ((struct lane){.name = xstrdup(name)}));
	return &lanes->list.v[lanes->list.n - 1];
}

static void add_works(const struct vfs_works *works, struct lanes *ret)
{
	for (size_t i = 0; i < works->list.n; i++) {
		const struct vfs_work *w = &works->list.v[i];
		struct lane *lane = lane_of(ret, w->pf);

		lane->is_vfs = true;
		lane->text = vfs_work_line(w);
		for (size_t k = 0; k < w->timeline.n; k++) {
			const struct vfs_part *part = &w->timeline.v[k];
			int sort = str_index(part->name, sorts, array_len(sorts));

			vec_push(&lane->bars,
				 ((struct bar){part->from, part->to, part->name,
					       sort < 0 ? SORT_CHANGE : (size_t)sort, 0}));
		}
	}
}

/* For VFs the lane shows the parts of the work, because the changes may be thousands. */
static void add_change(const struct record_stage *stage, const struct record_change *c,
		       struct lanes *ret)
{
	struct id_subject on = id_subject_of(c->now.id);
	struct lane *lane;
	uint64_t from;

	if (!c->started || c->started < stage->started)
		return;
	lane = lane_of(ret, *on.addr ? on.addr : or_empty(c->section));
	if (lane->is_vfs && c->section && streq(c->section, "sriov"))
		return;
	from = c->started - stage->started;
	lane->n_changes++;
	vec_push(&lane->bars,
		 ((struct bar){from, from + c->duration, c->now.id,
			       c->now.state == CHANGE_FAILED ? SORT_FAILED : SORT_CHANGE, 0}));
}

/* "gate/memory/node0" -> "memory"; for a device its address, as for changes. */
static struct lane *lane_of_measurement(const struct measurement *m, struct lanes *ret)
{
	struct id_subject on = id_subject_of(m->id);

	return lane_of(ret, *on.addr ? on.addr : m->check);
}

/* A timing from before the stage is of an earlier gate, whose number still counts. */
static void add_measurement(const struct record_stage *stage, const struct measurement *m,
			    struct lanes *ret)
{
	for (size_t i = 0; i < m->timings.n; i++) {
		const struct timing *t = &m->timings.v[i];
		struct lane *lane;
		uint64_t from;

		if (t->started < stage->started)
			continue;
		lane = lane_of_measurement(m, ret);
		from = t->started - stage->started;
		lane->n_measurements++;
		vec_push(&lane->bars,
			 ((struct bar){from, from + t->duration, m->id,
				       measurement_holds(m) ? SORT_MEASUREMENT : SORT_FAILED, 0}));
	}
}

static int by_beginning(const void *a, const void *b)
{
	const struct bar *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* Gives each bar a row that is free at its start. Returns the number of rows in the lane. */
static size_t place_bars(struct lane *lane)
{
	VEC(uint64_t) ends = {0};
	size_t rows;

	if (lane->bars.n)
		qsort(lane->bars.v, lane->bars.n, sizeof(*lane->bars.v), by_beginning);
	for (size_t i = 0; i < lane->bars.n; i++) {
		struct bar *bar = &lane->bars.v[i];
		size_t row = 0;

		while (row < ends.n && ends.v[row] > bar->from)
			row++;
		if (row == ends.n)
			vec_push(&ends, bar->to);
		ends.v[row] = bar->to;
		bar->row = row;
	}
	rows = ends.n;
	vec_free(&ends);
	return rows;
}

enum { BAR_HEIGHT = 9, BAR_STEP = 11 };

static void put_bar(FILE *out, const struct bar *bar, uint64_t whole)
{
	cleanup_free char *from = html_time(bar->from), *took = html_time(bar->to - bar->from);
	double x = 100 * (double)bar->from / (double)whole;
	double width = 100 * (double)(bar->to - bar->from) / (double)whole;

	x = x > 99.7 ? 99.7 : x;
	width = width < 0.3 ? 0.3 : x + width > 100 ? 100 - x : width;
	html(out, "<rect class=\"sort-%s\" x=\"%.2f%%\" width=\"%.2f%%\" y=\"%zu\" height=\"%d\">",
	     sorts[bar->sort], x, width, bar->row * BAR_STEP + 1, BAR_HEIGHT);
	html(out, "<title>%s: from %s, %s</title></rect>", bar->what, from, took);
}

static void put_lane(FILE *out, const struct page *page, struct lane *lane, uint64_t whole)
{
	size_t rows = place_bars(lane);
	cleanup_free char *id = html_anchor(lane->name);

	html(out, "<div class=lane><div class=who>");
	if (node_find(page->node, lane->name))
		html(out, "<a href=\"#%s\">%s</a>", id, lane->name);
	else
		html(out, "<b>%s</b>", lane->name);
	html(out, "</div><svg role=img aria-label=\"%s: %zu bars\" width=\"100%%\" height=\"%zu\">",
	     lane->name, lane->bars.n, rows * BAR_STEP + 1);
	for (int quarter = 1; quarter < 4; quarter++)
		html(out, "<line class=grid x1=\"%d%%\" x2=\"%d%%\" y1=\"0\" y2=\"100%%\"></line>",
		     25 * quarter, 25 * quarter);
	for (size_t i = 0; i < lane->bars.n; i++)
		put_bar(out, &lane->bars.v[i], whole);
	html(out, "</svg><div class=said>%s", lane->text);
	if (!lane->text && lane->n_changes)
		html(out, "%zu change%s%s", lane->n_changes, lane->n_changes == 1 ? "" : "s",
		     lane->n_measurements ? ", " : "");
	if (!lane->text && lane->n_measurements)
		html(out, "%zu measurement%s", lane->n_measurements,
		     lane->n_measurements == 1 ? "" : "s");
	html(out, "</div></div>\n");
}

static void put_ticks(FILE *out, uint64_t whole)
{
	html(out, "<div class=\"lane ticks\" aria-hidden=true><div></div><div class=tick>");
	for (uint64_t quarter = 0; quarter <= 4; quarter++) {
		cleanup_free char *text = html_time(whole * quarter / 4);

		html(out, "<span>%s</span>", text);
	}
	html(out, "</div><div></div></div>\n");
}

static bool has_sort(const struct lanes *lanes, size_t sort)
{
	for (size_t i = 0; i < lanes->list.n; i++)
		for (size_t k = 0; k < lanes->list.v[i].bars.n; k++)
			if (lanes->list.v[i].bars.v[k].sort == sort)
				return true;
	return false;
}

static void put_key(FILE *out, const struct lanes *lanes)
{
	html(out, "<ul class=legend>\n");
	for (size_t sort = 0; sort < array_len(sorts); sort++)
		if (has_sort(lanes, sort))
			html(out,
			     "<li><svg class=key width=\"12\" height=\"10\" aria-hidden=true><rect "
			     "class=\"sort-%s\" width=\"12\" height=\"10\"></rect></svg>%s</li>\n",
			     sorts[sort], sorts[sort]);
	html(out, "</ul>\n");
}

static void put_table(FILE *out, const struct lanes *lanes)
{
	html(out,
	     "<details><summary>The same as a table</summary><div class=wide><table><thead><tr>"
	     "<th scope=col>lane</th><th scope=col>what</th><th scope=col>from</th>"
	     "<th scope=col>took</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < lanes->list.n; i++)
		for (size_t k = 0; k < lanes->list.v[i].bars.n; k++) {
			const struct bar *bar = &lanes->list.v[i].bars.v[k];
			cleanup_free char *from = html_time(bar->from);
			cleanup_free char *took = html_time(bar->to - bar->from);

			html(out, "<tr><td>%s</td><td>%s%s</td><td>%s</td><td>%s</td></tr>\n",
			     lanes->list.v[i].name, bar->what,
			     bar->sort == SORT_FAILED ? " (failed)" : "", from, took);
		}
	html(out, "</tbody></table></div></details>\n");
}

static void drop_empty(struct lanes *lanes)
{
	size_t kept = 0;

	for (size_t i = 0; i < lanes->list.n; i++) {
		struct lane *lane = &lanes->list.v[i];

		if (lane->bars.n) {
			lanes->list.v[kept++] = *lane;
			continue;
		}
		free(lane->name);
		free(lane->text);
	}
	lanes->list.n = kept;
}

static void lanes_free(struct lanes *lanes)
{
	for (size_t i = 0; i < lanes->list.n; i++) {
		free(lanes->list.v[i].name);
		free(lanes->list.v[i].text);
		vec_free(&lanes->list.v[i].bars);
	}
	vec_free(&lanes->list);
}

void html_lanes(FILE *out, const struct page *page, enum stage s)
{
	const struct record_stage *stage = &page->record->stage[s];
	uint64_t whole = stage->duration ? stage->duration : 1;
	cleanup(lanes_free) struct lanes lanes = {0};
	cleanup_free char *took = html_time(stage->duration);

	add_works(&stage->vfs, &lanes);
	for (size_t i = 0; i < stage->changes.n; i++)
		add_change(stage, &stage->changes.v[i], &lanes);
	for (size_t i = 0; s == STAGE_GATE && i < page->record->measurements.list.n; i++)
		add_measurement(stage, &page->record->measurements.list.v[i], &lanes);
	drop_empty(&lanes);
	if (!lanes.list.n)
		return;
	html(out, "<section class=\"card stage\"><h3>Stage %s, %s</h3>\n", stage_name(s), took);
	put_key(out, &lanes);
	put_ticks(out, whole);
	for (size_t i = 0; i < lanes.list.n; i++)
		put_lane(out, page, &lanes.list.v[i], whole);
	put_table(out, &lanes);
	html(out, "</section>\n");
}
