/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a match came out: candidates, their conditions, the device sets of those that count. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "node/node.h"
#include "profile/profile.h"

/* "chosen", "matches", "no", "abstract" or "invalid". */
const char *candidate_fate(const struct candidate *c);

/* Device sets are of the chosen profile; where none or two match, of the nearest ones. */
json_t *match_to_json(const struct match *m, const struct node *node);
void match_render(FILE *out, const struct match *m, const struct node *node, bool aligned);
