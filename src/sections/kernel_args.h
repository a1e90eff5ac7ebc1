/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contradictions of section kernel_args. */
#pragma once

#include "profile/rules.h"

extern const struct rule kernel_args_rules[];
