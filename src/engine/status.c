/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/status.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "engine/publish.h"
#include "sys/clock.h"
#include "sys/manager.h"
#include "sys/state.h"

#define READY_FILE "ready"

/* --- read -------------------------------------------------------------------------------- */

static bool has_ready_file(const struct root *root)
{
	return root_exists(root, STATE_DIR "/" READY_FILE);
}

/* The process that withdrew readiness, or had to grant it, died before it wrote the record. */
static void forget_claim(struct status *s)
{
	struct record *r = &s->record;
	cleanup_free char *text = NULL;

	s->claim_lost = true;
	record_end_window(&r->admission);
	if (!r->verdict.admit)
		return;
	text = xasprintf("the verdict was '%s', and " STATE_DIR "/" READY_FILE
			 " is missing: a gate is at work, or was interrupted; run `railhead gate`",
			 verdict_name(r->verdict.kind));
	record_set_simple(r, VERDICT_LAPSED, FAULT_GATE_UNFINISHED, text);
}

void status_blame_killed(struct status *s)
{
	struct record *r = &s->record;
	unsigned int begun = r->begun;
	uint64_t at = r->begun_at;
	cleanup_free char *text =
		xasprintf("the gate that began %llu s after boot was killed or failed before its "
			  "verdict; see `journalctl -u railhead-gate`, and run `railhead gate`",
			  (unsigned long long)(at / 1000000));

	record_set_simple(r, VERDICT_WAITING, FAULT_GATE_KILLED, text);
	r->begun = begun;
	r->begun_at = at;
}

void status_leave_user_space(struct status *s)
{
	record_leave_user_space(&s->record);
	s->new_user_space = true;
}

static void set_user_space(struct record *r, const char *user_space)
{
	free(r->user_space);
	r->user_space = *user_space ? xstrdup(user_space) : NULL;
}

void status_parse(struct status *ret, const char *text, const char *boot_id, const char *user_space)
{
	struct record *r = &ret->record;

	*ret = (struct status){0};
	record_parse(r, text, boot_id);
	if (*or_empty(r->user_space) && *user_space && !streq(r->user_space, user_space))
		status_leave_user_space(ret);
	if (*user_space)
		set_user_space(r, user_space);
}

static void load(const struct root *root, const char *user_space, struct status *ret)
{
	cleanup_free char *text = NULL;
	struct err err = {0};
	char boot_id[37];
	int r;

	state_boot_id(root, boot_id);
	r = state_read(root, RECORD_FILE, &text, &err);
	status_parse(ret, text, boot_id, user_space);
	if (r < 0 && r != -ENOENT)
		ret->record.unreadable = xasprintf("%s; " RECORD_REMEDY, err.text);
	if (record_admits(&ret->record) && !has_ready_file(root))
		forget_claim(ret);
}

void status_load(const struct root *root, struct status *ret)
{
	cleanup_free char *user_space = root->live ? manager_user_space() : xstrdup("");

	load(root, user_space, ret);
}

void status_load_in_initramfs(const struct root *root, struct status *ret)
{
	load(root, "", ret);
	ret->unpublished = true;
	set_user_space(&ret->record, "");
}

void status_free(struct status *s)
{
	record_free(&s->record);
	strv_free(&s->warnings);
}

/* --- written ----------------------------------------------------------------------------- */

static void tell(const struct root *root, struct status *s, bool ready)
{
	if (!s->unpublished)
		publish(root, &s->record, ready, &s->warnings);
}

int status_withdraw(const struct root *root, struct status *s, struct err *err)
{
	tell(root, s, false);
	return state_remove(root, READY_FILE, err);
}

/* Drops an admission that is over or moot, so that readers do not see it for ever. */
static void drop_admission(struct record *r)
{
	if (r->verdict.admit || !record_is_let_in(r))
		record_end_window(&r->admission);
}

static char *ready_text(const struct record *r)
{
	cleanup_free char *by_hand = record_admission_line(r);

	return xasprintf("%s %s\n%s%s", verdict_name(r->verdict.kind), record_digest(r),
			 by_hand ? by_hand : "", by_hand ? "\n" : "");
}

/* Readers of the record must also learn of a claim that could not be withdrawn. */
static void set_warnings(struct status *s)
{
	strv_free(&s->record.warnings);
	for (size_t i = 0; i < s->warnings.n; i++)
		strv_add(&s->record.warnings, s->warnings.v[i]);
}

int status_write(const struct root *root, const struct record *r, struct err *err)
{
	json_t *doc = record_to_json(r);
	cleanup_free char *text = json_dumps(doc, JSON_INDENT(1));

	json_decref(doc);
	return state_write(root, RECORD_FILE, text, err);
}

int status_store(const struct root *root, struct status *s, struct err *err)
{
	struct err later = {0};
	bool admitted;
	int r = 0, w;

	drop_admission(&s->record);
	admitted = record_admits(&s->record);
	if (!admitted)
		r = status_withdraw(root, s, err);
	if (r < 0 && !strv_contains(&s->warnings, err->text))
		strv_add(&s->warnings, err->text);
	set_warnings(s);
	w = status_write(root, &s->record, r < 0 ? &later : err);
	if (w < 0 && !admitted)
		state_remove(root, RECORD_FILE, NULL);
	if (w == 0 && admitted && has_ready_file(root))
		tell(root, s, true);
	return r < 0 ? r : w;
}

void status_renew(const struct root *root, struct status *s)
{
	tell(root, s, record_admits(&s->record) && has_ready_file(root));
}

int status_admit(const struct root *root, struct status *s, struct err *err)
{
	cleanup_free char *ready = NULL;
	int r = status_store(root, s, err);

	if (r < 0 || !record_admits(&s->record))
		return r;
	ready = ready_text(&s->record);
	r = state_write(root, READY_FILE, ready, err);
	if (r == 0)
		tell(root, s, true);
	else
		status_withdraw(root, s,
				NULL); /* an old ready file may exist, of an admission by hand */
	return r;
}
