/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to this room: the parts of the section gate. */
#pragma once

#include "profile/rules.h"

extern const struct spec gate_language; /* language.c */
extern const struct rule gate_rules[];	/* rules.c */
