/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "engine/history.h"

enum { TOLD_MOST = 4 };

bool past_figure_same(const struct past_figure *a, const struct past_figure *b)
{
	return streq(a->key, b->key) && streq(a->subject, b->subject) && streq(a->check, b->check);
}

const struct past_figure *boot_past_figure(const struct boot_past *b, const struct past_figure *f)
{
	for (size_t i = 0; i < b->figures.n; i++)
		if (past_figure_same(&b->figures.v[i], f))
			return &b->figures.v[i];
	return NULL;
}

bool past_figure_more_is_worse(const struct past_figure *f)
{
	return quantities[f->quantity].at_most;
}

/* The segment of each boot, by its index; a boot without known parts starts no segment. */
static void number_segments(const struct history *h, size_t *segment)
{
	const struct binding *last = NULL;
	size_t n = 0;

	for (size_t i = 0; i < h->boots.n; i++) {
		const struct binding *parts = &h->boots.v[i].parts;

		if (parts->list.n) {
			n += last && !binding_same(parts, last);
			last = parts;
		}
		segment[i] = n;
	}
}

/* The latest boot with measurements. */
static const struct boot_past *latest(const struct history *h)
{
	for (size_t i = h->boots.n; i-- > 0;)
		if (h->boots.v[i].figures.n)
			return &h->boots.v[i];
	return NULL;
}

static void judge(const struct history *h, const size_t *segment, const struct past_figure *figure,
		  struct past_trends *ret)
{
	struct past_trend t = {.figure = figure};
	VEC(struct trend_point) points = {0};

	for (size_t i = 0; i < h->boots.n; i++) {
		const struct past_figure *f = boot_past_figure(&h->boots.v[i], figure);

		if (f && f->fresh && f->value > 0)
			vec_push(&points, ((struct trend_point){i, segment[i], f->value}));
	}
	if (trend_find(points.v, points.n, past_figure_more_is_worse(figure), &t.trend))
		vec_push(&ret->list, t);
	vec_free(&points);
}

void history_trends(const struct history *h, struct past_trends *ret)
{
	const struct boot_past *boot = latest(h);
	cleanup_free size_t *segment = xcalloc(h->boots.n + 1, sizeof(*segment));

	number_segments(h, segment);
	for (size_t i = 0; boot && i < boot->figures.n; i++)
		judge(h, segment, &boot->figures.v[i], ret);
}

char *past_trend_text(const struct past_trend *t)
{
	const struct past_figure *f = t->figure;
	cleanup_free char *now = quantity_format(f->quantity, f->value);

	return xasprintf("%s %s %s: %s from boot to boot, by %.1f%% over %zu boots, and is %s now",
			 f->check, f->subject, f->key, t->trend.percent < 0 ? "falls" : "rises",
			 fabs(t->trend.percent), t->trend.boots, now);
}

void history_trends_told(const struct history *h, struct strv *ret)
{
	struct past_trends all = {0};

	history_trends(h, &all);
	strv_free(ret);
	for (size_t i = 0; i < all.list.n && i < TOLD_MOST; i++) {
		cleanup_free char *text = past_trend_text(&all.list.v[i]);

		strv_add(ret, text);
	}
	if (all.list.n > TOLD_MOST) {
		cleanup_free char *more =
			xasprintf("%zu more (`railhead history`)", all.list.n - TOLD_MOST);

		strv_add(ret, more);
	}
	vec_free(&all.list);
}
