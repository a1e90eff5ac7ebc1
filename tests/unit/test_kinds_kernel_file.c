/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines that a profile must not have, by their text, and by what this machine's own sysfs says
 * of a file: kinds/kernel_file.c opens no file for reading or writing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "emulator.h"
#include "kinds/kernel_file.h"
#include "sys/root.h"

static void sysfs_tells_what_is_binary(void **state)
{
	struct root root cleanup_root = {0};
	struct err err = {0};

	(void)state;
	NEEDS_KERNEL_PAGES();
	assert_int_equal(root_init(&root, NULL, &err), 0);
	assert_int_equal(kernel_file_judge(&root, "/sys/kernel/notes", "1", true, &err), -EPERM);
	assert_non_null(strstr(err.text, "/sys/kernel/notes: the file is binary data"));
	assert_int_equal(kernel_file_judge(&root, "/sys/kernel/uevent_seqnum", "1", false, &err),
			 0);
	assert_int_equal(kernel_file_judge(&root, "/sys/no-such-file", "1", false, &err), -ENOENT);
}

static void the_first_row_of_a_file_counts(void **state)
{
	(void)state;
	/* force helps against a state, not against sleep */
	assert_non_null(kernel_file_refusal("/sys/power/state", "mem", true));
	assert_null(kernel_file_refusal("/sys/block/sda/device/state", "running", true));
	assert_non_null(strstr(kernel_file_refusal("/sys/block/sda/device/state", "running", false),
			       "force: true"));
	/* a pattern that matches the file, and a last part that matches everything */
	assert_non_null(kernel_file_refusal("/proc/sys/v?/drop_*", "3", true));
	assert_null(kernel_file_refusal("/sys/class/net/eth0/*", "1", false));
	/* only a program */
	assert_null(kernel_file_refusal("/proc/sys/kernel/core_pattern", "core", false));
	assert_non_null(kernel_file_refusal("/proc/sys/kernel/core_pattern", "|/x", true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sysfs_tells_what_is_binary),
		cmocka_unit_test(the_first_row_of_a_file_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
