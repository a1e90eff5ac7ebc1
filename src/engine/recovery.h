/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What railhead-device@.service runs when a function that is watched (engine/watch.h) comes, goes
 * or recovers (`railhead apply --device`). Where nothing was lost it writes nothing. Else readiness
 * is withdrawn, whatever is back gets what the profile says of it, and the node is looked at and
 * judged again, with the numbers that the gate has measured.
 *
 * It never waits for a function that is away: an event starts it again then. One run does
 * all that is lost, and those that waited for the lock behind it find nothing to do. systemd
 * merges a start into one that is under way, so a run ends only after a look that finds
 * nothing new. The target is never stopped: what works goes on.
 */
#pragma once

#include <stdbool.h>

#include "engine/flow.h"
#include "engine/watch.h"

struct recovery {
	/* Set by the caller. */
	const struct root *root;
	const char *device; /* address of a function, or of one of its VFs */
	bool unit;	    /* not by hand */
	void (*complain)(const char *text);
	void (*explain)(const struct run *run); /* one that has no profile to apply */
	struct sink (*sink)(const struct run *run);

	/* What came of it. */
	enum run_end end;
	struct status status;
	enum run_status run_status;
	uint64_t applied; /* how many changes were set */
	bool lost;	  /* something was, in this run or before it */
	bool admitted;	  /* again: railhead-ready.target is to be opened */
};

/* Takes the lock of the state, and leaves it. */
void recovery_run(struct recovery *r);
void recovery_free(struct recovery *r);
