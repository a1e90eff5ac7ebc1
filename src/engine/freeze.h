/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "engine/run.h"

/*
 * /run/railhead/profile holds name and digest of the profile that this boot acts on.
 * -ESTALE with a sentence if another one is frozen there (FREEZE_BOOT only).
 */
int freeze_profile(const struct root *root, const struct profile *profile, enum freeze how,
		   struct err *err);
