/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/under_load.h"

#include <string.h>

#include "base/mem.h"
#include "plan/change.h"

/* Whether the change of the finding holds now, without the load. */
static bool holds_now(const struct run *run, const struct finding *f)
{
	const struct change *c = f->id ? plan_find(&run->plan, f->id) : NULL;

	return c && c->of_load && change_holds(c);
}

void under_load_keep(const struct record *record, const struct run *run, struct verdict *v)
{
	const struct findings *recorded = &record->verdict.findings;

	for (size_t i = 0; i < recorded->list.n; i++) {
		const struct finding *f = &recorded->list.v[i];

		if (!f->load || f->late || !holds_now(run, f))
			continue;
		findings_add(&v->findings, f);
		if (f->on_fail == ON_FAIL_DEGRADE && v->kind == VERDICT_READY)
			v->kind = VERDICT_DEGRADED;
	}
}
