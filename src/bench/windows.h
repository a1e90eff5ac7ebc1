/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The figures of many windows. A window counts if its CPUs were its own (pool.h); the others
 * count only where too few of these are left, and then the figure is not to be trusted.
 *
 * Two things come of them. The median does not see a burst of something else. Their whole time,
 * with that of windows that were nearly their own, shows every stall that no clock of the kernel
 * accounts for: SMIs, a halted clock, idle injection.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

#define WINDOWS_FEW 8 /* so many of its own are enough, however many others there are */

struct window {
	double rate;  /* per second, of pieces of the usual length */
	double whole; /* per second of its own time, whatever its pieces took */
	double ns;    /* of its own time */
	bool own;
	bool nearly_own; /* not so that its rate counts, but its stalls do */
};

struct windows {
	VEC(struct window) list;
	size_t n_own;
};

void windows_add(struct windows *w, const struct window *one);
/* At least one was added. */
double windows_median(const struct windows *w);
double windows_spread_pct(const struct windows *w);
/*
 * Adds how long the windows would have taken if all their pieces had been of the usual length
 * (the median's), and how long they took: with stalls the second is longer.
 */
void windows_add_time(const struct windows *w, double *usual_ns, double *own_ns);
/* Adds "windows", "disturbed", "spread_pct"; "invalid" where too few were its own. */
void windows_report(const struct windows *w, json_t *line);
void windows_free(struct windows *w);
