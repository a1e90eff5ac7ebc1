/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/page.h"

#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "report/status_text.h"
#include "report/html.h"
#include "report/html_parts.h"

static char *product_of(const struct node *node)
{
	const char *vendor = node_dmi(node, "sys_vendor"), *name = node_dmi(node, "product_name");
	char *line;

	if (!*vendor && !*name)
		return xstrdup("Unknown machine");
	line = xasprintf("%s%s%s", vendor, *vendor && *name ? " " : "", name);
	str_make_line(line);
	return line;
}

static const char *verdict_word(const struct record *r)
{
	return r->judged ? verdict_name(r->verdict.kind) : "waiting";
}

static void put_head(FILE *out, const struct page *page, const char *product)
{
	const struct record *r = page->record;

	html(out, "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
		  "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n"
		  "<meta name=color-scheme content=\"light dark\">\n");
	html(out, "<title>%s%s%s - railhead</title>\n", product, r ? ": " : "",
	     r ? verdict_word(r) : "");
	html(out, "<style>\n");
	html_style(out);
	html(out, "</style>\n</head>\n<body>\n");
}

/* --- the verdict ----------------------------------------------------------------------------- */

static const char *verdict_class(const struct record *r)
{
	if (record_admits(r))
		return "good";
	return r->judged && r->verdict.kind == VERDICT_BLOCKED ? "blocks" : "pending";
}

static char *profile_of(const struct record *r)
{
	const struct record_profile *p = &r->profile;

	if (!p->name)
		return NULL;
	return xasprintf("%s%s%s (%.12s, %s)", p->name, *p->version ? " " : "", p->version,
			 p->digest, p->file);
}

static char *skipped_of(const struct record *r)
{
	return r->verdict.skipped.n ? strv_some(&r->verdict.skipped, 8) : NULL;
}

static void put_verdict(FILE *out, const struct record *r)
{
	cleanup_free char *by_hand = record_admission_line(r), *profile = profile_of(r);
	cleanup_free char *skipped = skipped_of(r), *age = age_text(r);
	cleanup_free char *maintenance = record_maintenance_line(r);

	html(out,
	     "<section class=\"verdict %s\" aria-label=verdict>\n<p class=word>%s</p>\n<p>%s</p>\n",
	     verdict_class(r), verdict_word(r), r->judged ? admission_text(r) : record_why_none(r));
	html(out, "<dl class=terms>\n");
	html_term(out, "Age", age);
	html_term(out, "By hand", by_hand);
	html_term(out, "By hand", maintenance);
	html_term(out, "Profile", profile);
	html_term(out, "Without", skipped);
	for (size_t i = 0; i < r->warnings.n; i++)
		html_term(out, "Warning", r->warnings.v[i]);
	html(out, "</dl>\n</section>\n");
}

/* --- the problems ---------------------------------------------------------------------------- */

static void put_problems(FILE *out, const struct page *page, const struct marks *marks)
{
	size_t count[MARK_GRADE_COUNT] = {0};

	if (!marks->list.n && !page->record)
		return;
	for (size_t i = 0; i < marks->list.n; i++)
		count[marks->list.v[i].grade]++;
	html(out,
	     "<section id=problems aria-labelledby=problems-h><h2 id=problems-h>Problems</h2>\n");
	if (!marks->list.n)
		html(out, "<p class=note>None%s.</p>\n",
		     page->record->judged ? "" : " is known yet");
	else
		html(out, "<p class=note>Keep work out: %zu. Warnings: %zu. Pending: %zu.</p>\n",
		     count[MARK_BLOCKS], count[MARK_WARNS], count[MARK_PENDING]);
	html_marks(out, page, marks, NULL, NULL, true);
	html(out, "</section>\n");
}

void page_render(FILE *out, const struct page *page)
{
	cleanup(marks_free) struct marks marks = {0};
	cleanup_free char *product = product_of(page->node);

	marks_find(page->node, page->inv, page->record, &marks);
	put_head(out, page, product);
	html(out, "<header><p class=by>railhead %s</p><h1>%s</h1></header>\n<main>\n",
	     page->record ? "status" : "survey", product);
	if (page->record)
		put_verdict(out, page->record);
	put_problems(out, page, &marks);
	html_node(out, page, &marks);
	if (page->record) {
		html_timeline(out, page);
		html_figures(out, page);
	}
	html(out, "</main>\n</body>\n</html>\n");
}
