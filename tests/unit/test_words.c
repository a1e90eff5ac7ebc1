/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/words.h"

static void test_oppose(void **state)
{
	static const struct {
		const char *a, *b;
		bool oppose;
	} t[] = {
		{"on", "off", true},
		{"sm_on", "sm_off", true},
		{"sm_on", "off", false},
		{"sm_on", "sp_off", false},
		{"igfx_off", "off", false},
		{"on", "on", false},
		{"option", "optioff", false}, /* no word ends in on by chance */
		{"pt", "nopt", true},
		{"force", "noforce", true},
		{"nomerge", "merge", true},
		{"nodac", "nomerge", false},
		{"realloc", "realloc=off", true},
		{"realloc", "realloc=on", false},
		{"realloc=on", "realloc=off", true},
		{"realloc", "realloc", false},
		{"hpmemsize=1M", "hpmemsize=2M", true},
		{"hpmemsize=1M", "hpiosize=2M", false},
		{"hpmemsize=1M", "hpmemsize=1M", false},
		{"pcie_bus_perf", "pcie_bus_safe", true},
		{"pcie_bus_perf", "pcie_bus_perf", false},
		{"pcie_bus_perf", "pcie_scan_all", false},
		{"pgtbl_v1", "pgtbl_v2", true},
		{"active", "passive", true},
		{"active", "no_hwp", false},
		{"", "", false},
		{"", "no", false},
		{"=", "=off", true},
		{"on", "", false},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		if (words_oppose(t[i].a, t[i].b) != t[i].oppose)
			fail_msg("words_oppose(\"%s\", \"%s\")", t[i].a, t[i].b);
		if (words_oppose(t[i].b, t[i].a) != t[i].oppose)
			fail_msg("words_oppose(\"%s\", \"%s\")", t[i].b, t[i].a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oppose),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
