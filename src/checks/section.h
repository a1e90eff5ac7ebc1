/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside this room: what the section gate is made of. */
#pragma once

#include "profile/rules.h"

extern const struct spec gate_language; /* language.c */
extern const struct rule gate_rules[];	/* rules.c */
