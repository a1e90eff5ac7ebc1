/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside this room: facts that a section judges itself, from topology, as checks of the gate. */
#pragma once

#include "sections/sections.h"

/* Takes over observed. remedy is for where it does not hold. */
struct change *judged(struct plan *plan, const char *section, struct place at, const char *id,
		      const char *desired, char *observed, bool holds, const char *remedy);
