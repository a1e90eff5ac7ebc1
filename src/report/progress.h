/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On a terminal, one line that says what is waited for, since when and until when at most. It is
 * drawn on standard error after a second of waiting, and goes as soon as anything is printed.
 */
#pragma once

/* what: of which the lines are, "devices". Only where standard error is a terminal. */
void progress_begin(const char *what);
void progress_end(void);
