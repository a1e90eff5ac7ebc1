/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A judgement: verifies everything, runs the benchmarks, judges, and moves the verdict
 * (engine/flow.h). What railhead-gate.service and a person run is one and the same; a retry looks,
 * and only where the looks do not keep work out any more it goes on to measure what could not be
 * measured yet. What has passed in this boot is not measured again.
 */
#pragma once

#include <stdbool.h>

#include "engine/flow.h"

enum judgement_end {
	JUDGEMENT_FAILED, /* there is no verdict, or it could not be written; complain was told why
			   */
	JUDGEMENT_MADE,
	JUDGEMENT_STANDS,  /* the verdict is that of an earlier one of this boot and profile */
	JUDGEMENT_LET_IN,  /* work is admitted by hand, and the unit leaves it at that */
	JUDGEMENT_NOT_DUE, /* a retry, while nothing waits, or too early */
};

struct judgement {
	/* Set by the caller. */
	const struct root *root;
	const char *profile; /* --profile, or NULL */
	bool unit;	     /* not by hand */
	bool again;	     /* whatever the verdict is */
	bool retry;
	void (*complain)(const char *text);
	void (*opened)(const struct run *run); /* the run, before anything is done */
	/* Looks and benchmarks begin, or are over. */
	void (*at_work)(const struct run *run, enum stage stage, bool begins);

	/* What came of it. */
	enum judgement_end end;
	struct status status;
	bool admitted;	 /* railhead-ready.target is to be opened */
	bool reboot;	 /* the node is to go into other kernel arguments, once (boot/settle.h) */
	bool may_reboot; /* railhead.conf */
	bool show;	 /* to people: one by hand, or with a verdict that is news */
};

/* Takes the lock of the state, and leaves it. Returns a negative errno if end is FAILED. */
int judgement_run(struct judgement *j);
/* The unit of the gate ends, and with it what it judged (`railhead gate --keep`). */
int judgement_stop(struct judgement *j);
/* Tells readers again (`railhead gate --renew`). */
void judgement_renew(struct judgement *j);
void judgement_free(struct judgement *j);
