/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A private temporary directory (0700, below $TMPDIR or /tmp) that goes when this process
 * ends, however it ends: a child of its own session waits for that and removes it.
 */
#pragma once

#include <sys/types.h>

#include "base/err.h"

struct scratch {
	char path[4096];
	int alive;   /* the cleaner sees this pipe close */
	pid_t child; /* the cleaner; 0: there is no directory */
};

int scratch_make(struct scratch *ret, struct err *err);
/* Removes it now. Nothing happens if there is none (zero). */
void scratch_remove(struct scratch *s);
