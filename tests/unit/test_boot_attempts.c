/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "boot/attempts.h"
#include "sys/state.h"
#include "tree.h"

#define HASH "0123456789abcdef"
#define FILE_NAME "var/lib/railhead/" ATTEMPTS_FILE

static const struct attempt ONE = {HASH, (char *)"6.1.0-40-amd64", (char *)"hgx-h100 2026.11 rc 1"};
static const struct attempt OTHER = {"fedcba9876543210", (char *)"", (char *)"sku 12345678"};

static void fill(struct attempts *a)
{
	attempts_begin(a, &ONE);
	snprintf(a->boot, sizeof(a->boot), "01234567-89ab-cdef-0123-456789abcdef");
	a->armed = true;
	a->deaths = 1;
	a->reboots = 2;
	a->new_kernel = xstrdup("6.12.1");
	attempts_refuse(a, &OTHER, REFUSAL_UNFIT);
	a->armed = true;
	attempts_add(&a->items, "sysctl/a b\nc");
	a->before.profile = xstrdup("hgx-h100");
	a->before.kernel = xstrdup("6.1.0-40-amd64");
	attempts_add(&a->before.failed, "sysctl/x");
	attempts_add(&a->before.held, "gate/memory/node0");
	attempts_add(&a->before.up, "0000:41:00.0");
}

static void test_round_trip(void **state)
{
	struct tmp *t = *state;
	cleanup_attempts struct attempts a = {0}, b = {0};

	fill(&a);
	assert_int_equal(attempts_write(&t->root, &a, NULL), 1);
	assert_int_equal(attempts_write(&t->root, &a, NULL), 0);
	assert_int_equal(attempts_read(&t->root, &b, NULL), 0);
	assert_true(attempt_same(&b.last, &ONE));
	assert_string_equal(b.boot, a.boot);
	assert_true(b.armed);
	assert_int_equal(b.deaths, 1);
	assert_int_equal(b.reboots, 2);
	assert_string_equal(b.new_kernel, "6.12.1");
	assert_int_equal(b.refused.n, 1);
	assert_true(attempt_same(&b.refused.v[0].attempt, &OTHER));
	assert_int_equal(b.refused.v[0].why, REFUSAL_UNFIT);
	assert_string_equal(b.items.v[0], "sysctl/a b?c");
	assert_string_equal(b.before.profile, "hgx-h100");
	assert_string_equal(b.before.kernel, "6.1.0-40-amd64");
	assert_string_equal(b.before.failed.v[0], "sysctl/x");
	assert_string_equal(b.before.held.v[0], "gate/memory/node0");
	assert_string_equal(b.before.up.v[0], "0000:41:00.0");
}

/* Nothing that is worth a file. */
static void test_empty(void **state)
{
	struct tmp *t = *state;
	cleanup_attempts struct attempts a = {0};

	assert_int_equal(attempts_read(&t->root, &a, NULL), 0);
	assert_int_equal(attempts_write(&t->root, &a, NULL), 0);
	assert_false(root_exists(&t->root, "/" FILE_NAME));
	/* ... but once there is one it is kept up to date */
	a.reboots = 1;
	assert_int_equal(attempts_write(&t->root, &a, NULL), 1);
	a.reboots = 0;
	assert_int_equal(attempts_write(&t->root, &a, NULL), 1);
}

/* A file that is cut short, or has a line that is none of ours, counts as empty. */
static void test_damage(void **state)
{
	static const char *const texts[] = {
		"",
		"railhead kernel-args 2\nreboots 2\nend\n",
		"railhead kernel-args 1\nreboots 2\n",
		"railhead kernel-args 1\nreboots 2\nend\nreboots 1\n",
		"railhead kernel-args 1\nreboots x\nend\n",
		"railhead kernel-args 1\nreboots 2\ntried\nend\n",
		"railhead kernel-args 1\nreboots 2\ntried abc 6.1 sku\nend\n",
		"railhead kernel-args 1\nreboots 2\nrefused maybe " HASH " 6.1 sku\nend\n",
		"railhead kernel-args 1\nreboots 2\nrefused died " HASH "\nend\n",
		"railhead kernel-args 1\nreboots 2\nbefore sku\nend\n",
		"railhead kernel-args 1\nreboots 2\nfailed \nend\n",
		"railhead kernel-args 1\nreboots 2\n\nend\n",
		"railhead kernel-args 1\nreboots 2\nword\nend\n",
	};
	struct tmp *t = *state;

	for (size_t i = 0; i < array_len(texts); i++) {
		cleanup_attempts struct attempts a = {0};

		tmp_write(t, FILE_NAME, texts[i]);
		assert_int_equal(attempts_read(&t->root, &a, NULL), 0);
		if (a.reboots)
			fail_msg("%zu: %s", i, texts[i]);
	}
}

/* All that failed before would be news if only the list of it were left out. */
static void test_too_many_failed(void **state)
{
	cleanup_attempts struct attempts a = {0}, back = {0};
	cleanup_free char *text = NULL;

	(void)state;
	fill(&a);
	for (int i = 0; i <= ATTEMPT_ITEMS_MAX; i++) {
		cleanup_free char *id = xasprintf("sysfs/%d", i);

		strv_add(&a.before.failed, id);
	}
	text = attempts_render(&a);
	assert_true(attempts_parse(text, &back));
	assert_null(back.before.profile);
	assert_int_equal(back.deaths, a.deaths);
}

static void test_unreadable(void **state)
{
	struct tmp *t = *state;
	cleanup_attempts struct attempts a = {0};
	struct err err = {0};

	tmp_write(t, FILE_NAME "/x", "a directory in its place");
	assert_true(attempts_read(&t->root, &a, &err) < 0);
	assert_non_null(strstr(err.text, ATTEMPTS_FILE));
}

static void test_refusals(void **state)
{
	cleanup_attempts struct attempts a = {0};
	char hash[KARGS_HASH_LEN + 1];

	(void)state;
	for (int i = 0; i <= REFUSALS_MAX; i++) {
		struct attempt one = {.kernel = (char *)"6.1", .profile = (char *)"sku 1"};

		snprintf(hash, sizeof(hash), "%016d", i);
		memcpy(one.hash, hash, sizeof(hash));
		attempts_refuse(&a, &one, REFUSAL_DIED);
		attempts_refuse(&a, &one, REFUSAL_LOST);
		assert_int_equal(attempts_refused(&a, &one)->why, REFUSAL_LOST);
		if (i == 0)
			continue;
		memcpy(one.hash, "0000000000000000", sizeof(hash));
		assert_int_equal(attempts_refused(&a, &one) != NULL, i < REFUSALS_MAX);
	}
	assert_int_equal(a.refused.n, REFUSALS_MAX);
	attempts_forgive_all(&a);
	assert_int_equal(a.refused.n, 0);
}

/* Other args begin at no death; the same ones go on. */
static void test_begin(void **state)
{
	cleanup_attempts struct attempts a = {0};

	(void)state;
	attempts_begin(&a, &ONE);
	a.deaths = 1;
	attempts_begin(&a, &ONE);
	assert_int_equal(a.deaths, 1);
	attempts_begin(&a, &OTHER);
	assert_int_equal(a.deaths, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tmp_setup, tmp_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_round_trip),	    TEST(test_empty),	   TEST(test_damage),
		TEST(test_too_many_failed), TEST(test_unreadable), TEST(test_refusals),
		TEST(test_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
