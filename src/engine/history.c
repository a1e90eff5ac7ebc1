/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/history.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "sys/clock.h"

#define FIRST_TIME INT64_C(1735689600) /* 2025-01-01: railhead is younger */

enum { WAIT_US = 2000000 };

void history_free(struct history *h)
{
	for (size_t i = 0; i < h->boots.n; i++)
		boot_past_free(&h->boots.v[i]);
	vec_free(&h->boots);
}

/* --- from the record --------------------------------------------------------------------- */

static bool is_fresh(const struct record_numbers *numbers, const struct measurement *m)
{
	bool of_this_boot = !numbers->boots_ago || strv_contains(&numbers->this_boot, m->check);

	return of_this_boot && (m->state == CHANGE_SAME || m->state == CHANGE_SLOW ||
				m->state == CHANGE_INTERMITTENT);
}

static void add_figures(const struct record *r, struct boot_past *b)
{
	for (size_t i = 0; i < r->measurements.list.n; i++) {
		const struct measurement *m = &r->measurements.list.v[i];

		for (size_t k = 0; k < m->readings.list.n; k++) {
			const struct reading *reading = &m->readings.list.v[k];

			if (!isfinite(reading->value))
				continue;
			vec_push(&b->figures,
				 ((struct past_figure){
					 .check = xstrdup(m->check),
					 .subject = xstrdup(member_of_id(m->id, m->check)),
					 .key = xstrdup(reading->name),
					 .quantity = reading->quantity,
					 .value = reading->value,
					 .fresh = is_fresh(&r->numbers, m),
				 }));
		}
	}
}

static void add_faults(const struct findings *findings, struct strv *ret)
{
	struct fault_seen seen[FAULT_COUNT];
	size_t n = findings_faults(findings, seen);

	for (size_t i = 0; i < n; i++)
		strv_add(ret, fault_code(seen[i].fault));
}

void history_of_record(const struct record *r, const struct run *run, struct boot_past *ret)
{
	const struct findings *findings = &r->verdict.findings;

	*ret = (struct boot_past){
		.boot_id = xstrdup(r->boot_id),
		.time = time(NULL),
		.verdict = r->verdict.kind,
		.admit = r->verdict.admit,
		.reason = findings->list.n ? finding_text(&findings->list.v[0]) : xstrdup(""),
		.profile = xstrdup(or_empty(r->profile.name)),
		.version = xstrdup(or_empty(r->profile.version)),
		.digest = xstrdup(record_digest(r)),
		.kernel = xstrdup(run ? or_empty(run->node.kernel) : ""),
		.railhead = xstrdup(RAILHEAD_VERSION),
		.judged = r->judged_at,
	};
	add_faults(findings, &ret->faults);
	for (enum stage s = 0; s < STAGE_COUNT; s++)
		ret->stage[s] = (struct past_stage){r->stage[s].ran, r->stage[s].duration};
	if (run && run->status == RUN_OK)
		binding_take(run->root, run->profile, &run->node, &run->sets, &ret->parts);
	add_figures(r, ret);
}

/* --- the list ---------------------------------------------------------------------------- */

const struct binding *boot_past_good(const struct boot_past *b)
{
	if (b->verdict == VERDICT_READY)
		return &b->parts;
	return b->good.list.n ? &b->good : NULL;
}

/* Keeps the higher count of reboots, and the parts of the last ready verdict. */
static void replace(struct boot_past *old, struct boot_past *boot)
{
	struct binding *good = old->verdict == VERDICT_READY ? &old->parts : &old->good;

	/* The first verdict of the boot has reset the count. */
	if (old->reboots > boot->reboots)
		boot->reboots = old->reboots;
	if (boot->verdict != VERDICT_READY) {
		boot->good = *good;
		*good = (struct binding){0};
	}
	boot_past_free(old);
	*old = *boot;
}

static void put(struct history *h, struct boot_past *boot)
{
	for (size_t i = 0; i < h->boots.n; i++) {
		struct boot_past *old = &h->boots.v[i];

		if (!streq(old->boot_id, boot->boot_id))
			continue;
		replace(old, boot);
		*boot = (struct boot_past){0};
		return;
	}
	vec_push(&h->boots, *boot);
	*boot = (struct boot_past){0};
}

int history_add(const struct root *root, struct boot_past *boot, struct history *ret,
		struct err *err)
{
	int r = history_read(root, ret, err);

	if (r == 0 || r == -EBADMSG)
		put(ret, boot);
	else
		boot_past_free(boot);
	return r;
}

void history_drop_oldest(struct history *h, size_t n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n; i++)
		boot_past_free(&h->boots.v[i]);
	h->boots.n -= n;
	memmove(h->boots.v, h->boots.v + n, h->boots.n * sizeof(*h->boots.v));
}

bool history_clock_is_off(const struct history *h, size_t i)
{
	int64_t time = h->boots.v[i].time;

	return time < FIRST_TIME || (i && time < h->boots.v[i - 1].time);
}

char *history_time(const struct history *h, size_t boot)
{
	time_t at = (time_t)h->boots.v[boot].time;
	char text[32] = "unknown";
	struct tm tm;

	if (gmtime_r(&at, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%MZ", &tm);
	return xasprintf("%s%s", text, history_clock_is_off(h, boot) ? "?" : "");
}

/* --- a file system that hangs ------------------------------------------------------------ */

int history_apart(worker_fn fn, void *arg, struct err *err)
{
	struct worker worker;
	int r = worker_run(&worker, fn, arg, clock_usec() + WAIT_US, err);

	return r == -ETIMEDOUT ? err_wrap(err, "%s", HISTORY_PATH) : r;
}

static int look(void *root, struct err *err)
{
	cleanup_free char *text = NULL;

	(void)err; /* history_read() returns the same error */
	state_kept(root, HISTORY_FILE, &text, NULL);
	return 0;
}

int history_look(const struct root *root, struct err *err)
{
	return history_apart(look, (void *)root, err);
}
