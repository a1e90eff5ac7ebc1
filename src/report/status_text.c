/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The status record as an operator reads it. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "kinds/kind.h"
#include "report/admission.h"
#include "report/fold.h"
#include "report/json_text.h"
#include "report/pass.h"
#include "report/status.h"
#include "report/text.h"
#include "report/vfs.h"

enum { LABEL_WIDTH = 9, CAUSES_MOST = 10 };

struct page {
	FILE *out;
	const struct status *s;
	const struct screen *screen;
	struct fold_sets sets;
};

static double seconds_of(const json_t *obj, const char *key)
{
	return (double)json_integer_value(json_object_get(obj, key)) / 1e6;
}

/* "label:   TEXT", whole in a pipe. */
static void print_line(const struct page *p, const char *label, const char *text)
{
	cleanup_free char *line = xasprintf("%-*s%s", LABEL_WIDTH, label, text);

	if (p->screen->terminal)
		text_wrap(p->out, line, p->screen->columns, LABEL_WIDTH);
	else
		fprintf(p->out, "%s\n", line);
}

static void read_sets(struct page *p)
{
	json_t *sets = json_object_get(p->s->doc, "sets"), *members;
	const char *name;

	json_object_foreach(sets, name, members)
	{
		struct fold_set set = {.name = xstrdup(name)};

		for (size_t i = 0; i < json_array_size(members); i++)
			strv_add(&set.addresses, json_text_at(members, i));
		vec_push(&p->sets.list, set);
	}
}

/* --- the causes ------------------------------------------------------------------------------ */

/* "ID: fault; its cause and remedy". */
struct cause {
	char *id; /* "" of a sentence without one */
	char *fault;
	const char *rest; /* in the reason; or NULL */
};

struct causes {
	VEC(struct cause) list;
	VEC(struct fold_item) items;
};

static struct cause split(const char *reason)
{
	const char *colon = strstr(reason, ": "), *blank = strchr(reason, ' ');
	bool has_id = colon && blank > colon;
	const char *fault = has_id ? colon + 2 : reason, *rest = strstr(fault, "; ");

	return (struct cause){
		.id = has_id ? xstrndup(reason, (size_t)(colon - reason)) : xstrdup(""),
		.fault = rest ? xstrndup(fault, (size_t)(rest - fault)) : xstrdup(fault),
		.rest = rest ? rest + 2 : NULL,
	};
}

static void causes_free(struct causes *c)
{
	for (size_t i = 0; i < c->list.n; i++) {
		free(c->list.v[i].id);
		free(c->list.v[i].fault);
	}
	vec_free(&c->list);
	vec_free(&c->items);
}

static void read_causes(const struct status *s, struct causes *ret)
{
	const json_t *reasons = json_object_get(s->doc, "reasons");

	for (size_t i = 0; i < json_array_size(reasons); i++) {
		struct cause cause = split(json_text_at(reasons, i));
		struct fold_item item = {"", cause.id, cause.fault, cause.rest};

		vec_push(&ret->list, cause);
		vec_push(&ret->items, item);
	}
}

static const json_t *change_of(const struct status *s, const char *id)
{
	json_t *stages = json_object_get(s->doc, "stages"), *stage;
	const char *name;

	json_object_foreach(stages, name, stage)
	{
		const json_t *changes = json_object_get(stage, "changes");

		for (size_t i = 0; i < json_array_size(changes); i++)
			if (streq(json_text(json_array_get(changes, i), "id", ""), id))
				return json_array_get(changes, i);
	}
	return NULL;
}

/* Of a value that the cause says nothing more about: railhead sets it. NULL: of others. */
static char *usual_remedy(const struct page *p, const char *id)
{
	const json_t *c = change_of(p->s, id);
	const struct kind *kind = kind_find(json_text(c, "kind", ""));
	cleanup_free char *place = text_place(json_text(c, "origin", "the profile"));

	if (!c || !kind || !kind->set ||
	    !streq(json_text(c, "state", ""), state_name(CHANGE_DIFFERS)))
		return NULL;
	return xasprintf("`railhead apply` sets the value of %s; then run `railhead gate`", place);
}

static void print_remedy(const struct page *p, const struct cause *cause)
{
	cleanup_free char *usual = cause->rest ? NULL : usual_remedy(p, cause->id);

	if (usual)
		print_line(p, "remedy:", usual);
	else if (cause->rest && p->screen->terminal) /* else it is in the line */
		print_line(p, "remedy:", cause->rest);
}

