/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Estimators for noisy machines. Rates of short windows spread over time have outliers
 * downwards only (other work ran, the clock was low). Medians ignore outliers; means and
 * single long runs include them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Half the interquartile range in percent of the median: how far windows scatter. */
double stats_spread_pct(const double *v, size_t n);

/*
 * Whether the windows agree, so that measuring can stop. True when the medians of the
 * first and of the second half, and of odd and even windows, differ by at most pct
 * percent. False for fewer than `least` windows.
 */
bool stats_agree(const double *v, size_t n, size_t least, double pct);
