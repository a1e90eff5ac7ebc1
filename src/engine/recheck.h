/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks at a node again after its verdict (railhead-recheck.timer, every five minutes), for example
 * for an MTU that a network manager reset, a huge page that a program freed, a lost carrier. A
 * recheck sets nothing and puts no load on a device; once an hour it asks drivers (numbers_ask()).
 * If the node has not changed, it writes the time of the look, and informs other readers again,
 * whose labels would expire.
 *
 * Readiness lapses if two looks, with a pause between them, both find a change; running work goes
 * on. Lost devices are the task of railhead-device@.service (recovery.h), whose events come at
 * once. A lapsed node that lost no device is ready again with the first look that finds everything
 * as it was judged; the figures are those of the gate.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/status.h"

#define RECHECK_TIMER "railhead-recheck.timer"
#define RECHECK_PAUSE_US UINT64_C(10000000)

struct recheck {
	/* Set by the caller. */
	const struct root *root;
	uint64_t pause_usec; /* between two looks that differ from the verdict */
	uint64_t interval;   /* from one recheck to the next, for struct last_look; 0: not known */
	void (*complain)(const char *text);

	/* Results. */
	struct status status;
	bool looked;   /* there was a verdict, and it was checked */
	bool news;     /* the verdict or its reasons have changed */
	bool admitted; /* work is admitted again: the caller must start railhead-ready.target */
};

/* Takes the lock of the state, for which it waits, and releases it. -EBUSY: could not look. */
int recheck_run(struct recheck *r);
void recheck_free(struct recheck *r);