/* A text for each line, the first one of the first cause. */
static void cause_lines(const struct page *p, const struct causes *causes, struct strv *ret)
{
	const json_t *reasons = json_object_get(p->s->doc, "reasons");
	cleanup(fold_free) struct fold f = {0};

	for (size_t i = 0; !p->screen->terminal && i < json_array_size(reasons); i++)
		strv_add(ret, json_text_at(reasons, i));
	if (!p->screen->terminal)
		return;
	fold(causes->items.v, causes->items.n, &p->sets, p->screen->utf8, &f);
	for (size_t r = 0; r < f.rows.n && r < CAUSES_MOST; r++) {
		cleanup_free char *subject = fold_subject(&f.rows.v[r]);
		cleanup_free char *text = xasprintf("%s%s%s", subject, *subject ? ": " : "",
						    f.rows.v[r].items.v[0]->value);

		strv_add(ret, text);
	}
	if (f.rows.n > CAUSES_MOST) {
		cleanup_free char *more = xasprintf("%zu more (--all)", f.rows.n - CAUSES_MOST);

		strv_add(ret, more);
	}
}

/* off and none are no judgement of the node: what admits work then is the site. */
static const char *admission(const struct status *s)
{
	const char *v = status_verdict(s);

	if (!status_admitted(s))
		return "work is not admitted";
	if (!status_verdict_admits(s))
		return "work is admitted by hand";
	return streq(v, verdict_name(VERDICT_OFF)) || streq(v, verdict_name(VERDICT_NONE))
		       ? "work is admitted by railhead.conf"
		       : "work is admitted";
}

static enum style style_of(const struct status *s)
{
	if (status_admitted(s))
		return STYLE_GOOD;
	return streq(status_verdict(s), verdict_name(VERDICT_BLOCKED)) ? STYLE_BAD : STYLE_DIFFERS;
}

static void print_verdict(const struct page *p)
{
	cleanup(causes_free) struct causes causes = {0};
	cleanup_strv struct strv lines = {0};
	cleanup_free char *first = NULL;

	read_causes(p->s, &causes);
	cause_lines(p, &causes, &lines);
	first = xasprintf("%s (%s)%s%s", status_verdict(p->s), admission(p->s), lines.n ? ": " : "",
			  lines.n ? lines.v[0] : "");
	style_begin(p->out, style_of(p->s));
	print_line(p, "verdict:", first);
	style_end(p->out);
	for (size_t i = 1; i < lines.n; i++)
		print_line(p, "and:", lines.v[i]);
	if (causes.list.n)
		print_remedy(p, &causes.list.v[0]);
}

/* --- what else ------------------------------------------------------------------------------- */

static void print_waiting(const struct page *p)
{
	cleanup_free char *waited = NULL, *most = NULL, *text = NULL;
	struct waiting w;

	if (!status_waiting(p->s, &w) ||
	    !streq(status_verdict(p->s), verdict_name(VERDICT_WAITING)))
		return;
	waited = format_duration(w.looked - w.since);
	most = format_duration(w.until - w.since);
	text = xasprintf("%s until the last look, at most %s in all", waited, most);
	print_line(p, "waiting:", text);
}

static void print_profile(const struct page *p)
{
	const json_t *profile = json_object_get(p->s->doc, "profile");
	cleanup_free char *text = NULL;
	const char *version;

	if (!profile)
		return;
	version = json_text(profile, "version", "");
	text = xasprintf("%s%s%s (%.12s, %s)", json_text(profile, "name", ""), *version ? " " : "",
			 version, json_text(profile, "digest", ""), json_text(profile, "file", ""));
	print_line(p, "profile:", text);
}

static double time_of_vfs(const json_t *vfs)
{
	return seconds_of(vfs, "numvfs_usec") + seconds_of(vfs, "bind_max_usec");
}

static void print_pf(const struct page *p, const json_t *vfs, const char *of)
{
	cleanup_free char *line = vfs_line(vfs);

	fprintf(p->out, "  %-8s %-12s  %s%s\n", "vfs", json_text(vfs, "pf", ""), line, of);
}

/* On a terminal the slowest PF stands for all, unless one has failed. */
static void print_vfs(const struct page *p, const json_t *list)
{
	cleanup_free char *of = xasprintf(", the slowest of %zu PFs", json_array_size(list));
	const json_t *slowest = json_array_get(list, 0);
	bool all = !p->screen->terminal || json_array_size(list) < 2;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *vfs = json_array_get(list, i);

		all |= json_integer_value(json_object_get(vfs, "failed")) > 0;
		if (time_of_vfs(vfs) > time_of_vfs(slowest))
			slowest = vfs;
	}
	if (!all)
		print_pf(p, slowest, of);
	for (size_t i = 0; all && i < json_array_size(list); i++)
		print_pf(p, json_array_get(list, i), "");
}

