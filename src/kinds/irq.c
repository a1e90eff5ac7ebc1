/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kinds/kind.h"

const struct kind kind_irq = {.name = "irq"};
