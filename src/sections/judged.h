/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts that a section, or the engine, judges itself, emitted as checks of the gate. */
#pragma once

#include <stdbool.h>

#include "profile/place.h"
#include "sections/sections.h"

/* Takes ownership of observed. remedy is used if holds is false. */
struct change *judged(struct plan *plan, const char *section, struct place at, const char *id,
		      const char *desired, char *observed, bool holds, const char *remedy);
