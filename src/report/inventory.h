/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `railhead survey` prints: the node and its inventory as text and as JSON. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "node/inventory.h"
#include "node/node.h"

/* Grouped by NUMA node; all: functions too that no profile would name (bridges, uncore). */
void inventory_render(FILE *out, const struct node *node, const struct inventory *inv, bool all);
/* Everything; the fields are in railhead(8). The caller owns the result. */
json_t *inventory_to_json(const struct node *node, const struct inventory *inv);

/*
 * A JSON string. Text of a captured tree, or a path, may be any bytes, and JSON is UTF-8: then
 * each byte that is not ASCII is '?'.
 */
json_t *text_json(const char *s);
