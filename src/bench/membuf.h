/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A buffer whose pages all have one size and are on one NUMA node. The caller asks for each page
 * size in turn and reports the size that it got; membuf_map() never falls back to another size.
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
 * "no free 1G page on node 0: 1 reserved, 0 free". 4K means the smallest pages of the kernel.
 */
int membuf_map(struct membuf *ret, int rootfd, unsigned int node, uint64_t page, size_t want,
	       struct err *err);

/* Faults in the bytes [from, to), until the run's time is over; threads may touch parts in
 * parallel.
 */
void membuf_touch(const struct membuf *b, size_t from, size_t to);

/*
 * Verifies that the pages (all huge ones, a sample of small ones) are on the requested node.
 * -EAGAIN: the run's time is over, and some pages may be untouched.
 */
int membuf_verify(const struct membuf *b, struct err *err);

void membuf_free(struct membuf *b);
#define cleanup_membuf __attribute__((__cleanup__(membuf_free)))
