/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inner loops that move memory, in the widest vectors of this CPU. Their stores
 * are non-temporal: an ordinary store reads the line first, so that a third of the traffic
 * would not be counted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define STREAM_PAGE ((size_t)4096) /* pointers are multiples of this */
#define STREAM_PAGES 4
#define STREAM_ALIGN (STREAM_PAGES * STREAM_PAGE) /* lengths are multiples of this */

struct stream_ops {
	const char *name; /* "avx512" */
	bool (*usable)(void);
	void (*read)(const void *src, size_t len);
	void (*write)(void *dst, size_t len);
	void (*copy)(void *dst, const void *src, size_t len);
};

extern const struct stream_ops stream_plain;
/* Of the architecture (stream_ARCH.c): widest first, the plain one last; ends with NULL. */
extern const struct stream_ops *const stream_all[];

/* The first usable one; the last ("plain") always is. */
const struct stream_ops *stream_pick(void);
