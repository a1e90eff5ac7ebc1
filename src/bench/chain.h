/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A chain of pointers for measuring memory latency: one pointer in each cache line of a buffer, all
 * in a single cycle whose order a prefetcher can't learn.
 *
 * Sattolo's shuffle of 20 million lines makes one random write per line, seconds of cache misses.
 * This chain computes the successor of a line from its number, so that several threads can write it
 * in address order. The cycle visits all blocks (of 2 MiB) in one shuffled order, again and again;
 * in each block it follows one shuffled order of lines, from a different start in each block.
 * Consecutive hops are in different blocks, and a line is visited again only after all others. The
 * writes bypass the caches, which hold no line of the chain afterwards.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CHAIN_LINE 64u
#define CHAIN_BLOCK_LINES 32768u
#define CHAIN_BLOCK ((size_t)CHAIN_BLOCK_LINES * CHAIN_LINE) /* lengths are multiples of this */

struct chain;

/* The plan of a chain over len bytes at p; nothing is written yet. Free with chain_free(). */
struct chain *chain_new(void *p, size_t len, uint64_t seed);
size_t chain_blocks(const struct chain *c);

/* Writes the links of blocks [from, to); may be called side by side for different parts. */
void chain_write(const struct chain *c, size_t from, size_t to);

void chain_free(struct chain *c);

/* The pointer after that many hops (a multiple of 16) from `at`; each load waits for the last. */
const void *chain_walk(const void *at, size_t hops);