static void print_stages(const struct page *p)
{
	json_t *stages = json_object_get(p->s->doc, "stages");

	for (enum stage st = 0; st < STAGE_COUNT; st++) {
		const json_t *stage = json_object_get(stages, stage_name(st));
		json_t *counts = json_object_get(stage, "counts"), *n;
		const char *state;

		if (!stage)
			continue;
		fprintf(p->out, "  %-8s %7.3f s ", stage_name(st),
			seconds_of(stage, "duration_usec"));
		json_object_foreach(counts, state, n)
			fprintf(p->out, " %s=%lld", state, (long long)json_integer_value(n));
		fputc('\n', p->out);
		if (*json_text(stage, "lacks", ""))
			fprintf(p->out, "  %-8s %s\n", "lacks", json_text(stage, "lacks", ""));
		print_vfs(p, json_object_get(stage, "vfs"));
	}
}

static void print_devices(const struct page *p)
{
	json_t *devices = json_object_get(p->s->doc, "devices"), *device;
	const char *addr;

	json_object_foreach(devices, addr, device)
		fprintf(p->out, "  %-8s %-12s  applied again %lld s after boot, in %.3f s: %s\n",
			"device", addr, (long long)seconds_of(device, "applied_usec"),
			seconds_of(device, "duration_usec"), json_text(device, "lost", ""));
}

/* --- the numbers ----------------------------------------------------------------------------- */

static const char *measured_of(const json_t *m)
{
	return json_text(m, "measured", "no number");
}

/* "46.1 GB/s", or "46.1 GB/s to 46.9 GB/s" of several in one unit. */
static char *range_of(const struct fold_row *row, const struct fold_item *items, const json_t *list)
{
	const char *least = NULL, *most = NULL;

	for (size_t i = 0; i < row->items.n; i++) {
		const char *measured =
			measured_of(json_array_get(list, (size_t)(row->items.v[i] - items)));

		if (!least || strtod(measured, NULL) < strtod(least, NULL))
			least = measured;
		if (!most || strtod(measured, NULL) > strtod(most, NULL))
			most = measured;
	}
	return streq(least, most) ? xstrdup(least) : xasprintf("%s to %s", least, most);
}

/* What is measured in another unit is another line. */
static const char *unit_of(const json_t *m)
{
	const char *unit = strchr(measured_of(m), ' ');

	return unit ? unit : "";
}

static void print_folded_numbers(const struct page *p, const json_t *list)
{
	size_t n = json_array_size(list);
	struct fold_item *items = xcalloc(n + 1, sizeof(*items));
	cleanup(fold_free) struct fold f = {0};

	for (size_t i = 0; i < n; i++) {
		const json_t *m = json_array_get(list, i);

		items[i] = (struct fold_item){json_text(m, "outcome", ""), json_text(m, "id", ""),
					      json_text(m, "wanted", "nothing"), unit_of(m)};
	}
	fold(items, n, &p->sets, p->screen->utf8, &f);
	for (size_t r = 0; r < f.rows.n; r++) {
		const struct fold_row *row = &f.rows.v[r];
		cleanup_free char *range = range_of(row, items, list);
		cleanup_free char *subject = fold_subject(row);
		cleanup_free char *line =
			xasprintf("  %-14s %s: %s, required %s", row->items.v[0]->label, subject,
				  range, row->items.v[0]->value);

		text_wrap(p->out, line, p->screen->columns, 4);
	}
	free(items);
}

static void print_numbers(const struct page *p)
{
	const json_t *list = json_object_get(p->s->doc, "measurements");
	cleanup_free char *when = pass_line(p->s, time(NULL));

	if (when)
		print_line(p, "numbers:", when);
	if (p->screen->terminal)
		print_folded_numbers(p, list);
	for (size_t i = 0; !p->screen->terminal && i < json_array_size(list); i++) {
		const json_t *m = json_array_get(list, i);

		fprintf(p->out, "  %-14s %-28s %s, required %s\n", json_text(m, "outcome", ""),
			json_text(m, "id", ""), measured_of(m), json_text(m, "wanted", "nothing"));
	}
}

void status_render(FILE *out, const struct status *s, const struct screen *screen)
{
	const json_t *warnings = json_object_get(s->doc, "warnings");
	cleanup_free char *by_hand = admission_line(s->doc);
	struct page p = {.out = out, .s = s, .screen = screen};

	read_sets(&p);
	print_verdict(&p);
	if (by_hand)
		print_line(&p, "by hand:", by_hand);
	print_waiting(&p);
	for (size_t i = 0; i < json_array_size(warnings); i++)
		print_line(&p, "warning:", json_text_at(warnings, i));
	print_profile(&p);
	print_stages(&p);
	print_devices(&p);
	print_numbers(&p);
	if (!status_admitted(s))
		print_line(&p, "look:",
			   "`railhead verify` (values), `journalctl -b -u 'railhead-*'` (log), "
			   "`railhead status --all` (all figures)");
	fold_sets_free(&p.sets);
}
