/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A private temporary directory (0700, below $TMPDIR or /tmp), which is removed when this process
 * ends for any reason: a child in its own session waits for the end and removes the directory.
 */
#pragma once

#include <sys/types.h>

#include "base/err.h"

struct scratch {
	char path[4096];
	int alive;   /* the cleaner waits until this pipe closes */
	pid_t child; /* the cleaner; 0: no directory */
};

int scratch_make(struct scratch *ret, struct err *err);
/* Removes the directory now. Nothing happens if there is no directory (zero). */
void scratch_remove(struct scratch *s);
