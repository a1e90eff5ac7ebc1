/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How trials of kernel args ended, as railhead.env keeps it (railhead_ends): a string of at most
 * ENV_ENDS_MAX letters, enum env_end, one for each trial of the args that the state speaks of, the
 * oldest first. The letter of the trial that is armed or runs is a capital, and the last one.
 *
 * Two sorts of ends say nothing against the args: an orderly shutdown before the verdict, and a
 * boot that railhead was told to leave alone. The first ENV_GIVEN_MAX of them give the attempt
 * back, and any further one counts as a death: an orderly reboot in each boot makes no loop.
 *
 * No decision relies on the string: without a capital at its end, because the string was lost,
 * changed or is full, a trial without a verdict counts as a death.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "boot/env_layout.h"

enum { ENV_GIVEN_MAX = 2 };

/* A trial is armed: how it ends is not known yet. Nothing where the string is full. */
void ends_open(char ends[ENV_ENDS_MAX + 1]);
/*
 * Notes how that trial ends. The first cause noted stays, but a panic and a verdict outrank the
 * others: a soft-reboot shuts down in order, and the trial goes on. False: nothing was changed.
 */
bool ends_note(char *ends, enum env_end end);
/* That trial is over: with the cause noted. */
void ends_settle(char *ends);
/* Nothing was tried, or the args are kept: that trial has no letter. */
void ends_drop(char *ends);

/* The noted end of that trial, enum env_end; '\0': no letter is kept for it. */
char ends_last(const char *ends);
/* Whether trial i of the string counts against the args. */
bool ends_counts(const char *ends, size_t i);
/* Whether the trial of the capital gives its attempt back. */
bool ends_give_back(const char *ends);

/* What became of a trial, without a full stop: "the kernel panicked"; any case of the letter. */
const char *end_text(char end);
/* A name for programs: "panic", "timer", "stop", "unknown", "alone", "lost", "left-out". */
const char *end_name(char end);
/* How the trials that count ended: "both panicked"; "" where nothing is known. Caller frees. */
char *ends_deaths(const char *ends);
