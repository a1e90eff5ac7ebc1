/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of changes as text. */
#pragma once

#include <stdio.h>

#include "plan/change.h"

/*
 * All changes, stage by stage, a line each: state, id, what was found and what is wanted; the
 * reason below it.
 */
void render_changes(FILE *out, const struct plan *plan, unsigned int stages);

/* "not as expected: ..." of a broken premise; NULL of any other change. Caller frees. */
char *render_premise(const struct change *c);

/* "file:line:col"; caller frees. */
char *render_place(struct place at);
