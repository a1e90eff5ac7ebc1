/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The count of railhead's reboots, by places that are absent, damaged, or can't be written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/witness.h"
#include "sys/machine.h"
#include "sys/read.h"

#define VARIABLES "sys/firmware/efi/efivars"
#define VARIABLE VARIABLES "/" WITNESS_VARIABLE

struct tree {
	char path[64];
	struct root root;
};

static void __attribute__((format(printf, 2, 3))) sh(const struct tree *t, const char *fmt, ...)
{
	cleanup_free char *script = NULL, *cmd = NULL;
	va_list ap;

	va_start(ap, fmt);
	assert_true(vasprintf(&script, fmt, ap) >= 0);
	va_end(ap);
	cmd = xasprintf("cd '%s' && { %s\n}", t->path, script);
	assert_int_equal(system(cmd), 0);
}

static void boot(const struct tree *t, int n)
{
	sh(t, "printf '%08x-1111-2222-3333-444444444444\\n' >proc/sys/kernel/random/boot_id", n);
}

static void tree_init(struct tree *t, bool efi)
{
	strcpy(t->path, "/tmp/railhead-test.XXXXXX");
	assert_non_null(mkdtemp(t->path));
	sh(t, "mkdir -p etc proc/sys/kernel/random %s", efi ? VARIABLES : "sys");
	assert_int_equal(root_init(&t->root, t->path, NULL), 0);
	assert_false(t->root.live);
	boot(t, 1);
}

static void tree_done(struct tree *t)
{
	sh(t, "rm -rf '%s'", t->path);
	root_close(&t->root);
}

static unsigned int reboots(const struct tree *t)
{
	cleanup_witness struct witness w = {0};

	witness_read(&t->root, &w);
	return w.reboots;
}

static char *why_held(const struct tree *t)
{
	cleanup_witness struct witness w = {0};

	witness_read(&t->root, &w);
	return witness_why_held(&w);
}

static void held_by(const struct tree *t, const char *words)
{
	cleanup_free char *why = why_held(t);

	assert_non_null(why);
	assert_non_null(strstr(why, words));
	assert_non_null(strstr(why, "`railhead apply --retry` or `railhead kargs --reset`"));
}

static void free_to_go(const struct tree *t)
{
	cleanup_free char *why = why_held(t);

	assert_null(why);
}

static void spend(const struct tree *t)
{
	struct err err = {0};

	for (int i = 1; i <= REBOOTS_MAX; i++) {
		boot(t, i);
		free_to_go(t);
		assert_int_equal(witness_count(&t->root, &err), 0);
		/* the boot that made it is not held back by it, and counts once */
		free_to_go(t);
		assert_int_equal(witness_count(&t->root, &err), 0);
		assert_int_equal(reboots(t), i);
	}
	boot(t, REBOOTS_MAX + 1);
}

static void test_budget(void **state)
{
	(void)state;
	for (int efi = 0; efi < 2; efi++) {
		struct err err = {0};
		struct tree t;

		tree_init(&t, efi);
		assert_int_equal(witness_set_back(&t.root, NULL, &err), 0);
		spend(&t);
		held_by(&t, "railhead has made 5 reboots with no verdict in between");
		/* a call all the same is refused, and nothing is written */
		assert_int_equal(witness_count(&t.root, &err), -EDQUOT);
		assert_non_null(strstr(err.text, "has made 5 reboots"));
		assert_int_equal(reboots(&t), 5);
		assert_int_equal(witness_set_back(&t.root, NULL, &err), 1);
		assert_int_equal(reboots(&t), 0);
		sh(&t, "[ ! -e " VARIABLE " ] && [ ! -e ./" WITNESS_FILE " ]");
		assert_int_equal(witness_set_back(&t.root, NULL, &err), 0);
		spend(&t);
		tree_done(&t);
	}
}

/* No boot id: each reboot counts. */
static void test_no_boot_id(void **state)
{
	struct err err = {0};
	struct tree t;

	(void)state;
	tree_init(&t, true);
	sh(&t, "rm proc/sys/kernel/random/boot_id");
	for (int i = 1; i <= REBOOTS_MAX; i++) {
		assert_int_equal(witness_count(&t.root, &err), 0);
		assert_int_equal(reboots(&t), i);
	}
	assert_int_equal(witness_count(&t.root, &err), -EDQUOT);
	tree_done(&t);
}

static void test_places(void **state)
{
	struct err err = {0};
	struct tree t;

	(void)state;
	tree_init(&t, true);
	spend(&t);
	/* each is enough, and the larger one counts */
	sh(&t, "cp ./" WITNESS_FILE " kept && rm ./" WITNESS_FILE);
	held_by(&t, "railhead has made 5 reboots");
	sh(&t, "mv kept ./" WITNESS_FILE "; rm " VARIABLE);
	held_by(&t, "railhead has made 5 reboots");
	sh(&t, "printf '\\7\\0\\0\\0reboots=2 boot=x\\n' >" VARIABLE);
	held_by(&t, "railhead has made 5 reboots");
	sh(&t, "printf 'reboots=1 boot=x\\n' >./" WITNESS_FILE);
	assert_int_equal(reboots(&t), 2);
	assert_int_equal(witness_count(&t.root, &err), 0);
	sh(&t, "grep -q reboots=3 ./" WITNESS_FILE " && grep -q reboots=3 " VARIABLE);
	/* neither can be written */
	sh(&t, "rm -r etc sys && : >etc && : >sys");
	err = (struct err){0};
	assert_true(witness_count(&t.root, &err) < 0);
	assert_non_null(strstr(err.text, "can't count its reboots (/etc: "));
	assert_non_null(strstr(err.text, "make " WITNESS_FILE " writable, or reboot the node"));
	tree_done(&t);
}

