/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/journal.h"

#include <syslog.h>

#include "base/mem.h"
#include "base/str.h"
#include "engine/vfs.h"
#include "plan/change.h"
#include "plan/render.h"
#include "sections/sections.h"
#include "sys/libsystemd.h"

static const char *profile_name(const struct run *run)
{
	return run->profile ? run->profile->name : "";
}

/* NULL: no journal, as for another machine's tree. Complains once if the library is missing. */
static const struct libsystemd *journal(const struct root *root)
{
	static bool complained;
	struct err err = {0};
	const struct libsystemd *sd = root->live ? libsystemd_get(&err) : NULL;

	if (root->live && !sd && !complained)
		fprintf(stderr, "railhead: the journal gets no entries: %s\n", err.text);
	complained |= root->live && !sd;
	return sd;
}

void journal_change(const struct run *run, enum stage stage, const struct change *c)
{
	const struct libsystemd *sd = journal(run->root);
	cleanup_free char *line = render_place(c->origin), *reason = finding_reason(&c->now);
	bool bad = c->now.state == CHANGE_FAILED;
	const struct fault_row *row = fault_row(fault_of_change(c));

	if (!sd)
		return;
	sd->sd_journal_send(
		"MESSAGE=%s: %s%s%s", c->id, state_name(c->now.state), reason ? ": " : "",
		or_empty(reason), "PRIORITY=%i", bad ? LOG_ERR : LOG_INFO, "MESSAGE_ID=%s",
		bad ? MESSAGE_ID_CHANGE_FAILED : MESSAGE_ID_CHANGE_SET, "RAILHEAD_CHANGE=%s", c->id,
		"STEP=%s", c->section, "STAGE=%s", stage_name(stage), "BEFORE=%s",
		or_empty(c->now.before), "AFTER=%s", or_empty(c->now.found), "WANTED=%s",
		c->desired, "RESULT=%s", state_name(c->now.state), "DURATION_USEC=%llu",
		(unsigned long long)c->duration, "PROFILE=%s", profile_name(run), "PROFILE_LINE=%s",
		line, bad ? "RAILHEAD_FAULT=%s" : NULL, row->code, "RAILHEAD_ACTION=%s",
		fault_action_name(row->action), NULL);
}

static void journal_vfs(const struct libsystemd *sd, const struct run *run, unsigned int stages,
			const struct stage_result *result)
{
	struct vfs_works works = {0};

	vfs_works_find(run, stages, result, &works);
	for (size_t i = 0; i < works.list.n; i++) {
		const struct vfs_work *w = &works.list.v[i];
		cleanup_free char *line = vfs_work_line(w);

		sd->sd_journal_send(
			"MESSAGE=vfs %s: %s", w->pf, line, "PRIORITY=%i", LOG_INFO, "MESSAGE_ID=%s",
			MESSAGE_ID_VFS, "STAGE=%s", stage_name(result->stage), "PF=%s", w->pf,
			"NUMVFS_USEC=%llu", (unsigned long long)w->numvfs_time, "BIND_USEC=%llu",
			(unsigned long long)w->bind_max, "PROFILE=%s", profile_name(run), NULL);
	}
	stored_free(vfs_works_stored, &works);
}

void journal_stage(const struct run *run, unsigned int stages, const struct stage_result *result)
{
	const struct libsystemd *sd = journal(run->root);
	size_t failed = result->count[CHANGE_FAILED];

	if (!sd)
		return;
	journal_vfs(sd, run, stages, result);
	sd->sd_journal_send(
		"MESSAGE=stage %s: %zu matched, %zu set, %zu failed, %zu waiting, %.3f s",
		stage_name(result->stage), result->count[CHANGE_SAME], result->count[CHANGE_SET],
		failed, result->count[CHANGE_WAITS] + result->count[CHANGE_DIFFERS],
		(double)result->duration / 1e6, "PRIORITY=%i", failed ? LOG_ERR : LOG_INFO,
		"MESSAGE_ID=%s", MESSAGE_ID_STAGE, "STAGE=%s", stage_name(result->stage),
		"DURATION_USEC=%llu", (unsigned long long)result->duration, "PROFILE=%s",
		profile_name(run), NULL);
}

