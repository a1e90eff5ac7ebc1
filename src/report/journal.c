/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/journal.h"

#include <syslog.h>

#include "base/mem.h"
#include "base/str.h"
#include "plan/render.h"
#include "report/vfs.h"
#include "sys/libsystemd.h"

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

static const char *profile_name(const struct run *run)
{
	return run->profile ? run->profile->name : "";
}

/* NULL: nobody is told, as of another machine's tree. Said once where the library is missing. */
static const struct libsystemd *journal(const struct root *root)
{
	static bool said;
	struct err err = {0};
	const struct libsystemd *sd = root->live ? libsystemd_get(&err) : NULL;

	if (root->live && !sd && !said)
		fprintf(stderr, "railhead: the journal gets no entries: %s\n", err.text);
	said |= root->live && !sd;
	return sd;
}

void journal_change(const struct run *run, enum stage stage, const struct change *c)
{
	const struct libsystemd *sd = journal(run->root);
	cleanup_free char *line = render_place(c->origin);
	bool bad = c->state == CHANGE_FAILED;

	if (!sd)
		return;
	sd->sd_journal_send(
		"MESSAGE=%s: %s%s%s", c->id, state_name(c->state), c->reason ? ": " : "",
		or_empty(c->reason), "PRIORITY=%i", bad ? LOG_ERR : LOG_INFO, "MESSAGE_ID=%s",
		bad ? MESSAGE_ID_CHANGE_FAILED : MESSAGE_ID_CHANGE_SET, "RAILHEAD_CHANGE=%s", c->id,
		"STEP=%s", c->section, "STAGE=%s", stage_name(stage), "BEFORE=%s",
		or_empty(c->before), "AFTER=%s", or_empty(c->observed), "WANTED=%s", c->desired,
		"RESULT=%s", state_name(c->state), "DURATION_USEC=%llu",
		(unsigned long long)c->duration, "PROFILE=%s", profile_name(run), "PROFILE_LINE=%s",
		line, NULL);
}

static void journal_vfs(const struct libsystemd *sd, const struct run *run, unsigned int stages,
			const struct stage_result *result)
{
	json_t *list = vfs_to_json(run, stages, result);
	const json_t *vfs;
	size_t i;

	json_array_foreach(list, i, vfs)
	{
		cleanup_free char *line = vfs_line(vfs);
		const char *pf = json_string_value(json_object_get(vfs, "pf"));

		sd->sd_journal_send(
			"MESSAGE=vfs %s: %s", pf, line, "PRIORITY=%i", LOG_INFO, "MESSAGE_ID=%s",
			MESSAGE_ID_VFS, "STAGE=%s", stage_name(result->stage), "PF=%s", pf,
			"NUMVFS_USEC=%lld",
			(long long)json_integer_value(json_object_get(vfs, "numvfs_usec")),
			"BIND_USEC=%lld",
			(long long)json_integer_value(json_object_get(vfs, "bind_max_usec")),
			"PROFILE=%s", profile_name(run), NULL);
	}
	json_decref(list);
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
	sd->sd_journal_send("MESSAGE=this boot acts on another profile from now on: %s %s, was %s",
			    run->profile->name, run->profile->digest, run->was, "PRIORITY=%i",
			    LOG_NOTICE, "MESSAGE_ID=%s", MESSAGE_ID_FROZEN, "PROFILE=%s",
			    profile_name(run), "DIGEST=%s", run->profile->digest, "BEFORE=%s",
			    run->was, NULL);
}

void journal_verdict(const struct run *run, const struct verdict *v)
{
	const struct libsystemd *sd = journal(run->root);
	cleanup_str struct str why = {0};

	if (!sd)
		return;
	for (size_t i = 0; i < v->reasons.n; i++)
		str_addf(&why, "\n%s", v->reasons.v[i]);
	sd->sd_journal_send("MESSAGE=verdict: %s%s", verdict_name(v->kind), str_get(&why),
			    "PRIORITY=%i", v->admit ? LOG_NOTICE : LOG_ERR, "MESSAGE_ID=%s",
			    MESSAGE_ID_VERDICT, "RESULT=%s", verdict_name(v->kind), "PROFILE=%s",
			    profile_name(run), "DIGEST=%s",
			    run->profile ? run->profile->digest : "", NULL);
}

void journal_admitted(const struct root *root, const struct status *s, const char *over)
{
	const struct libsystemd *sd = journal(root);
	const json_t *a = json_object_get(s->doc, "admission");
	const char *who = json_string_value(json_object_get(a, "who"));
	const char *until = json_string_value(json_object_get(a, "until"));
	const char *reason = json_string_value(json_object_get(a, "reason"));

	if (!sd)
		return;
	sd->sd_journal_send("MESSAGE=admission by hand: %s%suntil %s by %s: %s", over ? over : "",
			    over ? "; it was " : "", or_empty(until), or_empty(who),
			    or_empty(reason), "PRIORITY=%i", LOG_NOTICE, "MESSAGE_ID=%s",
			    over ? MESSAGE_ID_ADMITTED_OVER : MESSAGE_ID_ADMITTED, "RESULT=%s",
			    status_verdict(s), "WHO=%s", or_empty(who), "REASON=%s",
			    or_empty(reason), "UNTIL=%s", or_empty(until), NULL);
}
