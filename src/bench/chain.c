/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/chain.h"

#include "base/mem.h"
#include "bench/line.h"

struct chain {
	char *base;
	size_t blocks;
	uint32_t *block_at; /* the block at place j of the order */
	uint32_t *place_of; /* the place of each block */
	uint16_t *shift_at; /* where the block of place j begins in the order of lines */
	uint16_t line_at[CHAIN_BLOCK_LINES]; /* the order of the lines of a block */
	uint16_t turn_of[CHAIN_BLOCK_LINES];
};

/* splitmix64: any seed is good. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static void shuffle_blocks(struct chain *c, uint64_t *seed)
{
	for (size_t j = 0; j < c->blocks; j++) {
		size_t k = next_random(seed) % (j + 1);

		c->block_at[j] = c->block_at[k];
		c->block_at[k] = (uint32_t)j;
		c->shift_at[j] = (uint16_t)(next_random(seed) % CHAIN_BLOCK_LINES);
	}
	for (size_t j = 0; j < c->blocks; j++)
		c->place_of[c->block_at[j]] = (uint32_t)j;
}

static void shuffle_lines(struct chain *c, uint64_t *seed)
{
	for (size_t i = 0; i < CHAIN_BLOCK_LINES; i++) {
		size_t k = next_random(seed) % (i + 1);

		c->line_at[i] = c->line_at[k];
		c->line_at[k] = (uint16_t)i;
	}
	for (size_t i = 0; i < CHAIN_BLOCK_LINES; i++)
		c->turn_of[c->line_at[i]] = (uint16_t)i;
}

struct chain *chain_new(void *p, size_t len, uint64_t seed)
{
	struct chain *c = xnew(struct chain);

	c->base = p;
	c->blocks = len / CHAIN_BLOCK;
	c->block_at = xcalloc(c->blocks, sizeof(*c->block_at));
	c->place_of = xcalloc(c->blocks, sizeof(*c->place_of));
	c->shift_at = xcalloc(c->blocks, sizeof(*c->shift_at));
	shuffle_blocks(c, &seed);
	shuffle_lines(c, &seed);
	return c;
}

size_t chain_blocks(const struct chain *c)
{
	return c->blocks;
}

/* The line that place j shows in round `turn`. */
static char *line_of(const struct chain *c, size_t j, size_t turn)
{
	size_t line = c->line_at[(turn + c->shift_at[j]) % CHAIN_BLOCK_LINES];

	return c->base + c->block_at[j] * CHAIN_BLOCK + line * CHAIN_LINE;
}

static void write_block(const struct chain *c, size_t block)
{
	size_t j = c->place_of[block], next = (j + 1) % c->blocks;
	char *p = c->base + block * CHAIN_BLOCK;

	for (size_t line = 0; line < CHAIN_BLOCK_LINES; line++, p += CHAIN_LINE) {
		size_t turn = (size_t)c->turn_of[line] + CHAIN_BLOCK_LINES - c->shift_at[j];

		line_put(p, line_of(c, next, next ? turn : turn + 1));
	}
}

void chain_write(const struct chain *c, size_t from, size_t to)
{
	for (size_t block = from; block < to; block++)
		write_block(c, block);
	line_fence();
}

void chain_free(struct chain *c)
{
	if (!c)
		return;
	free(c->block_at);
	free(c->place_of);
	free(c->shift_at);
	free(c);
}

const void *chain_walk(const void *at, size_t hops)
{
	const void *const *p = at;

	for (size_t i = 0; i < hops; i += 16) {
		p = *p, p = *p, p = *p, p = *p;
		p = *p, p = *p, p = *p, p = *p;
		p = *p, p = *p, p = *p, p = *p;
		p = *p, p = *p, p = *p, p = *p;
	}
	return p;
}
