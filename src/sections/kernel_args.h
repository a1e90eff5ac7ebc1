/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contradictions of section kernel_args. */
#pragma once

#include "profile/rules.h"

extern const struct rule kernel_args_rules[];

/* What isolate_cpus names, as far as it is known without a node or with the ruling's. */
bool isolated_here(const struct ruling *r, struct cpus *ret, struct err *err);
