/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A figure that becomes worse from boot to boot, so slowly that the gate's threshold does not see
 * it: a part that ages, dust in a heat sink. The test is Mann and Kendall's, which counts the pairs
 * of boots of which the later one is worse: it takes no model of the noise, and an outlier is a few
 * pairs. How much worse is Theil and Sen's estimate, the median of the slopes of all pairs. Pure.
 *
 * Where the node itself was changed (a kernel, a firmware, a profile) the figure may step without
 * becoming worse: a segment ends there, and only pairs inside one segment count (Hirsch, Slack and
 * Smith 1982, who compare each month of a year with itself).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum {
	TREND_WINDOW = 40, /* the latest points that are looked at */
};
/*
 * Both must be exceeded. A chance of 3e-7 for one look at noise: a fleet looks thousands of times.
 * Less than 2 % is the seasons of a computer room.
 */
#define TREND_Z_LEAST 5.0
#define TREND_PERCENT_LEAST 2.0

struct trend_point {
	size_t boot;	/* which boot it is of, ascending */
	size_t segment; /* ascending */
	double value;	/* above 0 */
};

struct trend {
	double percent; /* of change over those boots: below 0 where the figure fell */
	size_t boots;	/* from the first point to the last one */
	double z;	/* standard deviations of the count of pairs, of noise alone */
};

/* Whether the latest points become worse. more_is_worse: of times; less is worse of rates. */
bool trend_find(const struct trend_point *points, size_t n, bool more_is_worse, struct trend *ret);
