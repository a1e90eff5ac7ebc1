/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loops in plain C for any CPU, and the choice among all loops: see stream_x86_64.c. */
#include "bench/stream.h"

#include <stdint.h>

const char *const stream_walk_names[STREAM_WALKS] = {"in order", "four pages at once"};

static bool always(void)
{
	return true;
}

static void plain_read(const void *src, size_t len)
{
	const uint64_t *s = src;
	uint64_t a = 0, b = 0, c = 0, d = 0;

	for (size_t i = 0; i < len / sizeof(*s); i += 4) {
		a |= s[i];
		b |= s[i + 1];
		c |= s[i + 2];
		d |= s[i + 3];
	}
	a |= b | c | d;
	__asm__ volatile("" : : "r"(a));
}

static void plain_write(void *dst, size_t len)
{
	uint64_t *d = dst;

	for (size_t i = 0; i < len / sizeof(*d); i++)
		d[i] = 0x5a5a5a5a5a5a5a5aull;
	__asm__ volatile("" : : "r"(d) : "memory");
}

static void plain_copy(void *dst, const void *src, size_t len)
{
	__builtin_memcpy(dst, src, len);
	__asm__ volatile("" : : "r"(dst) : "memory");
}

const struct stream_ops stream_plain = {.name = "plain",
					.usable = always,
					.read = {plain_read, plain_read},
					.write = plain_write,
					.copy = {plain_copy, plain_copy}};

const struct stream_ops *stream_pick(void)
{
	size_t i = 0;

	while (!stream_all[i]->usable())
		i++;
	return stream_all[i];
}
