/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The chain of pointers that memory latency is measured along. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/chain.h"

static char *make(size_t blocks, uint64_t seed)
{
	char *p = aligned_alloc(4096, blocks * CHAIN_BLOCK);
	struct chain *c = chain_new(p, blocks * CHAIN_BLOCK, seed);

	assert_int_equal(chain_blocks(c), blocks);
	memset(p, 0xee, blocks * CHAIN_BLOCK);
	for (size_t i = 0; i < blocks; i++) /* in parts, and not in order */
		chain_write(c, blocks - 1 - i, blocks - i);
	chain_free(c);
	return p;
}

static size_t line_number(const char *base, const void *at)
{
	assert_int_equal(((const char *)at - base) % CHAIN_LINE, 0);
	return (size_t)((const char *)at - base) / CHAIN_LINE;
}

/* One cycle: each line is seen once before the first comes again. */
static void check_cycle(size_t blocks)
{
	cleanup_free char *p = make(blocks, 7);
	size_t n = blocks * CHAIN_BLOCK_LINES;
	cleanup_free unsigned char *seen = xcalloc(n, 1);
	const void *at = p;

	for (size_t i = 0; i < n; i++) {
		size_t line = line_number(p, at);

		assert_true(line < n);
		assert_int_equal(seen[line]++, 0);
		at = *(const void *const *)at;
	}
	assert_ptr_equal(at, p);
}

static void test_cycle(void **state)
{
	(void)state;
	check_cycle(1);
	check_cycle(2);
	check_cycle(7);
	check_cycle(16);
}

/*
 * Nothing for a prefetcher: of 65,536 hops none goes to the same block, few to a page near the
 * last, and no distance between lines comes often.
 */
static void test_no_order(void **state)
{
	cleanup_free char *p = make(16, 7);
	size_t hops = 2 * CHAIN_BLOCK_LINES, lines = 16 * CHAIN_BLOCK_LINES;
	cleanup_free uint16_t *times = xcalloc(2 * lines, sizeof(*times));
	const char *at = p;

	(void)state;
	for (size_t i = 0; i < hops; i++) {
		const char *next = *(const char *const *)at;

		assert_int_not_equal((next - p) / (ptrdiff_t)CHAIN_BLOCK,
				     (at - p) / (ptrdiff_t)CHAIN_BLOCK);
		size_t distance = lines + line_number(p, next) - line_number(p, at);

		assert_in_range(++times[distance], 1, 16);
		at = next;
	}
}

static void test_walk(void **state)
{
	cleanup_free char *p = make(2, 9);
	const void *at = p;

	(void)state;
	for (int i = 0; i < 48; i++)
		at = *(const void *const *)at;
	assert_ptr_equal(chain_walk(p, 48), at);
	assert_ptr_equal(chain_walk(p, (size_t)2 * CHAIN_BLOCK_LINES), p);
}

static void test_seed(void **state)
{
	cleanup_free char *p = make(2, 1), *q = make(2, 2);

	(void)state;
	assert_int_not_equal(*(char **)p - p, *(char **)q - q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cycle),
		cmocka_unit_test(test_no_order),
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_seed),
	};

	return cmocka_run_group_tests_name("bench_chain", tests, NULL, NULL);
}
