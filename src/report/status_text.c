/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/status_text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "report/fold.h"
#include "report/text.h"

enum { LABEL_WIDTH = 9, CAUSES_MOST = 10 };

struct page {
	FILE *out;
	const struct record *record;
	const struct screen *screen;
};

static double seconds(uint64_t usec)
{
	return (double)usec / 1e6;
}

#define print_line(p, label, ...) \
	text_labelled((p)->out, (p)->screen, label, LABEL_WIDTH, __VA_ARGS__)

/* --- the verdict ----------------------------------------------------------------------------- */

/* The verdicts off and none do not judge the node: work is admitted by the site's setting. */
const char *admission_text(const struct record *r)
{
	enum verdict_kind kind = r->verdict.kind;

	if (!record_admits(r))
		return "work is not admitted";
	if (!r->verdict.admit)
		return "work is admitted by hand";
	return kind == VERDICT_OFF || kind == VERDICT_NONE ? "work is admitted by railhead.conf"
							   : "work is admitted";
}

char *age_text(const struct record *r)
{
	if (r->unwatched)
		return xstrdup("nothing looks at the node again (railhead.conf: recheck: off)");
	if (!r->too_old)
		return NULL;
	return xasprintf("nothing has looked at the node for %u minutes; `systemctl status "
			 "railhead-recheck.timer railhead-recheck.service` says why, and `railhead "
			 "gate --recheck` looks now",
			 r->too_old);
}

/* In a pipe the line of a finding has its own remedy. */
static void print_remedy(const struct page *p, const struct finding *f)
{
	cleanup_free char *remedy = finding_next_step(f);

	if (remedy && (p->screen->terminal || !f->remedy))
		print_line(p, "remedy:", "%s", remedy);
}

