/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/quantile.h"
#include "base/str.h"
#include "engine/history.h"

enum {
	NOISE_LEAST = 8,   /* earlier figures needed to find their noise */
	NOISE_UNKNOWN = 5, /* percent: the smallest reported change with fewer figures */
	NOISE_PERCENT = 1, /* percent: the smallest reported change with that many figures */
	NOISE_TIMES = 6,   /* in typical differences between two boots */
};

void past_changes_free(struct past_changes *c)
{
	for (size_t i = 0; i < c->list.n; i++) {
		free(c->list.v[i].part);
		free(c->list.v[i].was);
		free(c->list.v[i].now);
	}
	vec_free(&c->list);
	vec_free(&c->steps);
}

static void add(struct past_changes *ret, const char *part, const char *was, const char *now)
{
	struct past_change c = {xstrdup(part), was ? xstrdup(was) : NULL, now ? xstrdup(now) : NULL,
				1};

	vec_push(&ret->list, c);
}

/* --- software ----------------------------------------------------------------------------- */

static void add_if_other(struct past_changes *ret, const char *part, const char *was,
			 const char *now)
{
	if (!streq(was, now))
		add(ret, part, was, now);
}

/* Compares the name, else the version, else (if the version was not raised) the digest. */
static void compare_profiles(const struct boot_past *was, const struct boot_past *now,
			     struct past_changes *ret)
{
	cleanup_free char *before = xasprintf("%.12s", was->digest);
	cleanup_free char *after = xasprintf("%.12s", now->digest);

	if (!streq(was->profile, now->profile))
		add(ret, "profile", *was->profile ? was->profile : NULL,
		    *now->profile ? now->profile : NULL);
	else if (!streq(was->version, now->version))
		add(ret, "profile", was->version, now->version);
	else
		add_if_other(ret, "profile", before, after);
}

/* --- parts -------------------------------------------------------------------------------- */

bool past_part_is_told(const char *part)
{
	static const char *const names[] = {"profile", "kernel", "railhead", "build of the kernel"};

	return str_index(part, names, array_len(names)) >= 0;
}

static bool same_text(const char *a, const char *b)
{
	return (!a && !b) || (a && b && streq(a, b));
}

/* A listed change that is the same for another function; NULL: none. */
static struct past_change *find_alike(struct past_changes *changes, const struct binding_name *name,
				      const char *was, const char *now)
{
	for (size_t i = 0; i < changes->list.n; i++) {
		struct past_change *c = &changes->list.v[i];
		struct binding_name other = binding_name(c->part);

		if (binding_name_alike(&other, name) && same_text(c->was, was) &&
		    same_text(c->now, now))
			return c;
	}
	return NULL;
}

static const char *value_of(const struct binding_part *part)
{
	return !part ? NULL : binding_is_shown(part->value) ? part->value : "";
}

static void compare_part(const char *name, const struct binding_part *was,
			 const struct binding_part *now, struct past_changes *ret)
{
	const char *before = value_of(was), *after = value_of(now);
	struct binding_name parts = binding_name(name);
	struct past_change *alike;

	if (past_part_is_told(name) || (was && now && streq(was->value, now->value)))
		return;
	/* Of a function that is gone or new only the model: the other parts follow from it. */
	if ((!was || !now) && parts.address && !binding_name_is(&parts, "model"))
		return;
	alike = find_alike(ret, &parts, before, after);
	if (alike)
		alike->times++;
	else
		add(ret, name, before, after);
}

static void compare_parts(const struct binding *was, const struct binding *now,
			  struct past_changes *ret)
{
	for (size_t i = 0; i < now->list.n; i++)
		compare_part(now->list.v[i].name, binding_find(was, now->list.v[i].name),
			     &now->list.v[i], ret);
	for (size_t i = 0; i < was->list.n; i++)
		if (!binding_find(now, was->list.v[i].name))
			compare_part(was->list.v[i].name, &was->list.v[i], NULL, ret);
}

/* Skips boots without a profile, because these have no parts. */
static const struct binding *parts_before(const struct history *h, size_t boot)
{
	for (size_t i = boot; i-- > 0;)
		if (h->boots.v[i].parts.list.n)
			return &h->boots.v[i].parts;
	return NULL;
}

/* --- figures ------------------------------------------------------------------------------ */

/* A value of a boot; 0: the boot has no point of this series. */
typedef double (*value_fn)(const struct boot_past *b, const void *series);

static double figure_of(const struct boot_past *b, const void *series)
{
	const struct past_figure *f = boot_past_figure(b, series);

	return f && f->fresh ? f->value : 0;
}

static double time_of(const struct boot_past *b, const void *series)
{
	return (double)boot_past_time(b, *(const enum stage *)series);
}

/* The values of a series before that boot, the latest last. Returns their number. */
static size_t earlier(const struct history *h, size_t boot, value_fn value, const void *series,
		      double ret[TREND_WINDOW])
{
	size_t n = TREND_WINDOW;

	for (size_t i = boot; i-- > 0 && n;) {
		double v = value(&h->boots.v[i], series);

		if (v > 0)
			ret[--n] = v;
	}
	memmove(ret, ret + n, (TREND_WINDOW - n) * sizeof(*ret));
	return TREND_WINDOW - n;
}

/*
 * The difference, in percent, that a healthy node's figure does not reach from one boot to the
 * next.
 */
static double noise_of(const double *v, size_t n)
{
	double diffs[TREND_WINDOW], noise;

	if (n < NOISE_LEAST)
		return NOISE_UNKNOWN;
	for (size_t i = 1; i < n; i++)
		diffs[i - 1] = 100 * fabs(v[i] / v[i - 1] - 1);
	noise = NOISE_TIMES * median_of(diffs, n - 1);
	return noise > NOISE_PERCENT ? noise : NOISE_PERCENT;
}

double history_figure_noise(const struct history *h, size_t boot, const struct past_figure *f)
{
	double before[TREND_WINDOW];

	return noise_of(before, earlier(h, boot, figure_of, f, before));
}

uint64_t boot_past_time(const struct boot_past *b, enum stage stage)
{
	return stage == STAGE_COUNT ? b->judged : b->stage[stage].duration;
}

double history_time_noise(const struct history *h, size_t boot, enum stage stage)
{
	double before[TREND_WINDOW];

	return noise_of(before, earlier(h, boot, time_of, &stage, before));
}

static void compare_figures(const struct history *h, size_t boot, struct past_changes *ret)
{
	const struct boot_past *b = &h->boots.v[boot];
	double before[TREND_WINDOW];

	for (size_t i = 0; i < b->figures.n; i++) {
		const struct past_figure *f = &b->figures.v[i];
		size_t n = f->fresh ? earlier(h, boot, figure_of, f, before) : 0;
		double percent = n ? 100 * (f->value / before[n - 1] - 1) : 0;

		if (n && fabs(percent) > noise_of(before, n))
			vec_push(&ret->steps, ((struct past_step){f, percent}));
	}
}

void history_changes(const struct history *h, size_t boot, struct past_changes *ret)
{
	const struct boot_past *now = &h->boots.v[boot], *was = boot ? now - 1 : NULL;
	const struct binding *parts = parts_before(h, boot);

	*ret = (struct past_changes){0};
	if (!was)
		return;
	compare_profiles(was, now, ret);
	add_if_other(ret, "kernel", was->kernel, now->kernel);
	add_if_other(ret, "railhead", was->railhead, now->railhead);
	if (parts && now->parts.list.n)
		compare_parts(parts, &now->parts, ret);
	compare_figures(h, boot, ret);
}
