/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shell patterns over paths, as fnmatch(3) has them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define PATTERN_CHARACTERS "*?["

bool pattern_is(const char *text);
/* Whether a name without slashes can match both. Of two patterns that is assumed. */
bool patterns_meet(const char *a, const char *b);
/* The same of paths, which "*" does not go beyond the slashes of. */
bool paths_meet(const char *a, const char *b);
/*
 * How specific a pattern is: the more of it is literal, the more; a class ([ab]) counts more than
 * "?", and that more than "*". SIZE_MAX for a text that is no pattern, so that a path comes before
 * any pattern, as in sysctl.d(5).
 *
 * The parts of a path that name things of the machine count first: those with a pattern or a
 * digit, and the last one. The others are the kernel's own words on the way to these, and sysfs has
 * ways of any length to one file: by class net, "eth1*" is more specific than "*" by the bus.
 */
size_t pattern_weight(const char *text);
