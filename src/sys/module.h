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
/* "mlx5-core" -> "mlx5_core"; caller frees. */
char *module_sysfs_name(const char *name);
