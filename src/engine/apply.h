/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Applies the profile: one stage (the boot units) or all stages (by hand). Each stage makes a new
 * survey, unless the previous stage of the same process has set nothing. The record holds what a
 * stage found and set; the verdict moves by the table of engine/flow.h.
 */
#pragma once

#include <stdbool.h>

#include "engine/flow.h"

struct apply {
	/* Set by the caller. */
	const struct root *root;
	const char *profile; /* --profile, or NULL */
	bool unit;	     /* run by a unit of the boot, not by hand */
	bool retry;	     /* try refused arguments, and settings that were held back, again */
	enum stage first, last;
	void (*complain)(const char *text);
	void (*opened)(const struct run *run); /* for each stage, before it does anything */
	void (*at_work)(const struct run *run, enum stage stage, bool begins);
	struct sink (*sink)(const struct run *run);
	/* A stage is over. stages: the stages whose changes it did, as in run_apply(). */
	void (*over)(const struct apply *a, const struct run *run, unsigned int stages,
		     const struct stage_result *result);

	/* Results. */
	enum run_end end;
	enum run_status run_status;
	struct status status;
};

/* Takes the lock of the state, and releases it. */
void apply_run(struct apply *a);
void apply_free(struct apply *a);

/* Adds the premises of the plan that do not hold. */
void apply_premises(const struct run *run, struct findings *ret);
