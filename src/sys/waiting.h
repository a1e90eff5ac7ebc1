/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thing that this process waits for, shown to a person who watches. A caller that is about to
 * sleep calls waiting_for(), and sleeps a second at most while a person watches, so that the
 * seconds go by on the screen.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* since, until: clock_usec(); the wait ends then at the latest. */
typedef void (*waiting_shown)(const char *what, uint64_t since, uint64_t until);

/* NULL, the default: no person watches. */
void waiting_watch(waiting_shown show);

/*
 * what: the first thing that is waited for; others: the number of further ones. Returns how
 * long the caller may sleep: timeout_ms, or less.
 */
int waiting_for(const char *what, size_t others, uint64_t since, uint64_t until, int timeout_ms);
