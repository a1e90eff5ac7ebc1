/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside this room: one measuring child, and all processes that it starts.
 *
 * Between the gate and the program runs a keeper, a process of ours that waits for the program. All
 * processes that the program starts stay below the keeper, even daemons.
 *
 * For a site's own program the keeper is the first process of the namespaces of sys/isolation.h:
 * the kernel ends the whole PID namespace with it, a fork bomb too. A program whose isolation
 * cannot be made is not run, because its result would be worth nothing. The namespace has its own
 * /proc: libcuda reads /proc/PID with the PID of getpid(), and otherwise cuInit() fails with
 * CUDA_ERROR_OPERATING_SYSTEM (304; seen with driver 580 on an H100).
 *
 * For our own benchmarks the keeper is a subreaper, which repeatedly ends the processes below it
 * for a moment; only processes that fork faster escape. These benchmarks see the machine's
 * processes, and so does NVML, which reports no process of another PID namespace.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "sys/dynamic_user.h"
#include "sys/privileges.h"

/* Limits of every child. Memory is unlimited, because the OOM killer picks the child first. */
/*
 * Bytes of a file, so that a runaway log does not fill the disk. setrlimit(2) applies the limit to
 * shared memory too (memfd, tmpfs, hugetlbfs), so the limit is far above the segments of NCCL, MPI
 * and CUDA, and the 1G pages of DPDK.
 */
#define SPAWN_FILE_MAX (4ull << 30)
#define SPAWN_FDS_MAX 4096	/* open files */
#define SPAWN_PROCESSES_MAX 512 /* of a user of its own; for others see sys/isolation.h */
#define SPAWN_STILL_MS 300	/* how long a subreaper looks for processes while none ends, */
#define SPAWN_SWEEP_MS 30000	/* ... and in all */

struct spawn_note;

struct spawned {
	pid_t keeper;
	bool sealed;		  /* in namespaces of its own */
	struct dynamic_user user; /* held while the program runs; id 0: none */
	struct spawn_note *note;
};

struct spawn {
	const char *const *argv;
	const struct privileges *as; /* a site's own program; NULL: ours, with our privileges */
	int out, err;		     /* its stdout and stderr */
};

/*
 * Starts the program. A failure to execute it is reported on s->err, with status 127; for a failure
 * before see spawn_refused().
 */
int spawn_start(const struct spawn *s, struct spawned *ret, struct err *err);
/*
 * Once the keeper has ended: why the program was not run, because its isolation or its privileges
 * could not be made; "": it was run.
 */
const char *spawn_refused(const struct spawned *s);
/* Sends SIGTERM to the program and its group. */
void spawn_term(const struct spawned *s);
/* Kills all processes. The keeper ends once no process hangs in the kernel. */
void spawn_kill(const struct spawned *s);
/*
 * Whether the program itself has ended: its wait status, and when (CLOCK_MONOTONIC, in us).
 * True at the latest when the keeper has ended, unless the keeper was killed.
 */
bool spawn_ended(const struct spawned *s, int *ret_status, uint64_t *ret_us);
/* Where in the kernel one of the processes hangs; "": unknown. */
void spawn_where(const struct spawned *s, char *ret, size_t size);
/* Frees the note and the user. The caller must have waited for the keeper, or abandoned it. */
void spawn_free(struct spawned *s);
