/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a runnable thread waited for a CPU, for threads that also sleep in their windows: the
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
/* Adds "own_pct": the share of the time since `before` without a wait, if known. */
void queue_report(const struct queue *before, json_t *line);
