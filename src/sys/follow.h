/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Follows changes to the files of a directory, by inotify(7). */
#pragma once

#include <stdbool.h>

#include "sys/root.h"

struct follow {
	int fd; /* for poll(2): readable after a change; -1: no inotify */
};

void follow_begin(struct follow *ret);
void follow_end(struct follow *f);
/*
 * Consumes the changes so far, and follows the directory in its present state; an absent directory
 * is followed through its parent. Later changes make fd readable. False: nothing can be followed
 * (no parent either, no inotify), and the caller must look again after a pause.
 */
bool follow_look(struct follow *f, const struct root *root, const char *dir);
