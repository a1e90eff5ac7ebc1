/* SPDX-License-Identifier: GPL-2.0-or-later */
/* storage_read: where a boot begins to read, and what is said of the time of its requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>

#include "base/vec.h"
#include "bench/gaps.h"
#include "bench/storage_read.h"

#define BOOT "0f3ab1c2-5d5e-4c66-9a7b-2f6d1e8c9b10\n"

/* A place of the file, the same for all of the boot; also of a file of one request. */
static void test_one_boot(void **state)
{
	static const uint64_t requests[] = {1, 2, 3, 1000, 1024, UINT64_MAX};

	(void)state;
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		uint64_t first = storage_first(BOOT, 1500, requests[i]);

		assert_true(first < requests[i]);
		assert_true(first == storage_first(BOOT, 1500, requests[i]));
	}
	assert_true(storage_first("", 1500, 10) < 10); /* a kernel that tells none */
}

/* Boots begin all over the file: of 160 each sixteenth of it has some, and none has a third. */
static void test_many_boots(void **state)
{
	unsigned int parts[16] = {0};
	char boot[] = BOOT;

	(void)state;
	for (unsigned int i = 0; i < 160; i++) {
		snprintf(boot, 9, "%08x", i * 2654435761u);
		boot[8] = '-';
		parts[storage_first(boot, 1500, 1600) / 100]++;
	}
	for (size_t i = 0; i < 16; i++)
		assert_in_range(parts[i], 1, 50);
}

/* In 90 of 100 boots at least the second, longer look begins far from the first. */
static void test_second_look(void **state)
{
	unsigned int far = 0;
	char boot[] = BOOT;

	(void)state;
	for (unsigned int i = 0; i < 100; i++) {
		uint64_t first, second;

		snprintf(boot, 9, "%08x", i * 2654435761u);
		boot[8] = '-';
		first = storage_first(boot, 1500, 1024);
		second = storage_first(boot, 4000, 1024);
		far += (first > second ? first - second : second - first) > 10;
	}
	assert_in_range(far, 90, 100);
}

#define US 1000u

/* 98 of 100 us, one of 1 ms and one of 20 ms. */
static void test_times(void **state)
{
	struct gaps g = {0};

	(void)state;
	for (int i = 0; i < 98; i++)
		gaps_add(&g, 100 * US);
	gaps_add(&g, 1000 * US);
	gaps_add(&g, 20000 * US);
	assert_true(gaps_quantile(&g, 0.5) == 100 * US);
	assert_true(gaps_quantile(&g, 0.98) == 100 * US);
	assert_true(gaps_quantile(&g, 0.99) == 1000 * US);
	assert_true(gaps_quantile(&g, 1) == 20000 * US);
	assert_int_equal(g.most, 20000 * US);
}

/* As many of each number: 1 to 1000 us, in buckets of a sixteenth. */
static void test_even(void **state)
{
	struct gaps g = {0};

	(void)state;
	for (unsigned int i = 1; i <= 1000; i++)
		gaps_add(&g, i * US);
	assert_in_range(gaps_quantile(&g, 0.5), 480 * US, 520 * US);
	assert_in_range(gaps_quantile(&g, 0.99), 960 * US, 1000 * US);
}

/* Of all threads together; one that had no request changes nothing. */
static void test_merge(void **state)
{
	struct gaps all = {0}, a = {0}, b = {0}, none = {0};

	(void)state;
	gaps_add(&a, 10 * US);
	gaps_add(&a, 10 * US);
	gaps_add(&b, 70 * US);
	gaps_merge(&all, &a);
	gaps_merge(&all, &b);
	gaps_merge(&all, &none);
	assert_true(gaps_quantile(&all, 0.5) == 10 * US);
	assert_true(gaps_quantile(&all, 0.99) == 70 * US);
	assert_int_equal(all.most, 70 * US);
	assert_true(gaps_quantile(&none, 0.99) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_boot),    cmocka_unit_test(test_many_boots),
		cmocka_unit_test(test_second_look), cmocka_unit_test(test_times),
		cmocka_unit_test(test_even),	    cmocka_unit_test(test_merge),
	};

	return cmocka_run_group_tests_name("bench_storage", tests, NULL, NULL);
}
