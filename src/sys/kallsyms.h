/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of the running kernel, which depend on its configuration and not only on its version.
 */
#pragma once

#include "base/err.h"
#include "sys/root.h"

/*
 * Calls each for every symbol of /proc/kallsyms; module: the module that has the symbol, "" if
 * built in. Names need no privilege (addresses do). Takes a tenth of a second for tens of MB. 0, or
 * -errno: -ENOENT without CONFIG_KALLSYMS and in captured trees.
 */
int kallsyms_walk(const struct root *root,
		  void (*each)(const char *name, const char *module, void *arg), void *arg,
		  struct err *err);
