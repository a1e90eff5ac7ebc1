/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pools of section hugepages, and their contradictions. */
#pragma once

#include "profile/rules.h"

/* The words of `at`, by their index. */
enum { AT_BOOT, AT_RUNTIME };

/* Whether kernel arguments ask for the pages of a pool, which is where `at` is not said. */
static inline bool pool_at_boot(const struct ynode *pool)
{
	const struct ynode *at = ynode_get(pool, "at");

	return !at || at->value.number == AT_BOOT;
}

enum { ALL_NODES = -1 };

/*
 * A sentence where the pools ask for more memory than a NUMA node of the machine (of; ALL_NODES:
 * any) has; NULL: they do not, or its memory is not known. boot: of pools that kernel arguments ask
 * for. Caller frees.
 */
char *hugepages_lack(const struct node *node, const struct ynode *pools, int of, bool boot);

extern const struct rule hugepages_rules[];
