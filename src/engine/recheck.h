/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks at a node again after its verdict, as railhead-recheck.timer does every five minutes: an
 * MTU that a network manager reset, a huge page that somebody freed, a carrier that was lost.
 * Nothing is set and nothing is measured, and where all is as it was nothing is written.
 *
 * Two looks with a pause between them have to find that the node changed: then readiness lapses,
 * and what works goes on. What a device lost is the matter of railhead-device@.service
 * (recovery.h), whose events come at once. A node that lapsed, and lost no device, is ready again
 * with the first look that finds all as it was judged: with the figures that the gate has measured.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/status.h"

#define RECHECK_PAUSE_US UINT64_C(10000000)

struct recheck {
	/* Set by the caller. */
	const struct root *root;
	uint64_t pause_usec; /* between two looks that differ from the verdict */
	void (*complain)(const char *text);

	/* What came of it. */
	struct status status;
	bool looked;   /* there was a verdict to look at */
	bool news;     /* the verdict is another now, or has other reasons */
	bool admitted; /* work is admitted again, and railhead-ready.target to be opened */
};

/* Takes the lock of the state, and leaves it; where it is held nothing is done. */
int recheck_run(struct recheck *r);
void recheck_free(struct recheck *r);
