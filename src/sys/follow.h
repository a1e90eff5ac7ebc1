/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Follows what happens to the files of a directory, by inotify(7). */
#pragma once

#include <stdbool.h>

#include "sys/root.h"

struct follow {
	int fd; /* for poll(2): readable once something happened; -1: the kernel has no more */
};

void follow_begin(struct follow *ret);
void follow_end(struct follow *f);
/*
 * Takes what has happened, and follows the directory as it is now: where it is absent, until its
 * parent has it. What happens from here on makes fd readable. False: nothing can be followed (no
 * parent either, no inotify), and the caller has to look again by itself.
 */
bool follow_look(struct follow *f, const struct root *root, const char *dir);
