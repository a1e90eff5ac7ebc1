/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far below the mean of a sample a limit must lie, so that it promises something: one-sided
 * tolerance limits of the normal distribution (ISO 16269-6; NIST/SEMATECH handbook, 7.2.6.3). Pure.
 */
#pragma once

/* The z that a standard normal variable stays below with probability p; 0 < p < 1. */
double normal_quantile(double p);

/*
 * k: of samples whose mean stands on n independent values, and whose standard deviation s on dof
 * degrees of freedom, a share `confidence` has at most a share `beyond` of their population more
 * than k * s below the mean. n and dof may be fractions, from 1 on; 0 < beyond < 0.5.
 */
double tolerance_factor(double n, double dof, double beyond, double confidence);
