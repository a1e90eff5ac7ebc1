/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPUs that kernel_args.isolate_cpus names: a list, or all but the first cores of each node. */
#pragma once

#include "node/node.h"

struct ynode; /* of profile/yaml.h */

/*
 * isolate: the value of that key, which the schema has checked. A list is returned as written,
 * without asking the node. -ENODATA, -ERANGE: as of node_first_cores(), with the remedy.
 */
int isolated_on(const struct node *node, const struct ynode *isolate, struct cpus *ret,
		struct err *err);
/*
 * "; node 0 keeps 0-1, node 1 keeps 2-3": the CPUs of each NUMA node that stay for the system; ""
 * where the kernel does not report them. Caller frees.
 */
char *kept_text(const struct node *node, const struct cpus *isolated);
