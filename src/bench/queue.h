/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a thread that sleeps in its windows, too, waited for a CPU although it could run: the
 * second number of /proc/thread-self/schedstat (Documentation/scheduler/sched-stats.rst).
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct queue { /* of the calling thread, at one moment */
	bool known;
	uint64_t waited_ns;
	uint64_t now_ns; /* CLOCK_MONOTONIC */
};

void queue_look(struct queue *q);
/* Adds "own_pct": in how much of the time since then it had not to wait, if that is known. */
void queue_report(const struct queue *before, json_t *line);
