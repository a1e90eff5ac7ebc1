/* SPDX-License-Identifier: GPL-2.0-or-later */
/* survey: what this node is. */
#include <stdio.h>

#include "cmd/cmd.h"
#include "node/inventory.h"
#include "report/inventory.h"

static int show(struct invocation *inv)
{
	struct inventory inventory;
	struct err err = {0};
	struct node node;

	if (node_survey(&inv->root, &node, &err) < 0) {
		complain("%s", err.text);
		return EXIT_INTERNAL;
	}
	node_read_part_numbers(&inv->root, &node);
	inventory_take(&inv->root, &node, &inventory);
	if (inv->json)
		print_json(inventory_to_json(&node, &inventory));
	else
		inventory_render(stdout, &node, &inventory, inv->all);
	inventory_free(&inventory);
	node_free(&node);
	return EXIT_OK;
}

static int run(struct invocation *inv)
{
	return show(inv);
}

const struct verb verb_survey = {
	.name = "survey",
	.args = "",
	.help = "what this node is: hardware by NUMA node, firmware, drivers",
	.options = OPT_ROOT | OPT_JSON | OPT_ALL,
	.run = run,
};
