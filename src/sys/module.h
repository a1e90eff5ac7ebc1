/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looking at modules; inserting them is machine.h's. */
#pragma once

#include "base/err.h"
#include "sys/root.h"

enum module_state {
	MODULE_MISSING, /* the running kernel has no such module, nor an alias of that name */
	MODULE_ABSENT,	/* not loaded */
	MODULE_COMING,
	MODULE_LIVE,
	MODULE_BUILTIN,
};

/*
 * State of a module by name or alias (xprtrdma is rpcrdma); '-' and '_' are equal.
 * sysfs answers for what is live; for the rest libkmod is asked, only on the live root:
 * a built-in without parameters has no directory, an alias has none either.
 */
int module_state(const struct root *root, const char *name, enum module_state *ret,
		 struct err *err);
/*
 * Whether the module's file says that it has the parameter: 1, 0, or -ENODATA where nothing is said
 * of its parameters (a tree, a module that is built into a kernel before 5.2).
 */
int module_has_param(const struct root *root, const char *name, const char *param);
/* "mlx5-core" -> "mlx5_core"; caller frees. */
char *module_sysfs_name(const char *name);
