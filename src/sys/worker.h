/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Workers: forked children for calls that may block in the kernel (numvfs, bind, module
 * init). A thread stuck there would keep the whole process from exiting; a child is
 * abandoned: killed, not waited for, reported. The result comes back through a pipe.
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
	const char *name;	    /* for who watches (waiting.h); borrowed. Or NULL */
	int fd;			    /* the read end; -1: not running */
	uint64_t started, deadline; /* clock_usec() */
	/* valid once it has ended or was abandoned: */
	bool abandoned; /* it was over its deadline and may still hang in the kernel */
	int result;
	struct err err;
	uint64_t duration; /* microseconds */
	uint64_t written;  /* when it had last written an attribute, by clock_usec(); 0: it wrote
			      none */
};

/* In the child: an attribute of the kernel was written just now. Harmless elsewhere. */
void worker_note_write(void);

/* Starts fn(arg) in a child. deadline: an absolute clock_usec(). */
int worker_start(struct worker *w, worker_fn fn, void *arg, uint64_t deadline, struct err *err);

/*
 * Waits until one of the running workers (fd >= 0) ends or is over its deadline, and
 * returns its index. ->fd is -1 if it has ended; else the caller gives it up or gives it a
 * later deadline. -ENOENT if none is running, or the errno of poll(2).
 */
int workers_wait(struct worker *const *workers, size_t n);
/*
 * The same, but -EAGAIN as soon as `also` (-1: nothing) can be read, or at clock_usec() until;
 * there may be no worker at all then.
 */
int workers_wait_with(struct worker *const *workers, size_t n, int also, uint64_t until);

/*
 * All of it for one call: the result, or -ETIMEDOUT of a worker that was abandoned at the deadline
 * (w->abandoned). Or w could not be started, and has run nothing.
 */
int worker_run(struct worker *w, worker_fn fn, void *arg, uint64_t deadline, struct err *err);

/*
 * Gives a running worker up: killed, not waited for, ->abandoned. Where the kernel does not
 * let go of it, it stays as it is: /proc/PID/stack says where.
 */
void worker_abandon(struct worker *w);
