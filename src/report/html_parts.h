/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the page (report/page.h): its parts, one file each. */
#pragma once

#include <stdio.h>

#include "report/marks.h"
#include "report/page.h"

/* The style sheet, as the text of an element. */
void html_style(FILE *out);

/* What of all marks is shown; NULL: all. */
typedef bool mark_filter(const struct mark *m, const void *arg);
/*
 * A list of those that the filter lets through; marks that say the same of several devices are one
 * item. subjects: each item names the devices that it is about, with links to their boxes.
 */
void html_marks(FILE *out, const struct page *page, const struct marks *marks, mark_filter *filter,
		const void *arg, bool subjects);
/* The word of a grade in a frame. */
void html_badge(FILE *out, enum mark_grade g);

/* "3.2 ms", "12.346 s"; in whole units from a minute on. The caller frees. */
char *html_time(uint64_t usec);

/* The machine, its sockets and NUMA nodes, the functions, NIC-GPU pairs, IOMMU groups. */
void html_node(FILE *out, const struct page *page, const struct marks *marks);
/* Of page->record: stages, their lanes, waits, devices that came back. */
void html_timeline(FILE *out, const struct page *page);
/* One of those stages; nothing where it neither changed nor measured anything. */
void html_lanes(FILE *out, const struct page *page, enum stage s);
/* Of page->record: each figure of the gate against its threshold. */
void html_figures(FILE *out, const struct page *page);
/*
 * The history of a figure as a small chart, the newest value last, with a line at the threshold
 * (NAN: none); nothing for less than two values.
 */
void html_history(FILE *out, const double *values, size_t n, double threshold,
		  enum quantity quantity);
