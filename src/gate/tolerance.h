/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far below the mean of a sample a limit must lie to keep a promise: one-sided
 * tolerance limits of the normal distribution (ISO 16269-6; NIST/SEMATECH handbook, 7.2.6.3). Pure.
 */
#pragma once

/* The z that a standard normal variable stays below with probability p; 0 < p < 1. */
double normal_quantile(double p);

/*
 * Returns k: in a share `confidence` of samples, at most a share `beyond` of the population lies
 * more than k * s below the mean. The mean has n independent values, the standard deviation s has
 * dof degrees of freedom. n and dof may be fractions, 1 or more; 0 < beyond < 0.5.
 */
double tolerance_factor(double n, double dof, double beyond, double confidence);
