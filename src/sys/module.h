/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks at modules; machine.h inserts them. */
#pragma once

#include "base/err.h"
#include "sys/root.h"

enum module_state {
	MODULE_MISSING, /* the running kernel has no such module or alias */
	MODULE_ABSENT,	/* not loaded */
	MODULE_COMING,
	MODULE_LIVE,
	MODULE_BUILTIN,
};

/*
 * State of a module by name or alias (xprtrdma is rpcrdma); '-' and '_' are equal. sysfs knows live
 * modules. Others are looked up with libkmod, only on the live root, because sysfs has no directory
 * for a built-in module without parameters, nor for an alias.
 */
int module_state(const struct root *root, const char *name, enum module_state *ret,
		 struct err *err);
/*
 * Whether the module's file declares the parameter: 1, 0, or -ENODATA if the parameters are unknown
 * (a tree, a built-in module in a kernel before 5.2).
 */
int module_has_param(const struct root *root, const char *name, const char *param);
/* "mlx5-core" -> "mlx5_core"; caller frees. */
char *module_sysfs_name(const char *name);
/* The file of a parameter, "/sys/module/mlx5_core/parameters/prof_sel"; caller frees. */
char *module_param_path(const char *module, const char *param);
