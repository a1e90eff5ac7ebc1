/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/language.h"
#include "profile/section.h"

const struct section section_mounts = {
	.name = "mounts",
	.spec = &spec_mounts,
	.help = "Mounted file systems, by mount point.",
	.class = KEY_SETS,
};
