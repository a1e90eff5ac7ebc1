/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The gate: runs the profile's benchmarks and judges them together with the list of
 * changes. Everything that can be looked at without load is a change
 * of kind check; here is only what must be measured.
 */
#pragma once

#include <stdbool.h>

#include "checks/measurement.h"
#include "node/node.h"
#include "plan/change.h"
#include "profile/profile.h"
#include "sections/sections.h"

/*
 * Adds the benchmarks of the profile's gate section to the list of plan and verify, each with the
 * id that gate_measure() gives its measurement. One that could not be taken as the machine is now
 * has the reason in its note. Reads, and runs nothing.
 */
void gate_plan(const struct section_ctx *ctx, struct plan *plan);
/*
 * Runs all benchmarks of the profile's gate section within its budget; what is slow or
 * disturbed is measured once more, with more time, before it counts. Never writes; forks.
 * only: the names of the checks whose benchmarks are run; NULL: of all.
 */
int gate_measure(const struct section_ctx *ctx, const struct strv *only, struct measurements *ret,
		 struct err *err);
/*
 * As what is slow is measured once more: all with more time at once, and eight times the budget.
 * For numbers that thresholds are made from.
 */
int gate_measure_long(const struct section_ctx *ctx, struct measurements *ret, struct err *err);

enum verdict_kind {
	VERDICT_READY,
	VERDICT_DEGRADED, /* only what may degrade failed */
	VERDICT_BLOCKED,
	VERDICT_WAITING, /* something is still to come */
	VERDICT_LAPSED,	 /* ready once; a device of a set has lost what was applied to it */
	VERDICT_OFF,	 /* railhead=off */
	VERDICT_NONE,	 /* no profile matches */
};

/* "ID: what is wrong; what to do", and the same for programs. */
struct reason {
	enum fault fault; /* FAULT_NONE only in the record of a railhead that had no codes */
	enum on_fail on_fail;
	enum fault lasting; /* of one that is waited for: which fault it is if it lasts; or NONE */
	char *text;
};

struct reasons {
	VEC(struct reason) list;
};

/* Copies the text. One that keeps work out stands before those that do not, else in order. */
void reasons_add(struct reasons *r, enum fault fault, const char *text);
void reasons_add_as(struct reasons *r, const struct reason *like);
/* Takes out those of a fault. */
void reasons_drop(struct reasons *r, enum fault fault);
void reasons_free(struct reasons *r);

/* A fault that one reason or several have. */
struct fault_seen {
	enum fault fault;
	enum on_fail on_fail; /* the gravest of theirs */
	size_t n;
	const char *text; /* of the first of them */
};

/* Each fault once, in the order of the reasons. Returns how many there are. */
size_t reasons_faults(const struct reasons *r, struct fault_seen ret[FAULT_COUNT]);

struct verdict {
	enum verdict_kind kind;
	struct reasons reasons;
	bool admit; /* work may run */
	/* Ids of what is optional and missing, and of what a check could not tell: not judged. */
	struct strv skipped;
	/* Of WAITING: ids of what may still come, and the verdict if it does not. */
	struct strv awaited;
	enum verdict_kind otherwise;
};

/* It is enough, or there is nothing to measure here and the profile wants no number. */
bool measurement_holds(const struct measurement *m);
/* Whether a later measurement may find what this one could not: it is waited for. */
bool measurement_may_come(enum change_state s);
/*
 * Judges a verified plan and the measurements. Waited for is a check that settles, or a
 * measurement that can't be made yet, where that alone keeps work out.
 */
void gate_judge(const struct profile *profile, const struct plan *plan,
		const struct measurements *m, struct verdict *ret);
/* A verdict with one reason and no plan behind it. */
void verdict_simple(struct verdict *ret, enum verdict_kind kind, enum fault fault,
		    const char *reason);
/* Of WAITING: usec is long enough. It becomes what it is otherwise, and a reason says so. */
void verdict_give_up(struct verdict *v, uint64_t usec);
/* No work is admitted any more; what waits is called by its own fault: nobody looks for it again.
 */
void verdict_lapse(struct verdict *v);
/* Its kind, admission, reasons and what was skipped: as it is recorded. */
void verdict_copy(struct verdict *ret, const struct verdict *v);
void verdict_free(struct verdict *v);
/* gate.wait of the profile, in microseconds; 10 minutes where it says nothing. */
uint64_t gate_wait(const struct profile *profile);
const char *verdict_name(enum verdict_kind k);
int verdict_parse(const char *name, enum verdict_kind *ret); /* -EINVAL */
