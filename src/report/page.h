/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A node as one self-contained page of HTML: no script, nothing that is fetched. The node is drawn
 * as boxes (sockets, NUMA nodes, the PCIe tree), what is wrong stands in the box that it is about;
 * of a boot also its timeline and the gate's figures. Light and dark as the reader's system is.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "engine/history.h"
#include "engine/record.h"
#include "node/inventory.h"
#include "node/node.h"

struct page {
	const struct node *node;
	const struct inventory *inv;
	const struct record *record;   /* NULL: of a survey */
	const struct history *history; /* of the node's boots; or NULL */
	unsigned int reboots;	       /* by railhead since the last settled verdict */
	bool reboot_due;	       /* this boot has asked for the last of them */
};

void page_render(FILE *out, const struct page *page);
