/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/language.h"
#include "profile/section.h"

const struct section section_limits = {
	.name = "limits",
	.spec = &spec_limits,
	.help = "Resource limits of processes.",
	.class = KEY_SETS,
};
