/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The run of railhead-device@.service when a watched function (engine/watch.h) comes, goes or
 * recovers (`railhead apply --device`). If nothing was lost, the run writes nothing. Otherwise it
 * withdraws readiness, applies the profile to the functions that are back, and looks at and judges
 * the node again, with the numbers that the gate has measured.
 *
 * A recovery never waits for an absent function, because an event of that function starts a new
 * run. One run handles all losses; runs that waited for the lock meanwhile find nothing to do.
 * systemd merges a start into a run that is under way, so a run ends only after a look that finds
 * nothing new. The target is never stopped, because running work goes on.
 */
#pragma once

#include <stdbool.h>

#include "engine/flow.h"
#include "engine/watch.h"

struct recovery {
	/* Set by the caller. */
	const struct root *root;
	const char *device; /* address of a function, or of one of its VFs */
	bool unit;	    /* run by the unit, not by hand */
	void (*complain)(const char *text);
	void (*explain)(const struct run *run); /* a run that has no profile to apply */
	struct sink (*sink)(const struct run *run);

	/* Results. */
	enum run_end end;
	struct status status;
	enum run_status run_status;
	uint64_t applied; /* number of changes that were set */
	bool lost;	  /* a device was lost, in this run or before it */
	bool admitted;	  /* again: the caller must start railhead-ready.target */
};

/* Takes the lock of the state, and releases it. */
void recovery_run(struct recovery *r);
void recovery_free(struct recovery *r);
