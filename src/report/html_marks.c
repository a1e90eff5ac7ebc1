/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "report/fold.h"
#include "report/html.h"
#include "report/html_parts.h"

enum { LINKS_MAX = 8 };

void html_badge(FILE *out, enum mark_grade g)
{
	html(out, "<strong class=\"badge %s\">%s</strong>", mark_grade_name(g), mark_grade_name(g));
}

/* Links to the boxes of the row's devices, each once. */
static void put_links(FILE *out, const struct page *page, const struct fold_row *row)
{
	const struct node *node = page->node;
	cleanup_strv struct strv seen = {0};

	for (size_t i = 0; i < row->items.n; i++) {
		struct id_subject on = id_subject_of(row->items.v[i]->id);

		if (*on.addr && node_find(node, on.addr) && !strv_contains(&seen, on.addr))
			strv_add(&seen, on.addr);
	}
	for (size_t i = 0; page->record && i < page->record->missing.list.n; i++)
		if (strv_contains(&page->record->missing.list.v[i].ids, row->items.v[0]->id))
			strv_add(&seen, page->record->missing.list.v[i].addr);
	if (seen.n)
		html(out, "<span class=at>in the drawing: ");
	for (size_t i = 0; i < seen.n && i < LINKS_MAX; i++) {
		cleanup_free char *id = html_anchor(seen.v[i]);

		html(out, "%s<a href=\"#%s\">%s</a>", i ? " " : "", id, seen.v[i]);
	}
	if (seen.n > LINKS_MAX)
		html(out, " and %zu more", seen.n - LINKS_MAX);
	if (seen.n)
		html(out, "</span>");
}

/* Leaves out the address in the device's own box. */
static void put_subject(FILE *out, const struct fold_row *row, bool whole)
{
	cleanup_free char *subject = whole ? fold_subject(row) : xstrdup(row->name);

	if (*subject)
		html(out, "<b>%s</b>", subject);
	if (!whole && row->items.n > 1)
		html(out, " (%zu)", row->items.n);
}

static void put_item(FILE *out, const struct page *page, const struct fold_row *row,
		     const struct mark *m, bool subjects)
{
	html(out, "<li class=\"mark %s\">", mark_grade_name(m->grade));
	html_badge(out, m->grade);
	if (m->fault)
		html(out, " <code>%s</code>", fault_code(m->fault));
	html(out, "<p>");
	put_subject(out, row, subjects);
	html(out, "%s%s</p>", *m->id ? ": " : "", m->what);
	if (m->remedy)
		html(out, "<p class=remedy><span>Remedy:</span> %s</p>", m->remedy);
	if (subjects)
		put_links(out, page, row);
	html(out, "</li>\n");
}

void html_marks(FILE *out, const struct page *page, const struct marks *marks, mark_filter *filter,
		const void *arg, bool subjects)
{
	static const struct record_sets none;
	struct fold_item *items = xcalloc(marks->list.n + 1, sizeof(*items));
	const struct mark **of = xcalloc(marks->list.n + 1, sizeof(const struct mark *));
	cleanup(fold_free) struct fold f = {0};
	size_t n = 0;

	for (size_t i = 0; i < marks->list.n; i++) {
		const struct mark *m = &marks->list.v[i];

		if (filter && !filter(m, arg))
			continue;
		of[n] = m;
		items[n++] =
			(struct fold_item){mark_grade_name(m->grade), m->id, m->what, m->remedy};
	}
	fold(items, n, page->record ? &page->record->sets : &none, true, &f);
	if (n)
		html(out, "<ul class=marks>\n");
	for (size_t r = 0; r < f.rows.n; r++)
		put_item(out, page, &f.rows.v[r], of[f.rows.v[r].items.v[0] - items], subjects);
	if (n)
		html(out, "</ul>\n");
	free(items);
	free(of);
}
