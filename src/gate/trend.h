/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A figure that worsens from boot to boot, too slowly for the gate's threshold: a part ages, or
 * dust fills a heat sink. The test is Mann and Kendall's, which counts the pairs of boots whose
 * later boot is worse: it needs no model of the noise, and an outlier affects few pairs. The size
 * of the trend is Theil and Sen's estimate, the median of the slopes of all pairs. Pure.
 *
 * A change of the node (kernel, firmware, profile) may make the figure step without a trend, so a
 * segment ends there, and only pairs inside one segment count (Hirsch, Slack and Smith 1982, who
 * compare each month of a year with the same month).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum {
	TREND_WINDOW = 40, /* the latest points that count */
};
/*
 * A trend must exceed both. z of 5 is a chance of 3e-7 for each test of noise, because a fleet
 * tests thousands of times. Changes below 2 % come from the seasons of a computer room.
 */
#define TREND_Z_LEAST 5.0
#define TREND_PERCENT_LEAST 2.0

struct trend_point {
	size_t boot;	/* its boot, ascending */
	size_t segment; /* ascending */
	double value;	/* above 0 */
};

struct trend {
	double percent; /* change over the boots; negative where the figure fell */
	size_t boots;	/* from the first point to the last one */
	double z;	/* standard deviations of the count of pairs, of noise alone */
};

/* Whether the latest points worsen. more_is_worse: true for times, false for rates. */
bool trend_find(const struct trend_point *points, size_t n, bool more_is_worse, struct trend *ret);
