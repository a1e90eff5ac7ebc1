/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rounds of short windows: each round measures every kind (a direction, say) once, with
 * gaps in between, until the budget is used up or the windows agree. A burst of other work
 * hits few windows, and medians ignore those (stats.h).
 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "bench/queue.h"

#define ROUNDS_KINDS 2
#define ROUNDS_MOST 33
#define ROUNDS_LEAST 12 /* required before windows may agree */
#define ROUNDS_FLOOR 4	/* however short the budget is */

struct rounds {
	/* in */
	size_t kinds; /* 1..ROUNDS_KINDS */
	/* One window: *ret_rate in bytes/s. It chooses its duration. */
	int (*window)(void *ctx, size_t kind, double *ret_rate, struct err *err);
	void *ctx;
	uint64_t budget_ns;
	double agree_pct;

	/* out */
	double rates[ROUNDS_KINDS][ROUNDS_MOST];
	size_t n;	    /* completed rounds */
	uint64_t took_ns;   /* gaps included */
	struct queue queue; /* at the start of the rounds */
};

/*
 * Runs windows that do not count, because clocks and links must leave their idle states. Ends when
 * two rounds in a row agree within 2 %, at the latest after a quarter of the budget.
 */
int rounds_warm_up(struct rounds *r, struct err *err);
int rounds_run(struct rounds *r, struct err *err);

double rounds_median(const struct rounds *r, size_t kind);
/* The kind whose median is lowest. */
size_t rounds_lowest(const struct rounds *r);
/*
 * Adds value (the lowest median), unit, spread_pct of that kind, names[i] for each kind,
 * windows, windows_ms and own_pct; a note if few rounds fitted into the budget.
 */
void rounds_report(const struct rounds *r, const char *const names[], json_t *line);
