/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a match: the candidates, their conditions, and the device sets that matter. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "node/node.h"
#include "profile/profile.h"

/* "chosen", "matches", "no", "abstract" or "invalid". */
const char *candidate_fate(const struct candidate *c);

/* Includes the device sets of the chosen profile; if none or two match, of the nearest profiles. */
json_t *match_to_json(const struct match *m, const struct node *node);
void match_render(FILE *out, const struct match *m, const struct node *node, bool aligned);