/* A line for the members of a device set with the same finding. */
static void fold_lines(const struct page *p, struct strv *ret)
{
	const struct findings *findings = &p->record->verdict.findings;
	size_t n = findings->list.n;
	cleanup_free struct fold_item *items = xcalloc(n + 1, sizeof(*items));
	cleanup_strv struct strv whats = {0};
	cleanup(fold_free) struct fold f = {0};

	for (size_t i = 0; i < n; i++) {
		cleanup_free char *what = finding_what(&findings->list.v[i]);

		strv_add(&whats, what);
	}
	for (size_t i = 0; i < n; i++)
		items[i] = (struct fold_item){"", or_empty(findings->list.v[i].id), whats.v[i],
					      findings->list.v[i].remedy};
	fold(items, n, &p->record->sets, p->screen->utf8, &f);
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

/* One text for each line; the first text is the first finding. */
static void finding_lines(const struct page *p, struct strv *ret)
{
	const struct findings *findings = &p->record->verdict.findings;

	if (p->screen->terminal)
		fold_lines(p, ret);
	for (size_t i = 0; !p->screen->terminal && i < findings->list.n; i++) {
		cleanup_free char *text = finding_text(&findings->list.v[i]);

		strv_add(ret, text);
	}
}

enum style status_style(const struct record *r)
{
	if (record_admits(r))
		return STYLE_GOOD;
	return r->verdict.kind == VERDICT_BLOCKED ? STYLE_BAD : STYLE_DIFFERS;
}

/* "RH-NIC-LINK-WIDTH (reseat, 3 times), RH-GATE-NOT-YET (retry)": each once, in order. */
static void print_faults(const struct page *p)
{
	struct fault_seen seen[FAULT_COUNT];
	size_t n = findings_faults(&p->record->verdict.findings, seen);
	cleanup_str struct str text = {0};

	for (size_t i = 0; i < n; i++) {
		const struct fault_row *row = fault_row(seen[i].fault);

		str_addf(&text, "%s%s (%s", i ? ", " : "", row->code,
			 fault_action_name(row->action));
		if (seen[i].n > 1)
			str_addf(&text, ", %zu times", seen[i].n);
		str_add(&text, ")");
	}
	if (n)
		print_line(p, "faults:", "%s", text.s);
}

static void print_verdict(const struct page *p)
{
	const struct findings *findings = &p->record->verdict.findings;
	cleanup_strv struct strv lines = {0};

	finding_lines(p, &lines);
	style_begin(p->out, status_style(p->record));
	print_line(p, "verdict:", "%s (%s)%s%s", verdict_name(p->record->verdict.kind),
		   admission_text(p->record), lines.n ? ": " : "", lines.n ? lines.v[0] : "");
	style_end(p->out);
	for (size_t i = 1; i < lines.n; i++)
		print_line(p, "and:", "%s", lines.v[i]);
	if (findings->list.n)
		print_remedy(p, &findings->list.v[0]);
	print_faults(p);
}

/* Prints optional parts that the node lacks, or can't show, which the verdict ignores. */
static void print_skipped(const struct page *p)
{
	const struct strv *skipped = &p->record->verdict.skipped;
	cleanup(fold_free) struct fold f = {0};
	cleanup_str struct str text = {0};
	VEC(struct fold_item) items = {0};

	for (size_t i = 0; i < skipped->n; i++)
		vec_push(&items, ((struct fold_item){"", skipped->v[i], "", NULL}));
	fold(items.v, items.n, &p->record->sets, p->screen->utf8, &f);
	for (size_t r = 0; r < f.rows.n; r++) {
		cleanup_free char *subject = fold_subject(&f.rows.v[r]);

		str_addf(&text, "%s%s", r ? ", " : "", subject);
	}
	if (text.len)
		print_line(p, "without:", "%s", text.s);
	vec_free(&items);
}

/* Adds the stages that have run so far. */
static void add_stages(struct str *out, const struct record *r)
{
	const char *sep = "; stages: ";

	for (enum stage st = 0; st < STAGE_COUNT; st++)
		if (r->stage[st].ran) {
			str_addf(out, "%s%s", sep, stage_name(st));
			sep = ", ";
		}
}

char *status_line(const struct record *r)
{
	const struct findings *findings = &r->verdict.findings;
	cleanup_free char *first = NULL, *age = age_text(r);
	struct str out = {0};

	if (!r->judged)
		return xasprintf("waiting (%s)", record_why_none(r));
	str_addf(&out, "%s (%s)", verdict_name(r->verdict.kind), admission_text(r));
	if (r->too_old)
		str_addf(&out, ": %s", age);
	first = findings->list.n ? finding_text(&findings->list.v[0]) : NULL;
	str_addf(&out, "%s%s", first ? ": " : "", or_empty(first));
	if (findings->list.n > 1)
		str_addf(&out, "; and %zu more", findings->list.n - 1);
	if (r->verdict.kind == VERDICT_WAITING)
		add_stages(&out, r);
	return str_take(&out);
}

/* --- what else ------------------------------------------------------------------------------- */

static void print_waiting(const struct page *p)
{
	const struct waiting *w = &p->record->waiting;
	cleanup_free char *waited = NULL, *most = NULL;

	if (!w->until || p->record->verdict.kind != VERDICT_WAITING)
		return;
	waited = format_duration(w->looked - w->since);
	most = format_duration(w->until - w->since);
	print_line(p, "waiting:", "%s until the last look, at most %s in all", waited, most);
}

static void print_profile(const struct page *p)
{
	const struct record_profile *profile = &p->record->profile;

	if (profile->name)
		print_line(p, "profile:", "%s%s%s (%.12s, %s)", profile->name,
			   *profile->version ? " " : "", profile->version, profile->digest,
			   profile->file);
}

static uint64_t time_of(const struct vfs_work *w)
{
	return w->numvfs_time + w->bind_max;
}

static void print_pf(const struct page *p, const struct vfs_work *w, const char *of)
{
	cleanup_free char *line = vfs_work_line(w);

	fprintf(p->out, "  %-8s %-12s  %s%s\n", "vfs", w->pf, line, of);
}

/* On a terminal the slowest PF represents all, unless a PF failed. */
static void print_vfs(const struct page *p, const struct vfs_works *works)
{
	cleanup_free char *of = xasprintf(", the slowest of %zu PFs", works->list.n);
	const struct vfs_work *slowest = works->list.v;
	bool all = !p->screen->terminal || works->list.n < 2;

	for (size_t i = 0; i < works->list.n; i++) {
		const struct vfs_work *w = &works->list.v[i];

		all |= w->failed > 0;
		if (time_of(w) > time_of(slowest))
			slowest = w;
	}
	if (!all)
		print_pf(p, slowest, of);
	for (size_t i = 0; all && i < works->list.n; i++)
		print_pf(p, &works->list.v[i], "");
}

static void print_stages(const struct page *p)
{
	for (enum stage st = 0; st < STAGE_COUNT; st++) {
		const struct record_stage *stage = &p->record->stage[st];

		if (!stage->ran)
			continue;
		fprintf(p->out, "  %-8s %7.3f s ", stage_name(st), seconds(stage->duration));
		for (enum change_state c = 0; c < CHANGE_STATE_COUNT; c++)
			if (stage->count[c])
				fprintf(p->out, " %s=%zu", state_name(c), stage->count[c]);
		fputc('\n', p->out);
		if (stage->lacks)
			fprintf(p->out, "  %-8s %s\n", "lacks", stage->lacks);
		print_vfs(p, &stage->vfs);
	}
}

static void print_devices(const struct page *p)
{
	for (size_t i = 0; i < p->record->devices.n; i++) {
		const struct record_device *d = &p->record->devices.v[i];

		fprintf(p->out, "  %-8s %-12s  applied again %llu s after boot, in %.3f s: %s\n",
			"device", d->addr, (unsigned long long)(d->applied_at / 1000000),
			seconds(d->duration), d->lost);
	}
}

/* --- the numbers ----------------------------------------------------------------------------- */

static const char *measured_of(const struct measurement *m)
{
	return m->measured ? m->measured : "no number";
}

static const char *wanted_of(const struct measurement *m)
{
	return m->wanted ? m->wanted : "nothing";
}

/* "46.1 GB/s", or "46.1 GB/s to 46.9 GB/s" for several in one unit. */
static char *range_of(const struct fold_row *row, const struct fold_item *items,
		      const struct measurements *m)
{
	const char *least = NULL, *most = NULL;

	for (size_t i = 0; i < row->items.n; i++) {
		const char *measured = measured_of(&m->list.v[row->items.v[i] - items]);

		if (!least || strtod(measured, NULL) < strtod(least, NULL))
			least = measured;
		if (!most || strtod(measured, NULL) > strtod(most, NULL))
			most = measured;
	}
	return streq(least, most) ? xstrdup(least) : xasprintf("%s to %s", least, most);
}

/* Measurements with different units have separate lines. */
static const char *unit_of(const struct measurement *m)
{
	const char *unit = strchr(measured_of(m), ' ');

	return unit ? unit : "";
}

static void print_folded_numbers(const struct page *p, const struct measurements *m)
{
	struct fold_item *items = xcalloc(m->list.n + 1, sizeof(*items));
	cleanup(fold_free) struct fold f = {0};

	for (size_t i = 0; i < m->list.n; i++) {
		const struct measurement *one = &m->list.v[i];

		items[i] = (struct fold_item){state_name(one->state), one->id, wanted_of(one),
					      unit_of(one)};
	}
	fold(items, m->list.n, &p->record->sets, p->screen->utf8, &f);
	for (size_t r = 0; r < f.rows.n; r++) {
		const struct fold_row *row = &f.rows.v[r];
		cleanup_free char *range = range_of(row, items, m);
		cleanup_free char *subject = fold_subject(row);
		cleanup_free char *line =
			xasprintf("  %-14s %s: %s, required %s", row->items.v[0]->label, subject,
				  range, row->items.v[0]->value);

		text_wrap(p->out, line, p->screen->columns, 4);
	}
	free(items);
}

/* "measured 3 h ago, in the boot before"; NULL: nothing was measured. Caller frees. */
static char *numbers_line(const struct record *r, int64_t now)
{
	const struct record_numbers *n = &r->numbers;
	int64_t age = now - n->measured;
	cleanup_free char *time = format_duration(age > 0 ? (uint64_t)age * 1000000 : 0);

	if (!n->there || !r->measurements.list.n)
		return NULL;
	if (n->boots_ago) {
		cleanup_free char *before = xasprintf("%lld boots before", (long long)n->boots_ago);
		cleanup_free char *names = strv_some(&n->this_boot, n->this_boot.n);

		return xasprintf("measured %s ago, %s%s%s%s", time,
				 n->boots_ago > 1 ? before : "in the boot before",
				 *names ? " (in this boot: " : "", names, *names ? ")" : "");
	}
	return xasprintf("measured %s ago%s%s%s", time, n->why ? " (again: " : "", or_empty(n->why),
			 n->why ? ")" : "");
}

static void print_numbers(const struct page *p)
{
	const struct measurements *m = &p->record->measurements;
	cleanup_free char *when = numbers_line(p->record, time(NULL));
	const struct strv *checks = &p->record->numbers.unjudged;
	cleanup_free char *unjudged = strv_some(checks, checks->n);

	if (checks->n)
		print_line(p, "numbers:",
			   "%s; no load in this boot, so no rise of counters is judged (%s)",
			   when ? when : "none", unjudged);
	else if (when)
		print_line(p, "numbers:", "%s", when);
	if (p->screen->terminal)
		print_folded_numbers(p, m);
	for (size_t i = 0; !p->screen->terminal && i < m->list.n; i++) {
		const struct measurement *one = &m->list.v[i];

		fprintf(p->out, "  %-14s %-28s %s, required %s\n", state_name(one->state), one->id,
			measured_of(one), wanted_of(one));
	}
}

void status_render(FILE *out, const struct record *r, const struct screen *screen)
{
	cleanup_free char *by_hand = record_admission_line(r), *age = age_text(r);
	cleanup_free char *maintenance = record_maintenance_line(r);
	struct page p = {.out = out, .record = r, .screen = screen};

	if (!r->judged) {
		cleanup_free char *line = status_line(r);

		fprintf(out, "verdict: %s\n", line);
		return;
	}
	print_verdict(&p);
	if (age)
		print_line(&p, "age:", "%s", age);
	if (by_hand)
		print_line(&p, "by hand:", "%s", by_hand);
	if (maintenance)
		print_line(&p, "by hand:", "%s", maintenance);
	print_skipped(&p);
	print_waiting(&p);
	for (size_t i = 0; i < r->warnings.n; i++)
		print_line(&p, "warning:", "%s", r->warnings.v[i]);
	for (size_t i = 0; i < r->trends.n; i++)
		print_line(&p, "trend:", "%s", r->trends.v[i]);
	print_profile(&p);
	print_stages(&p);
	print_devices(&p);
	print_numbers(&p);
	if (!record_admits(r))
		print_line(&p, "look:",
			   "`railhead verify` (values), `journalctl -b -u 'railhead-*'` (log), "
			   "`railhead status --all` (all figures)");
}
