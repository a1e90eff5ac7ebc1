/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Applies the profile: one stage (the boot units) or all of them (by hand), each with a survey
 * of its own, unless the stage before it, in the same process, has set nothing. What a stage found
 * and set is in the record; the verdict moves as engine/flow.h says.
 */
#pragma once

#include <stdbool.h>

#include "engine/flow.h"

struct apply {
	/* Set by the caller. */
	const struct root *root;
	const char *profile; /* --profile, or NULL */
	bool unit;	     /* part of a boot, not by hand */
	bool retry;	     /* rejected kernel arguments once more */
	enum stage first, last;
	void (*complain)(const char *text);
	void (*opened)(const struct run *run); /* of each stage, before anything is done */
	void (*at_work)(const struct run *run, enum stage stage, bool begins);
	struct sink (*sink)(const struct run *run);
	/* A stage is over. stages: whose changes it did, as of run_apply(). */
	void (*over)(const struct apply *a, const struct run *run, unsigned int stages,
		     const struct stage_result *result);

	/* What came of it. */
	enum run_end end;
	enum run_status run_status;
	struct status status;
	bool reboot;	 /* kernel arguments were written, or wait, for the next boot */
	bool may_reboot; /* railhead.conf */
};

/* Takes the lock of the state, and leaves it. After a stage of a boot that is to reboot, none runs.
 */
void apply_run(struct apply *a);
void apply_free(struct apply *a);

/* What a plan stands on that does not hold, as reasons (plan/render.h). */
void apply_premises(const struct run *run, struct reasons *reasons);
