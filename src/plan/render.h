/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of changes as text. */
#pragma once

#include <stdio.h>

#include "profile/place.h"

struct plan; /* of plan/plan.h */

/*
 * All changes, stage by stage, with a line for each: state, id, found and wanted value; the reason
 * is on the line below.
 */
void render_changes(FILE *out, const struct plan *plan, unsigned int stages);

/* "path/file:line:col"; the caller frees. */
char *render_place(struct place at);
/* "file:line"; the caller frees. */
char *render_line(struct place at);
