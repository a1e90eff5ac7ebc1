/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CLOCK_MONOTONIC, poll(2) and nanosleep(2) as a test wants them: time passes where the test says
 * so, and how fast the machine is decides nothing. And a write(2) that never returns, as one to an
 * attribute whose driver hangs: to each file with the sticky bit (chmod +t).
 */
#pragma once

#include <stdint.h>

enum test_clock {
	CLOCK_FLOWS,	    /* as the machine's */
	CLOCK_CRAWLS,	    /* at a tenth of its speed: who has little time has ten times as much */
	CLOCK_STANDS,	    /* passes by test_clock_pass() and the file alone */
	CLOCK_LEAPS,	    /* a wait in which nothing comes is over at once: its time has passed */
	CLOCK_LEAPS_BEHIND, /* so it is in the forks of the caller, for whom it stands */
};

/*
 * For this process and those that it forks, until the next call. file: the clock is as many
 * milliseconds ahead as the file has bytes, so that a shell script puts it forward by `truncate -s
 * +5000 FILE`; or NULL.
 */
void test_clock(enum test_clock kind, const char *file);

/* For this process and its forks. */
void test_clock_pass(uint64_t usec);

/* Is called when a process is about to leap: what others do meanwhile. NULL: nothing. */
void test_clock_meanwhile(void (*act)(void *arg), void *arg);
