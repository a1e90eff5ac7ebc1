/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memlock: the amount of memory that the processes of services may lock. */
#include "checks/check.h"
#include "kinds/checks.h"
#include "profile/yaml.h"

/* The subjects are units of the machine, not functions. */
static void emit(const struct checked *t)
{
	const struct ynode *units = ynode_get(t->map, "units");

	for (size_t i = 0; units && i < units->items.n; i++)
		check_look_wanting(t, (struct subject){units->items.v[i]->text, -1}, "",
				   &unit_memlock_item, "memlock", ynode_get(t->map, "limit"),
				   "unlimited");
}

CHECK(memlock, .required = {"units"}, .optional = {"limit"}, .look_whole = emit);
