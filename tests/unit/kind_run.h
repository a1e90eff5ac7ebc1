/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One change of a kind, looked at and set on a made-up machine that says it is the real one. */
#pragma once

#include "../lib/clock.h"
#include "engine/run.h"
#include "kinds/kind.h"
#include "plan/change.h"
#include "profile_tmp.h"
#include "sys/clock.h"
#include "tree.h"

static inline int live_setup(void **state, const struct tree_file *machine, size_t n)
{
	struct tmp *t;
	int r = tmp_setup(state);

	if (r < 0)
		return r;
	t = *state;
	test_clock(CLOCK_LEAPS_BEHIND, NULL); /* the set waits, in a worker */
	t->root.live = true;
	tree_write(t, machine, n);
	return 0;
}

/* Its id is the target, which the caller may begin with more. */
static inline struct change *add_change(struct run *run, const struct kind *kind, enum phase phase,
					const char *lane, const char *id, const char *target,
					const char *desired)
{
	static const struct place nowhere;
	struct change *c =
		plan_add(&run->plan, "test", kind, STAGE_DEVICES, phase, nowhere, "%s", id);

	change_target(c, "%s", target);
	change_desired(c, "%s", desired);
	change_lane(c, "%s", lane);
	c->deadline_ms = 10000;
	return c;
}

static inline void apply_devices(struct run *run)
{
	struct stage_result result;

	run_apply(run, STAGE_DEVICES, 0, clock_usec() + 60000000, NULL, &result);
}
