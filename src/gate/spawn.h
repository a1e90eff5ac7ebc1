/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside this room: one measuring child, and everything that comes of it.
 *
 * Between the gate and the program stands a keeper, a process of ours that waits for the
 * program; what the program starts stays below the keeper, however it detaches itself.
 *
 * Of a site's own program, where this process may (as root), the keeper is the first of a PID
 * namespace: the kernel ends all of that with it, a fork bomb too (pid_namespaces(7)). The
 * namespace has its own /proc, in a mount namespace that takes the machine's mounts and gives none
 * back: libcuda reads /proc/PID of what getpid() says, and without that cuInit() fails with
 * CUDA_ERROR_OPERATING_SYSTEM (304; seen with driver 580 on an H100).
 *
 * Of our own benchmarks the keeper is a subreaper, which ends what it finds below it, again and
 * again for a moment: all but what forks faster than it is found. They see the machine's processes,
 * and so does NVML, which shows no process of another PID namespace.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "sys/privileges.h"

/* Limits of every child. Its memory has none: it is the first that the OOM killer takes. */
/*
 * Bytes of a file that it makes so long: a log that grows without end fills no disk. Of shared
 * memory (memfd, tmpfs, hugetlbfs) the limit holds too, setrlimit(2) knows no difference: so it is
 * far above the segments of NCCL, MPI and CUDA, and the 1G pages of DPDK.
 */
#define SPAWN_FILE_MAX (4ull << 30)
#define SPAWN_FDS_MAX 4096	/* open files */
#define SPAWN_PROCESSES_MAX 512 /* of its user, unless that is root: those have no limit */
#define SPAWN_SWEEP_MS 300	/* how long a keeper that is a subreaper looks for the rest */

struct spawn_note;

struct spawned {
	pid_t keeper;
	bool sealed; /* in a PID namespace of its own */
	struct spawn_note *note;
};

struct spawn {
	const char *const *argv;
	const struct privileges *as; /* a site's own program; NULL: ours, with our privileges */
	int out, err;		     /* its stdout and stderr */
};

/* Starts the program. A failure after the fork is told on err, and the status is 127. */
int spawn_start(const struct spawn *s, struct spawned *ret, struct err *err);
/* Asks the program and its group to end. */
void spawn_term(const struct spawned *s);
/* Ends everything; the keeper goes too, as soon as nothing hangs in the kernel. */
void spawn_kill(const struct spawned *s);
/*
 * Whether the program itself has ended: its wait status, and when (CLOCK_MONOTONIC, in us).
 * True at the latest when the keeper has ended, unless that was killed.
 */
bool spawn_ended(const struct spawned *s, int *ret_status, uint64_t *ret_us);
/* Where in the kernel one of its processes hangs; "" if that is unknown. */
void spawn_where(const struct spawned *s, char *ret, size_t size);
/* Lets go of the note; the keeper must have been waited for, or is abandoned. */
void spawn_free(struct spawned *s);
