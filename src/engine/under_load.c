/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/under_load.h"

#include <string.h>

#include "base/mem.h"

bool under_load_is(const struct reason *r)
{
	return strstr(r->text, JUDGED_UNDER_LOAD) || strstr(r->text, SINCE_THE_LOAD);
}

/* Whether the change of the reason "ID: ..." holds now. */
static bool holds_now(const struct run *run, const struct reason *r)
{
	const char *end = strstr(r->text, ": "); /* ": ", because an address contains colons */
	cleanup_free char *id = xstrndup(r->text, end ? (size_t)(end - r->text) : 0);
	const struct change *c = plan_find(&run->plan, id);

	return c && c->of_load && change_holds(c);
}

void under_load_keep(const struct record *record, const struct run *run, struct verdict *v)
{
	const struct reasons *recorded = &record->verdict.reasons;

	for (size_t i = 0; i < recorded->list.n; i++) {
		const struct reason *r = &recorded->list.v[i];

		if (!strstr(r->text, JUDGED_UNDER_LOAD) || !holds_now(run, r))
			continue;
		reasons_add_as(&v->reasons, r);
		if (r->on_fail == ON_FAIL_DEGRADE && v->kind == VERDICT_READY)
			v->kind = VERDICT_DEGRADED;
	}
}
