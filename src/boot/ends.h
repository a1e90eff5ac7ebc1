/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How trials of kernel args ended, as kept in railhead.env (railhead_ends): a string of at most
 * ENV_ENDS_MAX letters (enum env_end), one for each trial of the args that the state describes,
 * oldest first. The letter of a trial that is armed or running is a capital, and comes last.
 *
 * Two ends do not count against the args: an orderly shutdown before the verdict, and a boot that
 * railhead was told to leave alone. The first ENV_GIVEN_MAX of these ends give the attempt back,
 * and any further one counts as a death, so that an orderly reboot in each boot makes no loop.
 *
 * No decision relies on the string. If the capital at its end is missing, because the string was
 * lost, changed or is full, a trial without a verdict counts as a death.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "boot/env_layout.h"

enum { ENV_GIVEN_MAX = 2 };

/* A trial is armed and its end is still unknown. Does nothing if the string is full. */
void ends_open(char ends[ENV_ENDS_MAX + 1]);
/*
 * Notes how the trial of the capital ends. The first noted cause stays, except that a panic or a
 * verdict replaces the others: a soft-reboot shuts down in order, and the trial goes on. False: no
 * change.
 */
bool ends_note(char *ends, enum env_end end);
/* The trial of the capital is over, with the noted cause. */
void ends_settle(char *ends);
/* Removes the letter of the capital: the trial tried nothing, or its args are kept. */
void ends_drop(char *ends);

/* The noted end of the trial of the capital, enum env_end; '\0': it has no letter. */
char ends_last(const char *ends);
/* Whether trial i of the string counts against the args. */
bool ends_counts(const char *ends, size_t i);
/* Whether the trial of the capital gives its attempt back. */
bool ends_give_back(const char *ends);

/* How a trial ended, without a full stop: "the kernel panicked"; any case of the letter. */
const char *end_text(char end);
/* A name for programs: "panic", "timer", "stop", "unknown", "alone", "lost", "left-out". */
const char *end_name(char end);
/* How the trials that count ended: "both panicked"; "" if unknown. Caller frees. */
char *ends_deaths(const char *ends);
