/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The settings that stage early makes in each boot before anybody can log in: the sections sysctl,
 * sysfs and mounts. A value that the kernel takes may leave a node on which no program starts
 * (vm.overcommit_memory 2 with a ratio of 0), in each boot again. So stage early leaves a mark, a
 * file below /var/lib/railhead, before it sets them, and the boot removes the mark when it has come
 * up. After two boots in a row that left the mark, the settings are held back: nothing sets them,
 * each change fails with the reason, and the gate blocks the node. That lasts until the profile
 * changes, or `railhead apply --retry`.
 *
 * Where the file system of the mark is read-only, or does not survive a boot, there is no
 * protection.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"

struct change; /* of plan/change.h */
struct plan;   /* of plan/plan.h */
struct root;
struct section_ctx; /* of profile/section.h */

#define HOLD_BACK_FILE "early-mark"

enum { HOLD_BACK_BOOTS = 2 };

/* Withholds the changes of a new plan if they are held back. */
void hold_back(const struct section_ctx *ctx, struct plan *plan);
/* hold_back() withholds it. */
bool is_held_back(const struct change *c);
/*
 * Leaves the mark of this boot, if the plan has settings that need it. A boot on trial leaves the
 * mark, but does not count: its kernel arguments are blamed first. An error means that there is no
 * protection in this boot.
 */
int hold_back_begin(const struct section_ctx *ctx, const struct plan *plan, struct err *err);
/* Also for what is held back: the settings are tried again. */
int hold_back_forget(const struct root *root, struct err *err);
/* The boot has come up, or ends in order: removes its mark, unless the settings are held back. */
int hold_back_end(const struct root *root, struct err *err);
