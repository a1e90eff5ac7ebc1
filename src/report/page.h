/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A node as one self-contained page of HTML, without scripts or external files. The page draws the
 * node as boxes (sockets, NUMA nodes, the PCIe tree), with each fault in the box of its part. For a
 * boot it adds the timeline and the gate's figures. Light or dark as the reader's system is.
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
	const struct record *record;   /* NULL: a survey */
	const struct history *history; /* of the node's boots; or NULL */
	unsigned int reboots;	       /* by railhead since the last settled verdict */
	bool reboot_due;	       /* this boot requested the last one */
};

void page_render(FILE *out, const struct page *page);
