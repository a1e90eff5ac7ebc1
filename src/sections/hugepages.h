/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pools and rules of section hugepages. */
#pragma once

#include "profile/rules.h"

/* The words of `at`, in the order of their indices. */
enum { AT_BOOT, AT_RUNTIME };

/* Whether kernel arguments allocate the pages of a pool, which is the default of `at`. */
static inline bool pool_at_boot(const struct ynode *pool)
{
	const struct ynode *at = ynode_get(pool, "at");

	return !at || at->value.number == AT_BOOT;
}

enum { ALL_NODES = -1 };

/*
 * A sentence if the pools need more memory than a NUMA node has (of: that node; ALL_NODES: any
 * node); NULL: the memory suffices or is unknown. boot: count only pools that kernel arguments
 * allocate. The caller frees.
 */
char *hugepages_lack(const struct node *node, const struct ynode *pools, int of, bool boot);

extern const struct rule hugepages_rules[];
