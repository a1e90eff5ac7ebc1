/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Estimators for noisy machines. Rates of short windows spread over time have outliers
 * downwards only (something else ran, the clock was low); medians do not see them, means
 * and single long runs do.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Half the interquartile range in percent of the median: how far windows scatter. */
double stats_spread_pct(const double *v, size_t n);

/*
 * Have the windows said the same for long enough to stop? True when the medians of the
 * first and of the second half, and of odd and even windows, differ by at most pct
 * percent. False for fewer than `least` windows.
 */
bool stats_agree(const double *v, size_t n, size_t least, double pct);
