/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pager between standard output and a terminal, as in systemctl: $PAGER, or less, which ends by
 * itself if the text fits on one screen. There is no pager in a pipe, on a "dumb" terminal, or if
 * PAGER is empty or "cat".
 *
 * PAGER is a program and its arguments, separated by blanks, not a command of sh. For root the
 * pager is always less: the environment may belong to a user whom sudo lets run nothing as root but
 * railhead.
 */
#pragma once

#include <stdbool.h>

/* Sends all later output to the pager. Call it after screen_look(), before the first line. */
void pager_begin(void);
/*
 * Call it after closing standard output: waits until the reader quits the pager. Returns whether
 * there was a pager.
 */
bool pager_end(void);
