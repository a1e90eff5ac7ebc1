/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A plan as people read it: what is wrong first, what is as wanted as a count. */
#pragma once

#include <stddef.h>

#include "engine/run.h"
#include "report/screen.h"

/*
 * The changes of those stages that do not hold: broken premises, then what failed, differs, waits,
 * what this machine can't do, and what it could not measure now. On a terminal lines that say the
 * same of several members become one (fold.h), values are cut to its width, and the reasons follow
 * below; elsewhere each change is a line of its own, whole, with its reason at the end.
 */
void changes_render(FILE *out, const struct run *run, unsigned int stages, enum stage running,
		    const struct screen *screen);
/* What is wanted, in short: a file of railhead's own has many lines; without any it goes. */
const char *changes_wanted(const struct change *c);
/*
 * Any changes of the run, in that order, as on a terminal of the screen's width; what is as wanted
 * has one value. At most so many lines.
 */
void changes_print(FILE *out, const struct run *run, const struct change *const *changes, size_t n,
		   const struct screen *screen, size_t most);
