/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/join.h"

#include <string.h>

#include "base/str.h"

/* The record of the change by the last stage that may have set it. */
static const struct record_change *find_latest(const struct record *r, const char *id)
{
	const struct record_change *latest = NULL;
	uint64_t at = 0;

	for (enum stage s = 0; s < STAGE_GATE; s++)
		for (size_t i = 0; i < r->stage[s].changes.n; i++) {
			const struct record_change *c = &r->stage[s].changes.v[i];

			if (!streq(c->id, id) || (latest && r->stage[s].started < at))
				continue;
			latest = c;
			at = r->stage[s].started;
		}
	return latest;
}

static void join_failure(struct plan *plan, const struct record *r, const struct record_change *was,
			 enum stage stage)
{
	struct change *c = plan_find(plan, was->id);

	if (c && c->kind->set && streq(c->desired, or_empty(was->desired)) &&
	    find_latest(r, was->id) == was)
		tried_set(&c->tried, stage, was->fault, was->reason ? was->reason : "failed",
			  was->follows);
}

void join_record(struct plan *plan, const struct record *record)
{
	for (enum stage s = 0; s < STAGE_GATE; s++)
		for (size_t i = 0; i < record->stage[s].changes.n; i++)
			if (record->stage[s].changes.v[i].state == CHANGE_FAILED)
				join_failure(plan, record, &record->stage[s].changes.v[i], s);
}
