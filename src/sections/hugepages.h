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

extern const struct rule hugepages_rules[];
