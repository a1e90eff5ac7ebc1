/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A judgement: verifies everything, runs the benchmarks, judges, and moves the verdict
 * (engine/flow.h). railhead-gate.service and a person run the same judgement. A retry looks first;
 * only if the looks keep work out no more, it runs the benchmarks that could not be run before.
 * Benchmarks that have passed in this boot are not run again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/flow.h"

enum judgement_end {
	JUDGEMENT_FAILED, /* no verdict, or it could not be written; complain() reported why */
	JUDGEMENT_MADE,
	JUDGEMENT_STANDS,  /* an earlier verdict of this boot and profile stands */
	JUDGEMENT_LET_IN,  /* work is admitted by hand, so the unit does not judge */
	JUDGEMENT_NOT_DUE, /* a retry, while nothing waits, or too early */
};

struct judgement {
	/* Set by the caller. */
	const struct root *root;
	const char *profile; /* --profile, or NULL */
	bool unit;	     /* run by the unit, not by hand */
	bool again;	     /* judge again even if a verdict stands */
	bool retry;
	uint64_t interval; /* as of struct recheck */
	void (*complain)(const char *text);
	void (*opened)(const struct run *run); /* before the run does anything */
	/* Looks and benchmarks begin, or are over. */
	void (*at_work)(const struct run *run, enum stage stage, bool begins);

	/* Results. */
	enum judgement_end end;
	struct status status;
	bool admitted;	 /* the caller must start railhead-ready.target */
	bool reboot;	 /* other kernel arguments require one reboot (boot/view.h) */
	bool may_reboot; /* railhead.conf */
	bool show;	 /* to people: run by hand, or the verdict has changed */
};

/* Takes the lock of the state, and releases it. Returns a negative errno if end is FAILED. */
int judgement_run(struct judgement *j);
/* The unit of the gate ends, and its verdict with it (`railhead gate --keep`). */
int judgement_stop(struct judgement *j);
void judgement_free(struct judgement *j);
