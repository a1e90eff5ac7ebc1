/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inner loops that move memory, in the widest vectors of this CPU. Their stores
 * are non-temporal: an ordinary store reads the line first, so that a third of the traffic
 * would not be counted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define STREAM_PAGE ((size_t)4096)     /* pointers are multiples of this */
#define STREAM_ALIGN (4 * STREAM_PAGE) /* lengths are multiples of this */

/*
 * Which walk is faster depends on the CPU. A core of an EPYC (Zen) copied a quarter more in order;
 * a core of a Xeon (Emerald Rapids) copied a fifth more from four pages at once, since a prefetcher
 * follows a stream within its page and one stream does not use up the core's loads in flight.
 */
enum stream_walk { STREAM_IN_ORDER, STREAM_FOUR_PAGES, STREAM_WALKS };

extern const char *const stream_walk_names[STREAM_WALKS];

struct stream_ops {
	const char *name; /* "avx512" */
	bool (*usable)(void);
	void (*read[STREAM_WALKS])(const void *src, size_t len);
	void (*write)(void *dst, size_t len);
	void (*copy[STREAM_WALKS])(void *dst, const void *src, size_t len);
};

extern const struct stream_ops stream_plain;
/* The loops of the architecture (stream_ARCH.c), widest first, stream_plain last; ends with NULL.
 */
extern const struct stream_ops *const stream_all[];

/* The first usable one; the last ("plain") always is. */
const struct stream_ops *stream_pick(void);
