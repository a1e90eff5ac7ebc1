/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The gate: runs the profile's benchmarks and judges them together with the list of
 * changes. Facts that can be read without load are changes of kind check; the gate only measures.
 */
#pragma once

#include <stdbool.h>

#include "checks/measurement.h"
#include "gate/binding.h"
#include "plan/finding.h"

struct change; /* of plan/change.h */
struct plan;   /* of plan/plan.h */
struct profile;
struct section_ctx; /* of profile/section.h */

/*
 * Adds the benchmarks of the profile's gate section to the list of plan and verify, each with the
 * id that gate_measure() gives its measurement. A benchmark that can't run on the machine's current
 * state has the reason in its note. Reads only; runs no program.
 */
void gate_plan(const struct section_ctx *ctx, struct plan *plan);
/*
 * Runs all benchmarks of the profile's gate section within its budget. A slow or disturbed
 * measurement is repeated once, with more time, before it counts. Never writes; forks.
 * only: the names of the checks whose benchmarks run; NULL: all. then: the parts of the last good
 * look, with which the causes of a slow figure are compared; empty: not known.
 */
int gate_measure(const struct section_ctx *ctx, const struct strv *only, const struct binding *then,
		 struct measurements *ret, struct err *err);
/*
 * The same for benchmarks that put no load on a device, after the verdict: within 25 s, so that a
 * driver which hangs keeps no other run waiting.
 */
int gate_ask(const struct section_ctx *ctx, const struct strv *only, struct measurements *ret,
	     struct err *err);
/*
 * All benchmarks run at once with the longer time of a repeated measurement, and with eight times
 * the budget. For calibration.
 */
int gate_measure_long(const struct section_ctx *ctx, struct measurements *ret, struct err *err);

enum verdict_kind {
	VERDICT_READY,
	VERDICT_DEGRADED, /* only checks that may degrade failed */
	VERDICT_BLOCKED,
	VERDICT_WAITING, /* a check or measurement may still pass */
	VERDICT_LAPSED,	 /* was ready; a device of a set has lost its settings */
	VERDICT_OFF,	 /* railhead=off */
	VERDICT_NONE,	 /* no profile matches */
};

/*
 * Adds the finding of a change that does not hold. followers: others that wait for it, and do not
 * hold either.
 */
void findings_add_change(struct findings *l, const struct change *c, unsigned int followers);

struct verdict {
	enum verdict_kind kind;
	struct findings findings;
	bool admit; /* work may run */
	/* Ids of missing optional parts and of checks without an answer: not judged. */
	struct strv skipped;
	/* WAITING: ids of the changes and measurements that may still pass, and the verdict if
	 * they do not. */
	struct strv awaited;
	enum verdict_kind otherwise;
};

/* The measurement passes, or the part is unsupported and the profile sets no threshold. */
bool measurement_holds(const struct measurement *m);
/* Whether a later measurement may succeed: then the verdict waits for it. */
bool measurement_may_come(enum change_state s);
/*
 * Judges a verified plan and the measurements. The verdict is WAITING where only checks that settle
 * and measurements that are not possible yet block work.
 */
void gate_judge(const struct profile *profile, const struct plan *plan,
		const struct measurements *m, struct verdict *ret);
/* A verdict with one reason, without a plan. */
void verdict_simple(struct verdict *ret, enum verdict_kind kind, enum fault fault,
		    const char *reason);
/* WAITING has lasted usec, the limit: becomes the verdict `otherwise`, with a reason. */
void verdict_give_up(struct verdict *v, uint64_t usec);
/* Withdraws admission. Awaited findings get their own fault, because no further look follows. */
void verdict_lapse(struct verdict *v);
/* Copies the recorded parts: kind, admission, findings and skipped ids. */
void verdict_copy(struct verdict *ret, const struct verdict *v);
void verdict_free(struct verdict *v);
/* gate.wait of the profile, in microseconds; default 10 minutes. */
uint64_t gate_wait(const struct profile *profile);
const char *verdict_name(enum verdict_kind k);
