/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gate/tolerance.h"

#include <math.h>

enum {
	STEPS = 400,   /* of Simpson's rule; must be even */
	HALVINGS = 60, /* of an interval: below the resolution of a double */
};

/* The integral ends this many standard deviations away; the rest is negligible. */
#define WIDTH 9.0
#define FACTOR_MOST 1e6

static double normal_cdf(double z)
{
	return 0.5 * erfc(-z / M_SQRT2);
}

double normal_quantile(double p)
{
	double low = -40, high = 40;

	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;

		if (normal_cdf(middle) < p)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* Density of s / sigma at r: chi with dof degrees of freedom, over the root of dof. */
static double density(double r, double dof)
{
	double half = dof / 2;

	return r > 0	 ? exp(M_LN2 + half * log(half) - lgamma(half) + (dof - 1) * log(r) -
			       half * r * r)
	       : dof > 1 ? 0
			 : 2 * exp(half * log(half) - lgamma(half));
}

/*
 * The share of samples that keep the promise: mean - k * s is below mu - z * sigma exactly if the
 * mean's own error is below (k * s / sigma - z) * sigma, and both are independent.
 */
static double confidence_of(double k, double z, double n, double dof)
{
	double spread = WIDTH / sqrt(2 * dof);
	double low = spread < 1 ? 1 - spread : 0, high = 1 + spread, sum = 0;

	for (int i = 0; i <= STEPS; i++) {
		double r = low + (high - low) * i / STEPS;
		double weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;

		sum += weight * density(r, dof) * normal_cdf(sqrt(n) * (k * r - z));
	}
	return sum * (high - low) / STEPS / 3;
}

double tolerance_factor(double n, double dof, double beyond, double confidence)
{
	double z = -normal_quantile(beyond), low = 0, high = FACTOR_MOST;

	n = n < 1 ? 1 : n;
	dof = dof < 1 ? 1 : dof;
	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;

		if (confidence_of(middle, z, n, dof) < confidence)
			low = middle;
		else
			high = middle;
	}
	return high;
}
