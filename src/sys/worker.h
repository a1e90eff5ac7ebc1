/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Workers are forked children for calls that may block in the kernel (numvfs, bind, module init). A
 * stuck thread would keep the whole process from exiting; a stuck child is killed, reported and
 * abandoned without a wait. The result comes back through a pipe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* Runs in the child; returns 0 or a negative errno with *err filled. */
typedef int (*worker_fn)(void *arg, struct err *err);

struct worker {
	pid_t pid;
	const char *name;	    /* for a watching person (waiting.h); borrowed, or NULL */
	int fd;			    /* the read end; -1: not running */
	uint64_t started, deadline; /* clock_usec() */
	/* valid after the worker has ended or was abandoned: */
	bool abandoned; /* passed its deadline and may still hang in the kernel */
	int result;
	struct err err;
	uint64_t duration; /* microseconds */
	uint64_t written;  /* time of its last write of an attribute, by clock_usec(); 0: never */
};

/* In the child: records that an attribute of the kernel was just written. Harmless elsewhere. */
void worker_note_write(void);

/* Starts fn(arg) in a child. deadline: an absolute clock_usec(). */
int worker_start(struct worker *w, worker_fn fn, void *arg, uint64_t deadline, struct err *err);

/*
 * Waits until a running worker (fd >= 0) ends or passes its deadline, and returns its index. ->fd
 * is -1 if it has ended; else the caller abandons the worker or sets a later deadline. -ENOENT if
 * no worker is running, or the errno of poll(2).
 */
int workers_wait(struct worker *const *workers, size_t n);
/*
 * The same, but returns -EAGAIN as soon as `also` (-1: nothing) is readable, or at clock_usec()
 * until; n may then be 0.
 */
int workers_wait_with(struct worker *const *workers, size_t n, int also, uint64_t until);

/*
 * Starts, waits for and abandons a worker for one call. The result of fn, or -ETIMEDOUT if the
 * worker was abandoned at the deadline (w->abandoned), or the error of a failed start, when fn has
 * not run.
 */
int worker_run(struct worker *w, worker_fn fn, void *arg, uint64_t deadline, struct err *err);

/*
 * Abandons a running worker: kills it without a wait, and sets ->abandoned. A worker that the
 * kernel does not release stays: /proc/PID/stack shows where it hangs.
 */
void worker_abandon(struct worker *w);