static void test_one_place_alone(void **state)
{
	struct err err = {0};
	struct tree t;

	(void)state;
	tree_init(&t, true);
	sh(&t, "rmdir etc && : >etc");
	assert_int_equal(witness_count(&t.root, &err), 0);
	assert_int_equal(reboots(&t), 1);
	assert_int_equal(witness_set_back(&t.root, NULL, &err), 1);
	assert_int_equal(reboots(&t), 0);
	sh(&t, "rm etc && mkdir etc && rmdir " VARIABLES " && : >" VARIABLES);
	assert_int_equal(witness_count(&t.root, &err), 0);
	assert_int_equal(reboots(&t), 1);
	tree_done(&t);
}

static void test_damaged(void **state)
{
	static const char *const texts[] = {
		"",
		"x",
		"reboots=",
		"reboots=1",
		"reboots=1 boot=x",
		"reboots=0 boot=x\\n",
		"reboots=-1 boot=x\\n",
		"reboots=+1 boot=x\\n",
		"reboots=01 boot=x\\n",
		"reboots=100 boot=x\\n",
		"reboots=1 boot=x\\n\\n",
		"reboots=1 boot=x\\n\\0",
		"reboots=1 boot=0123456789012345678901234567890123456789\\n",
	};

	(void)state;
	for (size_t i = 0; i < array_len(texts); i++)
		for (int efi = 0; efi < 2; efi++) {
			struct err err = {0};
			struct tree t;

			tree_init(&t, efi);
			sh(&t, "mkdir etc/railhead && printf '%s%s' >./%s",
			   efi ? "\\7\\0\\0\\0" : "", texts[i], efi ? VARIABLE : WITNESS_FILE);
			held_by(&t, efi ? "it has made before (EFI variable"
					: "it has made before (/etc/railhead/reboots");
			assert_int_equal(witness_count(&t.root, &err), -EDQUOT);
			/* as a copy of one that can be read it says nothing */
			sh(&t, "printf '%sreboots=1 boot=x\\n' >./%s", efi ? "" : "\\7\\0\\0\\0",
			   efi ? WITNESS_FILE : "etc/other");
			if (efi) {
				assert_int_equal(reboots(&t), 1);
				free_to_go(&t);
			}
			assert_int_equal(witness_set_back(&t.root, NULL, &err), 1);
			assert_int_equal(reboots(&t), 0);
			tree_done(&t);
		}
}

static void test_larger_than_the_budget(void **state)
{
	struct tree t;

	(void)state;
	tree_init(&t, false);
	sh(&t, "mkdir etc/railhead && echo 'reboots=99 boot=x' >./" WITNESS_FILE);
	held_by(&t, "railhead has made 99 reboots");
	tree_done(&t);
}

/* --- the variable itself ------------------------------------------------------------------- */

static void test_variable(void **state)
{
	cleanup_free char *value = NULL;
	struct err err = {0};
	struct tree t;
	size_t len;

	(void)state;
	tree_init(&t, true);
	assert_int_equal(machine_efi_read(&t.root, "A-1", &value, &len, &err), -ENOENT);
	assert_int_equal(machine_efi_write(&t.root, "A-1", "long value", 10, &err), 0);
	sh(&t, "printf '\\7\\0\\0\\0long value' | cmp - " VARIABLES "/A-1");
	/* the same is not written again, a shorter one replaces it whole */
	sh(&t, "touch -d @1 " VARIABLES "/A-1");
	assert_int_equal(machine_efi_write(&t.root, "A-1", "long value", 10, &err), 0);
	sh(&t, "[ $(stat -c %%Y " VARIABLES "/A-1) = 1 ]");
	assert_int_equal(machine_efi_write(&t.root, "A-1", "x", 1, &err), 0);
	assert_int_equal(machine_efi_read(&t.root, "A-1", &value, &len, &err), 0);
	assert_int_equal(len, 1);
	assert_string_equal(value, "x");
	sh(&t, "printf '\\7\\0' >" VARIABLES "/B-1; head -c 2000 /dev/zero >" VARIABLES "/C-1");
	free(take_ptr(value));
	assert_int_equal(machine_efi_read(&t.root, "B-1", &value, &len, &err), -EBADMSG);
	assert_int_equal(machine_efi_read(&t.root, "C-1", &value, &len, &err), -EFBIG);
	assert_int_equal(machine_efi_remove(&t.root, "A-1", &err), 0);
	assert_int_equal(machine_efi_remove(&t.root, "A-1", &err), 0);
	sh(&t, "[ ! -e " VARIABLES "/A-1 ]");
	/* a link of that name leads nowhere */
	sh(&t, "ln -s /etc/victim " VARIABLES "/A-1");
	assert_int_equal(machine_efi_write(&t.root, "A-1", "x", 1, &err), -ELOOP);
	sh(&t, "[ ! -e etc/victim ]");
	tree_done(&t);
	tree_init(&t, false);
	assert_int_equal(machine_efi_write(&t.root, "A-1", "x", 1, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no EFI variables"));
	assert_int_equal(machine_efi_remove(&t.root, "A-1", &err), 0);
	tree_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_budget),	 cmocka_unit_test(test_no_boot_id),
		cmocka_unit_test(test_places),	 cmocka_unit_test(test_one_place_alone),
		cmocka_unit_test(test_damaged),	 cmocka_unit_test(test_larger_than_the_budget),
		cmocka_unit_test(test_variable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
