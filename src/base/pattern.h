/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shell patterns for paths, as in fnmatch(3). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define PATTERN_CHARACTERS "*?["

bool pattern_is(const char *text);
/* Whether both can match the same name, without slashes. Two patterns are assumed to. */
bool patterns_meet(const char *a, const char *b);
/* The same for paths, where "*" does not match slashes. */
bool paths_meet(const char *a, const char *b);
/*
 * The specificity of a pattern: more literal characters weigh more; a class ([ab]) weighs more than
 * "?", and "?" more than "*". SIZE_MAX for a text that is not a pattern, so that a path comes
 * before any pattern, as in sysctl.d(5).
 *
 * The parts of a path that name a part of the machine count first: parts with a pattern or a digit,
 * and the last part. The kernel's fixed words between these count less, because sysfs has paths of
 * different lengths to the same file: by class net, "eth1*" is more specific than "*" by the bus.
 */
size_t pattern_weight(const char *text);
