/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kernel arguments came to, of kind check. */
#pragma once

#include "kinds/target.h"

/* on.name: an argument that the kernel of this boot was given, and nothing overrides it */
extern const struct target_item karg_arrived;
/*
 * Menu entries still take railhead's variable: that matters only to the next boot, and only where
 * GRUB reads railhead's file at all, since a network boot has no such entries.
 */
extern const struct target_item entries_take_kargs;
