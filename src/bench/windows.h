/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The figures of many windows. A window counts if its CPUs were its own (pool.h). The other windows
 * count only where too few own windows are left, and then the figure is marked invalid.
 *
 * The windows give two results. Their median ignores bursts of other work. Their total time, with
 * that of windows that were nearly their own, shows every stall that the kernel's clocks miss:
 * SMIs, a halted clock, idle injection.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

#define WINDOWS_FEW 8 /* this many own windows are enough, however many others there are */

struct window {
	double rate;  /* per second, of pieces of the usual length */
	double whole; /* per second of its own time, stretched pieces included */
	double ns;    /* of its own time */
	bool own;
	bool nearly_own; /* its stalls count, although its rate does not */
};

struct windows {
	VEC(struct window) list;
	size_t n_own;
};

void windows_add(struct windows *w, const struct window *one);
/* Needs at least one window. */
double windows_median(const struct windows *w);
double windows_spread_pct(const struct windows *w);
/*
 * Adds to *usual_ns the time of the windows if all their pieces had the usual (median) length, and
 * to *own_ns their actual time, which stalls make longer.
 */
void windows_add_time(const struct windows *w, double *usual_ns, double *own_ns);
/* Adds "windows", "disturbed", "spread_pct"; "invalid" if too few windows were their own. */
void windows_report(const struct windows *w, json_t *line);
void windows_free(struct windows *w);
