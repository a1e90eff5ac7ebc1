/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/table.h"

#include "base/mem.h"
#include "base/str.h"
#include "report/text.h"

enum { COLUMNS_MAX = 8 };

static size_t columns(const struct table *t)
{
	size_t n = 0;

	while (n < COLUMNS_MAX && t->heading[n])
		n++;
	return n;
}

void table_row(struct table *t, const char *const *cells)
{
	struct strv row = {0};

	for (size_t i = 0; i < columns(t); i++) {
		strv_add(&row, cells[i] ? cells[i] : "");
		str_make_line(row.v[i]);
	}
	vec_push(&t->rows, row);
}

static void print_aligned(FILE *out, const char *const *cells, const size_t *widths, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		/* no blanks after the last word of a row */
		bool last = true;

		for (size_t j = i + 1; j < n; j++)
			last &= !*cells[j];
		fputs(cells[i], out);
		if (last)
			break;
		fprintf(out, "%*s", (int)(widths[i] - text_width(cells[i]) + 2), "");
	}
	fputc('\n', out);
}

static void measure(const struct table *t, size_t *widths)
{
	for (size_t i = 0; i < columns(t); i++) {
		widths[i] = text_width(t->heading[i]);
		for (size_t r = 0; r < t->rows.n; r++) {
			size_t w = text_width(t->rows.v[r].v[i]);

			widths[i] = w > widths[i] ? w : widths[i];
		}
	}
}

void table_print(FILE *out, const struct table *t, bool aligned)
{
	size_t widths[COLUMNS_MAX];

	if (!t->rows.n)
		return;
	measure(t, widths);
	if (aligned)
		print_aligned(out, t->heading, widths, columns(t));
	for (size_t r = 0; r < t->rows.n; r++) {
		const struct strv *row = &t->rows.v[r];

		if (aligned) {
			print_aligned(out, (const char *const *)row->v, widths, row->n);
			continue;
		}
		fputs(t->name, out);
		for (size_t i = 0; i < row->n; i++)
			fprintf(out, "\t%s", row->v[i]);
		fputc('\n', out);
	}
}

void table_free(struct table *t)
{
	for (size_t r = 0; r < t->rows.n; r++)
		strv_free(&t->rows.v[r]);
	vec_free(&t->rows);
}
