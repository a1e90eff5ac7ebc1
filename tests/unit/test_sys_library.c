/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Libraries that are opened when something needs them: what is filled, and what is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "sys/libblkid.h"
#include "sys/libkmod.h"
#include "sys/libmount.h"
#include "sys/libpci.h"
#include "sys/library.h"
#include "sys/libsystemd.h"

static struct functions {
	double (*cosine)(double);
	void (*other)(void);
} functions;

static const struct symbol symbols[] = {SYMBOL(struct functions, cosine, "cos"), {0}};

static void test_filled(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(library_open("libm.so.6", "count", "libc6", symbols, &functions, &err), 0);
	assert_true(functions.cosine(0) == 1);
	assert_int_equal(err.code, 0);
}

static void test_missing(void **state)
{
	static const struct symbol newer[] = {SYMBOL(struct functions, cosine, "cos"),
					      SYMBOL(struct functions, other, "no_such_function"),
					      {0}};
	struct err err = {0};

	(void)state;
	assert_int_equal(
		library_open("libnosuch.so.1", "count", "libnosuch1", symbols, &functions, &err),
		-ELIBACC);
	assert_string_equal(err.text,
			    "libnosuch.so.1, needed to count, can't be opened (libnosuch.so.1: "
			    "cannot open shared object file: No such file or directory); install "
			    "libnosuch1");
	assert_int_equal(library_open("libm.so.6", "count", "libc6", newer, &functions, &err),
			 -ELIBACC);
	assert_string_equal(err.text, "libm.so.6, needed to count, is too old: it has no "
				      "no_such_function; update libc6");
}

/* All that are dependencies of the packages, with every function; opened once. */
static void test_ours(void **state)
{
	struct err err = {0};

	(void)state;
	assert_non_null(libkmod_get(&err));
	assert_non_null(libpci_get(&err));
	assert_non_null(libmount_get(&err));
	assert_non_null(libblkid_get(&err));
	assert_non_null(libsystemd_get(&err));
	assert_ptr_equal(libkmod_get(NULL), libkmod_get(&err));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_filled),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
