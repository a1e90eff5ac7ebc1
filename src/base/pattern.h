/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shell patterns over paths, as fnmatch(3) has them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

bool pattern_is(const char *text);
/*
 * How specific a pattern is: the more of it is literal, the more; a class ([ab]) counts more than
 * "?", and that more than "*". SIZE_MAX for a text that is no pattern, so that a path comes before
 * any pattern, as in sysctl.d(5). The directories in which sysfs lists devices (/sys/class/net)
 * don't count: they are different names of the same devices.
 */
size_t pattern_weight(const char *text);
