/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The figures of many windows, and their median. A window in which another task was given a
 * CPU of ours is set apart: what ran there has filled its caches with something else, and all
 * pieces after it are slower for a while. They count only where too few others are left.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define WINDOWS_MOST 100
#define WINDOWS_FEW 8 /* so many that nothing disturbed are enough */

struct windows {
	double clean[WINDOWS_MOST], disturbed[WINDOWS_MOST];
	size_t n_clean, n_disturbed;
};

/* More than WINDOWS_MOST of a sort are not kept. */
void windows_add(struct windows *w, double figure, bool disturbed);
size_t windows_count(const struct windows *w);
/* At least one was added. */
double windows_median(const struct windows *w);
double windows_spread_pct(const struct windows *w);
/* Of those that nothing disturbed: see stats_agree(). */
bool windows_agree(const struct windows *w, size_t least, double pct);
