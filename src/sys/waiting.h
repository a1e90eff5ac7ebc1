/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this process waits for, for a person who watches it. Whoever is about to sleep says so, and
 * sleeps a second at most where somebody watches, so that the seconds go by on the screen.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* since, until: clock_usec(); the wait ends then at the latest. */
typedef void (*waiting_shown)(const char *what, uint64_t since, uint64_t until);

/* NULL, as at first: nobody watches. */
void waiting_watch(waiting_shown show);

/*
 * what: the first of those that are waited for; others: how many there are besides. Returns how
 * long the caller may sleep: timeout_ms, or less.
 */
int waiting_for(const char *what, size_t others, uint64_t since, uint64_t until, int timeout_ms);
