/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A buffer whose pages are of one size and on one NUMA node, or no buffer. Page sizes are
 * never swapped silently: the caller asks for each in turn and reports what it got.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct membuf {
	void *p; /* NULL: none */
	size_t len;
	uint64_t page;
	unsigned int node;
};

/*
 * Maps at least `want` bytes (whole pages; fewer pages if fewer huge ones are free) and
 * binds them to the node. Nothing is touched yet. -ENOMEM with a reason such as
 * "no free 1G page on node 0: 1 reserved, 0 free". Asked for 4K it takes the smallest pages that
 * the kernel has.
 */
int membuf_map(struct membuf *ret, int rootfd, unsigned int node, uint64_t page, size_t want,
	       struct err *err);

/* Faults in [from, to) of it, until the run's time is over; may be called side by side for parts.
 */
void membuf_touch(const struct membuf *b, size_t from, size_t to);

/*
 * Are the pages (all huge ones, a sample of small ones) where they were asked for? -EAGAIN: the
 * run's time was over, and some may not have been touched.
 */
int membuf_verify(const struct membuf *b, struct err *err);

void membuf_free(struct membuf *b);
#define cleanup_membuf __attribute__((__cleanup__(membuf_free)))
