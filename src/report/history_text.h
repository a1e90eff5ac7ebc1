/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The history for operators: a line for each boot, then the figures that worsen. */
#pragma once

#include <stdio.h>

#include "engine/history.h"
#include "report/screen.h"

/* most: the number of latest boots, at least 1; the newest is last. */
void history_render(FILE *out, const struct history *h, size_t most, const struct screen *screen);
/* The same boots as JSON, each with what changed, and the trends. The caller owns the result. */
json_t *history_to_json(const struct history *h, size_t most);
