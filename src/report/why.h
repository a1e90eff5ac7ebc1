/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output of `railhead why`. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "engine/why.h"
#include "report/screen.h"

/* One key in full, several keys as a list of at most a screen. */
void why_render(FILE *out, const struct run *run, const struct record *record,
		const struct why *why, const struct screen *screen);
/* Everything; the fields are in railhead(8). The caller owns the result. */
json_t *why_to_json(const struct run *run, const struct record *record, const struct why *why);
