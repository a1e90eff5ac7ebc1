/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which functions the running kernel has: what it was built with, and not what its version says. */
#pragma once

#include "base/err.h"
#include "sys/root.h"

/*
 * Calls each for every symbol of /proc/kallsyms; module: the module that has it, "" of a built-in
 * one. Names need no privilege (addresses do). Tens of MB in a tenth of a second. 0, or -errno:
 * -ENOENT without CONFIG_KALLSYMS and in trees that were captured.
 */
int kallsyms_walk(const struct root *root,
		  void (*each)(const char *name, const char *module, void *arg), void *arg,
		  struct err *err);
