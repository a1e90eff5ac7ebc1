/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sections/judged.h"

#include "base/mem.h"
#include "kinds/checks.h"
#include "plan/change.h"

struct change *judged(struct plan *plan, const char *section, struct place at, const char *id,
		      const char *desired, char *observed, bool holds, const char *remedy)
{
	struct change *c =
		plan_add(plan, section, &kind_check, STAGE_GATE, PHASE_CHECK, at, "%s", id);

	change_on(c, NULL, &given_item);
	change_target(c, "given");
	change_desired(c, "%s", desired);
	change_observe(c, "%s", observed);
	c->now.state = holds ? CHANGE_SAME : CHANGE_DIFFERS;
	if (!holds)
		change_reason(c, "%s", remedy);
	free(observed);
	return c;
}