void journal_frozen(const struct run *run)
{
	const struct libsystemd *sd = journal(run->root);

	if (!sd)
		return;
	sd->sd_journal_send("MESSAGE=switched this boot's profile to %s %s, was %s",
			    run->profile->name, run->profile->digest, run->was, "PRIORITY=%i",
			    LOG_NOTICE, "MESSAGE_ID=%s", MESSAGE_ID_FROZEN, "PROFILE=%s",
			    profile_name(run), "DIGEST=%s", run->profile->digest, "BEFORE=%s",
			    run->was, NULL);
}

/* One entry for each code, because programs select entries by their fields. */
static void journal_faults(const struct libsystemd *sd, const struct record *r)
{
	struct fault_seen seen[FAULT_COUNT];
	size_t n = findings_faults(&r->verdict.findings, seen);

	for (size_t i = 0; i < n; i++) {
		const struct fault_row *row = fault_row(seen[i].fault);
		cleanup_free char *more =
			seen[i].n > 1 ? xasprintf(" (and %zu more)", seen[i].n - 1) : xstrdup("");
		cleanup_free char *text = finding_text(seen[i].first);
		cleanup_free char *remedy = finding_remedy(seen[i].first);

		sd->sd_journal_send("MESSAGE=fault %s (%s): %s%s", row->code,
				    fault_action_name(row->action), text, more, "PRIORITY=%i",
				    seen[i].on_fail == ON_FAIL_WARN ? LOG_WARNING : LOG_ERR,
				    "MESSAGE_ID=%s", MESSAGE_ID_FAULT, "RAILHEAD_FAULT=%s",
				    row->code, "RAILHEAD_ACTION=%s", fault_action_name(row->action),
				    "RAILHEAD_ON_FAIL=%s", on_fail_name(seen[i].on_fail),
				    "RAILHEAD_REASON=%s", text, "RAILHEAD_MEANING=%s", row->meaning,
				    "RAILHEAD_REMEDY=%s", remedy, "RESULT=%s",
				    verdict_name(r->verdict.kind), "PROFILE=%s",
				    or_empty(r->profile.name), NULL);
	}
}

void journal_verdict(const struct root *root, const struct record *r)
{
	const struct libsystemd *sd = journal(root);
	const struct verdict *v = &r->verdict;
	cleanup_str struct str why = {0};

	if (!sd)
		return;
	for (size_t i = 0; i < v->findings.list.n; i++) {
		cleanup_free char *text = finding_text(&v->findings.list.v[i]);

		str_addf(&why, "\n%s", text);
	}
	sd->sd_journal_send("MESSAGE=verdict: %s%s", verdict_name(v->kind), str_get(&why),
			    "PRIORITY=%i", v->admit ? LOG_NOTICE : LOG_ERR, "MESSAGE_ID=%s",
			    MESSAGE_ID_VERDICT, "RESULT=%s", verdict_name(v->kind), "PROFILE=%s",
			    or_empty(r->profile.name), "DIGEST=%s", record_digest(r), NULL);
	journal_faults(sd, r);
}

void journal_unreadable(const struct root *root, const char *sentence)
{
	const struct libsystemd *sd = journal(root);

	if (sd)
		sd->sd_journal_send("MESSAGE=replaced the record of this boot: %s", sentence,
				    "PRIORITY=%i", LOG_WARNING, "MESSAGE_ID=%s",
				    MESSAGE_ID_UNREADABLE, NULL);
}

static void journal_window(const struct root *root, const struct record *r, const struct window *w,
			   const char *what, const char *over, const char *id)
{
	const struct libsystemd *sd = journal(root);

	if (!sd)
		return;
	sd->sd_journal_send("MESSAGE=%s: %s%suntil %s by %s: %s", what, or_empty(over),
			    over ? "; it was " : "", or_empty(w->ends), or_empty(w->who),
			    or_empty(w->reason), "PRIORITY=%i", LOG_NOTICE, "MESSAGE_ID=%s", id,
			    "RESULT=%s", verdict_name(r->verdict.kind), "WHO=%s", or_empty(w->who),
			    "REASON=%s", or_empty(w->reason), "UNTIL=%s", or_empty(w->ends), NULL);
}

void journal_admitted(const struct root *root, const struct record *r, const char *over)
{
	journal_window(root, r, &r->admission, "admission by hand", over,
		       over ? MESSAGE_ID_ADMITTED_OVER : MESSAGE_ID_ADMITTED);
}

void journal_maintenance(const struct root *root, const struct record *r, const char *over)
{
	journal_window(root, r, &r->maintenance, "maintenance", over,
		       over ? MESSAGE_ID_MAINTENANCE_OVER : MESSAGE_ID_MAINTENANCE);
}
