/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "steps/step.h"

const struct step step_pcie = {.section = "pcie"};
