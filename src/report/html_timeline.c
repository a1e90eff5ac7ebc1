/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The boot as a row of moments; its stages (html_lanes.c); the previous boots. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "report/html.h"
#include "report/html_parts.h"

enum { EARLIER_MOST = 12 };
enum { GAP_LEAST = 10000 }; /* microseconds; a shorter gap gets no box */

char *html_time(uint64_t usec)
{
	if (usec >= 60000000)
		return format_duration(usec);
	if (usec >= 1000000)
		return xasprintf("%.3f s", (double)usec / 1e6);
	return xasprintf("%.1f ms", (double)usec / 1e3);
}

/* --- the boot ------------------------------------------------------------------------------- */

/* An event: its time since the kernel started, and its duration. */
struct moment {
	uint64_t at, took;
	const char *class;
	char *name, *text;
};

struct moments {
	VEC(struct moment) list;
};

static void add_moment(struct moments *m, uint64_t at, uint64_t took, const char *class,
		       const char *name, char *text)
{
	vec_push(&m->list, ((struct moment){at, took, class, xstrdup(name), text}));
}

static char *counts_of(const struct record_stage *stage)
{
	struct str text = {0};

	for (enum change_state c = 0; c < CHANGE_STATE_COUNT; c++)
		if (stage->count[c])
			str_addf(&text, "%s%zu %s", text.len ? ", " : "", stage->count[c],
				 state_name(c));
	if (stage->lacks)
		str_addf(&text, "%slacked: %s", text.len ? "; " : "", stage->lacks);
	return text.len ? str_take(&text) : xstrdup("no changes");
}

static void add_stages(const struct record *r, struct moments *ret)
{
	for (enum stage s = 0; s < STAGE_COUNT; s++) {
		const struct record_stage *stage = &r->stage[s];
		bool failed = stage->count[CHANGE_FAILED];

		if (stage->ran)
			add_moment(ret, stage->started, stage->duration,
				   failed ? "stage failed" : "stage", stage_name(s),
				   counts_of(stage));
	}
}

static void add_window(const struct window *w, const char *name, struct moments *ret)
{
	if (w->until)
		add_moment(ret, w->since, 0, "device", name,
			   xasprintf("until %s, by %s: %s", w->ends, w->who, w->reason));
}

static void add_rest(const struct record *r, struct moments *ret)
{
	const struct waiting *w = &r->waiting;

	if (w->until)
		add_moment(ret, w->since, w->looked > w->since ? w->looked - w->since : 0, "wait",
			   "waiting", xstrdup("until the last look at the pending parts"));
	if (r->judged)
		add_moment(ret, r->judged_at, 0, "verdict", "verdict",
			   xstrdup(verdict_name(r->verdict.kind)));
	for (size_t i = 0; i < r->devices.n; i++)
		add_moment(ret, r->devices.v[i].applied_at, r->devices.v[i].duration, "device",
			   r->devices.v[i].addr,
			   xasprintf("came back and was set up again: %s", r->devices.v[i].lost));
	add_window(&r->admission, "admitted by hand", ret);
	add_window(&r->maintenance, "maintenance", ret);
}

static int by_time(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static void put_moment(FILE *out, const struct moment *m)
{
	cleanup_free char *at = html_time(m->at), *took = html_time(m->took);

	html(out, "<li class=\"%s\" style=\"flex-grow:%.2f\"><b>%s</b>", m->class,
	     1 + sqrt((double)m->took / 1e6), m->name);
	html(out, "<span>at %s%s%s</span><span>%s</span></li>\n", at, m->took ? ", took " : "",
	     m->took ? took : "", m->text);
}

static void put_gap(FILE *out, uint64_t usec, bool first)
{
	cleanup_free char *text = html_time(usec);

	html(out, "<li class=gap style=\"flex-grow:%.2f\"><span>%s</span><span>%s</span></li>\n",
	     sqrt((double)usec / 1e6), text, first ? "from the kernel's start" : "until the next");
}

static void put_moments(FILE *out, const struct page *page, const struct moments *m)
{
	uint64_t end = 0;

	html(out, "<ol class=boot>\n");
	if (page->reboots)
		html(out,
		     "<li class=reboot><b>%u reboot%s</b><span>by railhead since the last settled "
		     "verdict%s</span></li>\n",
		     page->reboots, page->reboots == 1 ? "" : "s",
		     page->reboot_due ? "; this boot has asked for the last" : "");
	for (size_t i = 0; i < m->list.n; i++) {
		const struct moment *one = &m->list.v[i];

		if (one->at > end + GAP_LEAST)
			put_gap(out, one->at - end, !end);
		put_moment(out, one);
		if (one->at + one->took > end)
			end = one->at + one->took;
	}
	html(out, "</ol>\n<p class=note>From left to right in the order of time; longer boxes took "
		  "longer, not to scale.</p>\n");
}

static void put_boot(FILE *out, const struct page *page)
{
	struct moments m = {0};

	add_stages(page->record, &m);
	add_rest(page->record, &m);
	if (m.list.n)
		qsort(m.list.v, m.list.n, sizeof(*m.list.v), by_time);
	if (m.list.n || page->reboots)
		put_moments(out, page, &m);
	else
		html(out, "<p class=note>%s.</p>\n", record_why_none(page->record));
	for (size_t i = 0; i < m.list.n; i++) {
		free(m.list.v[i].name);
		free(m.list.v[i].text);
	}
	vec_free(&m.list);
}

/* --- earlier boots --------------------------------------------------------------------------- */

static void put_past(FILE *out, const struct history *h, size_t i)
{
	const struct boot_past *b = &h->boots.v[i];
	cleanup_free char *when = history_time(h, i), *judged = html_time(b->judged);
	cleanup_free char *faults = strv_some(&b->faults, 2);

	html(out, "<li class=\"%s\"><b>%s</b><span>%s, after %s</span>",
	     b->admit ? "past-boot" : "past-boot failed", verdict_name(b->verdict), when, judged);
	if (b->reboots)
		html(out, "<span>behind %u reboot%s</span>", b->reboots,
		     b->reboots == 1 ? "" : "s");
	html(out, "<span>%s</span></li>\n", faults);
}

static void put_earlier(FILE *out, const struct page *page)
{
	const struct history *h = page->history;
	size_t n = h ? h->boots.n : 0;

	if (n && streq(h->boots.v[n - 1].boot_id, or_empty(page->record->boot_id)))
		n--;
	if (!n)
		return;
	html(out, "<section class=\"card stage\"><h3>Boots before this one</h3>\n<ol class=\"boot "
		  "past-boots\">\n");
	for (size_t i = n > EARLIER_MOST ? n - EARLIER_MOST : 0; i < n; i++)
		put_past(out, h, i);
	html(out, "</ol>\n</section>\n");
}

void html_timeline(FILE *out, const struct page *page)
{
	html(out,
	     "<section id=timeline aria-labelledby=timeline-h><h2 id=timeline-h>This boot</h2>\n");
	put_boot(out, page);
	for (enum stage s = 0; s < STAGE_COUNT; s++)
		if (page->record->stage[s].ran)
			html_lanes(out, page, s);
	put_earlier(out, page);
	html(out, "</section>\n");
}
