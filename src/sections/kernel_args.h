/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of section kernel_args. */
#pragma once

#include "profile/rules.h"

extern const struct rule kernel_args_rules[];

/* The CPUs that isolate_cpus names, if known without a node or with the ruling's node. */
bool isolated_here(const struct ruling *r, struct cpus *ret, struct err *err);
