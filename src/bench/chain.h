/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A chain of pointers through all cache lines of a buffer, one a line, that is a single cycle
 * without an order that a prefetcher could learn: what memory latency is measured along.
 *
 * Sattolo's shuffle of 20 million lines is a random write each, seconds of cache misses. Here
 * the successor of a line is computed from its number, so that the chain is written in the
 * order of addresses, by several threads: the cycle goes round and round all blocks (of 2 MiB)
 * in one shuffled order, in each block by one shuffled order of its lines, which each block
 * begins elsewhere. Two hops that follow each other are in different blocks; a line comes again
 * only after all others. Lines are written past the caches, which hold none of them after it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CHAIN_LINE 64u
#define CHAIN_BLOCK_LINES 32768u
#define CHAIN_BLOCK ((size_t)CHAIN_BLOCK_LINES * CHAIN_LINE) /* lengths are multiples of it */

struct chain;

/* The plan of a chain over len bytes at p; nothing is written yet. Free with chain_free(). */
struct chain *chain_new(void *p, size_t len, uint64_t seed);
size_t chain_blocks(const struct chain *c);

/* Writes the links of blocks [from, to); may be called side by side for different parts. */
void chain_write(const struct chain *c, size_t from, size_t to);

void chain_free(struct chain *c);

/* Where one comes from `at` by that many hops, a multiple of 16; each load waits for the last. */
const void *chain_walk(const void *at, size_t hops);
