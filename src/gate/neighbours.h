/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside this room: the processes that used the CPUs between two moments, so that an operator knows
 * which to stop. From /proc/PID/stat of the running machine (proc_pid_stat(5)).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct neighbour {
	pid_t pid, parent;
	char name[16];	/* as the kernel cuts it; printable */
	uint64_t ticks; /* of CPU time, including its children that have ended */
};

struct neighbours {
	VEC(struct neighbour) list; /* by pid */
	uint64_t usec;		    /* CLOCK_MONOTONIC */
};

/* The process pid in an open /proc; uses no heap. False: it has ended. */
bool neighbour_read(int proc, const char *pid, struct neighbour *ret);
/* All processes except this one. Empty where /proc can't be read. */
void neighbours_look(struct neighbours *n);
/*
 * "stress (4 processes) 3.2 CPUs, dracut 0.6 CPUs": the busiest processes in between, at most
 * three names; NULL if no process had a twentieth of a CPU. The time of a process that ended in
 * between counts for its parent. The caller frees it.
 */
char *neighbours_text(const struct neighbours *before, const struct neighbours *after);
void neighbours_free(struct neighbours *n);
