/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of section sriov. */
#pragma once

#include "profile/rules.h"

extern const struct rule sriov_rules[];
extern const struct set_rule sriov_set_rules[];
