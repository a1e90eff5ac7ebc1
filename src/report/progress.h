/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On a terminal, one line with the awaited part, the time so far and the limit. It appears on
 * standard error after a second of waiting, and disappears as soon as anything is printed.
 */
#pragma once

/* what: the subject of the lines, "devices". Only if standard error is a terminal. */
void progress_begin(const char *what);
void progress_end(void);
