/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record for operators: whether the node accepts work; if not, each cause, on a terminal folded
 * (fold.h) and with the remedy of the first; the course of the boot; where to look next.
 */
#pragma once

#include <stdio.h>

#include "engine/record.h"
#include "report/screen.h"

/* The verdict alone: "blocked (work is not admitted): REASON; and 2 more". The caller frees. */
char *status_line(const struct record *r);
/* How the verdict is watched, if not as usual: see record_judge_age(). NULL: as usual. Caller
 * frees. */
char *age_text(const struct record *r);
/* "work is not admitted", "work is admitted by hand" */
const char *admission_text(const struct record *r);
/* The style of the verdict. */
enum style status_style(const struct record *r);
void status_render(FILE *out, const struct record *r, const struct screen *screen);
