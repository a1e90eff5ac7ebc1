/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of panics, as pstore and systemd-pstore leave them below a tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "boot/pstore.h"
#include "tree.h"

enum { ARMED = 1790000000 };

static void put(struct tmp *t, const char *name, const char *text, time_t when)
{
	struct timespec times[2] = {{.tv_sec = when}, {.tv_sec = when}};

	tmp_write(t, name, text);
	assert_int_equal(utimensat(AT_FDCWD, tmp_path(t, name), times, 0), 0);
}

static void test_nothing(void **state)
{
	struct tmp *t = *state;

	assert_false(pstore_has_panic(&t->root, ARMED));
	tmp_write(t, "sys/fs/pstore/console-ramoops-0", "Panic#1 Part1\n");
	assert_false(pstore_has_panic(&t->root, ARMED));
}

/* Where the kernel shows a record, and where systemd-pstore has it by the name's kinds. */
static void test_places(void **state)
{
	static const char *const names[] = {
		"sys/fs/pstore/dmesg-efi-179000012301001",
		"sys/fs/pstore/dmesg-ramoops-0",
		"var/lib/systemd/pstore/dmesg-ramoops-0",
		"var/lib/systemd/pstore/1790000123/dmesg-efi-179000012301001",
		"var/lib/systemd/pstore/1790000123/001/dmesg-erst-7688000000000000001",
	};
	struct tmp *t = *state;

	for (size_t i = 0; i < array_len(names); i++) {
		put(t, names[i], "Panic#2 Part1\n<4>[    1.2] Kernel panic", ARMED + 1);
		assert_true(pstore_has_panic(&t->root, ARMED));
		/* Of a boot before the arming, or at an unknown time. */
		put(t, names[i], "Panic#2 Part1\n", ARMED);
		assert_false(pstore_has_panic(&t->root, ARMED));
		assert_false(pstore_has_panic(&t->root, 0));
		tree_remove(t, names[i]);
	}
}

/* Records of other things, torn ones, and what is no file. */
static void test_no_panic(void **state)
{
	static const char *const texts[] = {"",
					    "Panic",
					    "Oops#1 Part1\nPanic#1",
					    "\x78\x9c\x01\x02",
					    "Shutdown#1 Part1\n",
					    "panic#1"};
	struct tmp *t = *state;

	for (size_t i = 0; i < array_len(texts); i++) {
		put(t, "sys/fs/pstore/dmesg-efi-1", texts[i], ARMED + 5);
		assert_false(pstore_has_panic(&t->root, ARMED));
	}
	tree_remove(t, "sys/fs/pstore/dmesg-efi-1");
	tree_dir(t, "sys/fs/pstore/dmesg-efi-1");
	tree_link(t, "sys/fs/pstore/dmesg-efi-2", "dmesg-efi-2");
	assert_false(pstore_has_panic(&t->root, ARMED));
	/* An oops=panic leaves both. */
	put(t, "sys/fs/pstore/dmesg-efi-3", "Panic#2 Part1\n", ARMED + 5);
	put(t, "sys/fs/pstore/dmesg-efi-4", "Oops#1 Part1\n", ARMED + 5);
	assert_true(pstore_has_panic(&t->root, ARMED));
}

/* Reading is bounded: of a store that is full of other things the newest names are read. */
static void test_many(void **state)
{
	struct tmp *t = *state;

	for (int i = 0; i < 600; i++) {
		cleanup_free char *name =
			xasprintf("var/lib/systemd/pstore/%d/dmesg-efi-1", 1000 + i);

		put(t, name, i ? "Oops#1 Part1\n" : "Panic#1 Part1\n", ARMED + 5);
	}
	assert_false(pstore_has_panic(&t->root, ARMED));
	put(t, "var/lib/systemd/pstore/1700/dmesg-efi-1", "Panic#1 Part1\n", ARMED + 5);
	assert_true(pstore_has_panic(&t->root, ARMED));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_places, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_no_panic, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_many, tmp_setup, tmp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
