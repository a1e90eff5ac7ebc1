/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shows a watching person the thing that this process waits for. A caller that is about to sleep
 * calls waiting_for(), and sleeps at most a second while a person watches, so that the screen
 * counts the seconds.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* since, until: clock_usec(); until is the latest end of the wait. */
typedef void (*waiting_shown)(const char *what, uint64_t since, uint64_t until);

/* NULL, the default: no person watches. */
void waiting_watch(waiting_shown show);

/*
 * what: the first awaited thing; others: the number of further things. Returns the time that the
 * caller may sleep: timeout_ms, or less.
 */
int waiting_for(const char *what, size_t others, uint64_t since, uint64_t until, int timeout_ms);
