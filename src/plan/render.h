/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of changes as text and as JSON. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "plan/change.h"

/* One change with all that is known of it; a new reference. */
json_t *change_to_json(const struct change *c);

/*
 * All changes, stage by stage, a line each: state, id, what was found and what is wanted; the
 * reason below it.
 */
void render_changes(FILE *out, const struct plan *plan, unsigned int stages);

/* "not as expected: ..." of a broken premise; NULL of any other change. Caller frees. */
char *render_premise(const struct change *c);

/* "file:line:col"; caller frees. */
char *render_place(struct place at);
