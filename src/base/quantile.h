/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Quantiles of n values (at least 1), which are not changed; linear between neighbours. q: 0 to 1.
 */
#pragma once

#include <stddef.h>

double quantile_of(const double *v, size_t n, double q);
double median_of(const double *v, size_t n);
