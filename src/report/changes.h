/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A plan for people: the faults first, and the number of changes that hold. */
#pragma once

#include <stddef.h>

#include "engine/run.h"
#include "report/screen.h"

/*
 * Prints the changes of those stages that do not hold: broken premises first, then changes that
 * failed, differ, wait, are unsupported, or could not be measured. On a terminal, equal lines of
 * several members become one (fold.h), values are cut to the width, and the reasons follow below.
 * Elsewhere each change is one whole line, with its reason at the end.
 */
void changes_render(FILE *out, const struct run *run, unsigned int stages, enum stage running,
		    const struct screen *screen);
/* The wanted value; "the profile's text" for a file, because its text has many lines. */
const char *changes_wanted(const struct change *c);
/*
 * Prints any changes of the run, in that order, as on a terminal of the screen's width; a change
 * that holds has one value. At most `most` lines.
 */
void changes_print(FILE *out, const struct run *run, const struct change *const *changes, size_t n,
		   const struct screen *screen, size_t most);
