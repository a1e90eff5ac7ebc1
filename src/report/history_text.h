/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The history as an operator reads it: a line for each boot, then figures that become worse. */
#pragma once

#include <stdio.h>

#include "engine/history.h"
#include "report/screen.h"

/* most: so many of the latest boots, the newest last. There is one at least. */
void history_render(FILE *out, const struct history *h, size_t most, const struct screen *screen);
/* The same boots as JSON, each with what changed, and the trends. The caller's. */
json_t *history_to_json(const struct history *h, size_t most);
/* Of a boot: "2026-11-20 04:12Z", with a mark where the clock can't be right. The caller frees. */
char *history_time(const struct history *h, size_t boot);
