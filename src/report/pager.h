/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pager between standard output and a terminal, as systemctl has it: $PAGER, or less, which ends
 * by itself where all is on one screen. None is used in a pipe, on a terminal that is "dumb", and
 * where PAGER is empty or "cat".
 */
#pragma once

#include <stdbool.h>

/* Before the first line, and after screen_look(): what is printed from here on goes to the pager.
 */
void pager_begin(void);
/*
 * After standard output was closed: waits until its reader has seen enough, who may quit before the
 * end. Returns whether there was a pager.
 */
bool pager_end(void);
