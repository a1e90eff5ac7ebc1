/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside the page (report/page.h): its parts, one file each. */
#pragma once

#include <stdio.h>

#include "report/marks.h"
#include "report/page.h"

/* The style sheet, as the text of an element. */
void html_style(FILE *out);

/* Selects the marks to show; NULL: all. */
typedef bool mark_filter(const struct mark *m, const void *arg);
/*
 * A list of the marks that the filter selects; equal marks of several devices are one item.
 * subjects: each item names its devices, with links to their boxes.
 */
void html_marks(FILE *out, const struct page *page, const struct marks *marks, mark_filter *filter,
		const void *arg, bool subjects);
/* A term of a <dl>, unless its text is NULL or empty. */
void html_term(FILE *out, const char *term, const char *text);
/* The framed word of a grade. */
void html_badge(FILE *out, enum mark_grade g);

/* "3.2 ms", "12.346 s"; whole units from a minute up. The caller frees. */
char *html_time(uint64_t usec);

/* The machine, its sockets and NUMA nodes, the functions, NIC-GPU pairs, IOMMU groups. */
void html_node(FILE *out, const struct page *page, const struct marks *marks);
/* From page->record: stages, their lanes, waits, devices that came back. */
void html_timeline(FILE *out, const struct page *page);
/* The lanes of a stage; nothing if the stage neither changed nor measured anything. */
void html_lanes(FILE *out, const struct page *page, enum stage s);
/* From page->record: each figure of the gate against its threshold. */
void html_figures(FILE *out, const struct page *page);
/*
 * The history of a figure as a small chart, the newest value last, with a line at the threshold
 * (NAN: none); nothing for fewer than two values.
 */
void html_history(FILE *out, const double *values, size_t n, double threshold,
		  enum quantity quantity);
