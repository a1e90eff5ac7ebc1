/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the boot loader and the kernel accept as an argument: one predicate for `check` and for
 * the boot, so that a profile that passed the one is not refused by the other.
 */
#pragma once

#include "base/err.h"

enum {
	/*
	 * The kernel panics at the 32nd argument "key=value" that nobody claims; GRUB's
	 * BOOT_IMAGE= and the user's own may be among them.
	 */
	KARGS_MAX = 30,
	KARGS_LINE_MAX = 1524, /* bytes: ENV_SLOT_SIZE of boot/env_layout.h */
};

/*
 * Whether an argument can travel through a GRUB variable: printable ASCII without blanks,
 * quotes, backslash, backtick and '$', 1 to 1000 bytes, none of # = ( / * at its front; not "--",
 * nor an argument that speaks to railhead itself (railhead.*). -EINVAL and the reason otherwise.
 */
int karg_check(const char *text, struct err *err);
