/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks whether the boot loader and the kernel accept an argument: `check` and the boot share the
 * predicate, so that the boot accepts every profile that passed `check`.
 */
#pragma once

#include "base/err.h"

enum {
	/*
	 * The kernel panics at the 32nd unclaimed argument "key=value"; GRUB's BOOT_IMAGE= and the
	 * user's own arguments may be among the 32.
	 */
	KARGS_MAX = 30,
	KARGS_LINE_MAX = 1524, /* bytes: ENV_SLOT_SIZE of kargs/env_layout.h */
};

/*
 * Whether an argument can pass through a GRUB variable: 1 to 1000 bytes of printable ASCII without
 * blanks, quotes, backslash, backtick and '$', and without any of # = ( / * as the first character;
 * not "--", nor an argument for railhead (railhead.*). -EINVAL with the reason otherwise.
 */
int karg_check(const char *text, struct err *err);

/*
 * Whether GRUB reads the argument as one plain word where it stands unquoted in text that GRUB
 * parses as a script (CHAR and the reserved words of grub-core/script/yylex.l; reserved words such
 * as "if" are plain in place of an argument, parser.y). For arguments that passed karg_check().
 * -EINVAL with the reason and the remedy otherwise.
 */
int karg_check_parsed(const char *text, struct err *err);
