/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "boot/panic.h"
#include "boot/service.h"
#include "kargs/env_layout.h"
#include "tree.h"
#include "plan/change.h"

#define TRIAL "railhead.trial=a " ENV_TRIAL_EXTRA " railhead.slot=a"
#define BEGUN "railhead.begun=1 " ENV_BEGUN_EXTRA " a=1 railhead.slot=a"
#define SYSCTL "proc/sys/kernel/"
#define PANIC SYSCTL "panic"
#define OOPS SYSCTL "panic_on_oops"

/* As the trial's words leave it. */
static const struct tree_file trial[] = {
	{SYSCTL "osrelease", "6.1.0\n"},
	{OOPS, "1\n"},
	{PANIC, "30\n"},
};

static void set_back(struct tmp *t, const char *cmdline, const struct plan *plan)
{
	tree_write(t, trial, array_len(trial));
	assert_int_equal(panic_set_back(&t->root, cmdline, plan, &t->err), 0);
}

static void is(const struct tmp *t, const char *name, const char *value)
{
	cleanup_free char *text = xstrdup(tree_text(t, name));

	str_chomp(text);
	if (!streq(text, value))
		fail_msg("%s: %s, not %s", name, text, value);
}

static void are(const struct tmp *t, const char *panic, const char *oops)
{
	is(t, PANIC, panic);
	is(t, OOPS, oops);
}

/* Each word that a trial adds, but those of dracut, has its way back; a count adds no other. */
static void test_each_has_a_way_back(void **state)
{
	cleanup_free char *words = xstrdup(ENV_TRIAL_EXTRA);
	char *rest = words, *word;

	(void)state;
	while ((word = strsep(&rest, " ")))
		if (!str_starts(word, "rd.") && !streq(word, "panic=30") &&
		    !streq(word, "oops=panic"))
			fail_msg("%s stays", word);
	assert_string_equal(ENV_BEGUN_EXTRA, "panic=30");
}

static void test_back_to_the_kernels_default(void **state)
{
	struct tmp *t = *state;

	set_back(t, "ro " TRIAL " quiet", NULL);
	are(t, "0", "0");
	/* an older snippet's, and again when it is done */
	set_back(t, "ro railhead.slot=a railhead.trial=a " ENV_TRIAL_OLDER " quiet", NULL);
	are(t, "0", "0");
	assert_int_equal(panic_set_back(&t->root, "ro " TRIAL, NULL, &t->err), 0);
	are(t, "0", "0");
}

static void test_back_to_what_the_kernel_was_built_with(void **state)
{
	static const char *const places[] = {"boot/config-6.1.0", "lib/modules/6.1.0/config",
					     "usr/lib/modules/6.1.0/config"};
	struct tmp *t = *state;

	for (size_t i = 0; i < array_len(places); i++) {
		tmp_write(t, places[i],
			  "#\nXCONFIG_PANIC_TIMEOUT=4\nCONFIG_PANIC_ON_OOPS=y\n"
			  "CONFIG_PANIC_ON_OOPS_VALUE=1\nCONFIG_PANIC_TIMEOUT=-1\n");
		set_back(t, "ro " TRIAL, NULL);
		are(t, "-1", "1");
		tmp_write(t, places[i],
			  "#\n# CONFIG_PANIC_ON_OOPS is not set\nCONFIG_PANIC_ON_OOPS_VALUE=0\n"
			  "CONFIG_PANIC_TIMEOUT=0");
		set_back(t, "ro " TRIAL, NULL);
		are(t, "0", "0");
		tree_remove(t, places[i]);
	}
}

static void test_the_users_arguments(void **state)
{
	static const struct {
		const char *line, *panic, *oops;
	} t[] = {
		{"panic=5 " TRIAL, "5", "0"},
		{TRIAL " panic=5", "5", "0"},
		{"panic=30 " TRIAL, "30", "0"},
		{"panic=5 panic=7 " TRIAL, "7", "0"},
		{"sysctl.kernel.panic=9 " TRIAL, "9", "0"},
		{"sysctl/kernel/panic=9 " TRIAL, "9", "0"},
		{"sysctl//kernel.panic=9 " TRIAL, "9", "0"},
		{TRIAL " -- panic=5", "0", "0"},
		{"xpanic=5 panic " TRIAL, "0", "0"},
		{"oops=panic " TRIAL, "0", "1"},
		{"oops=x oops " TRIAL, "0", "0"},
		{"sysctl.kernel.panic_on_oops=1 " TRIAL, "0", "1"},
		{"ro " TRIAL " " TRIAL, "0", "0"},
		/* the profile's stand between the marks */
		{"railhead.trial=a " ENV_TRIAL_EXTRA " panic=30 oops=panic railhead.slot=a", "30",
		 "1"},
		{"railhead.trial=a " ENV_TRIAL_EXTRA " panic=10 railhead.slot=a", "10", "0"},
	};

	for (size_t i = 0; i < array_len(t); i++) {
		set_back(*state, t[i].line, NULL);
		are(*state, t[i].panic, t[i].oops);
	}
}

static void test_what_others_ask_for(void **state)
{
	static const struct kind kind_attr_here = {0};
	struct tmp *t = *state;
	struct plan plan = {0};
	struct change *c;

	tmp_write(t, "etc/sysctl.d/50-x.conf", "kernel.panic_on_oops = 1\n");
	c = plan_add(&plan, "sysctl", &kind_attr_here, STAGE_EARLY, PHASE_SYSCTL, (struct place){0},
		     "sysctl/kernel.panic");
	change_target(c, "/proc/sys/kernel/panic");
	set_back(t, "ro " TRIAL, &plan);
	are(t, "30", "1");
	plan_free(&plan);
	/* another value: somebody was here since */
	tmp_write(t, PANIC, "77\n");
	tmp_write(t, OOPS, "\n");
	assert_int_equal(panic_set_back(&t->root, "ro " TRIAL, NULL, &t->err), 0);
	are(t, "77", "");
}

static void test_absent(void **state)
{
	struct tmp *t = *state;

	/* no /proc at all, then a kernel with one of the two, and nothing that names it */
	assert_int_equal(panic_set_back(&t->root, "ro " TRIAL, NULL, &t->err), 0);
	tmp_write(t, PANIC, "30\n");
	assert_int_equal(panic_set_back(&t->root, "ro " TRIAL, NULL, &t->err), 0);
	is(t, PANIC, "0");
	assert_false(tree_has(t, OOPS));
}

/* Once, at the verdict of a trial; later the values are the operator's. */
static void test_when(void **state)
{
	struct tmp *t = *state;

	tmp_write(t, PANIC, "30\n");
	assert_int_equal(service_trial_over(&t->root, "ro railhead.slot=a panic=30", NULL, &t->err),
			 0);
	is(t, PANIC, "30");
	assert_int_equal(service_trial_over(&t->root, "ro " TRIAL, NULL, &t->err), 0);
	is(t, PANIC, "0");
	tmp_write(t, PANIC, "30\n");
	assert_int_equal(service_trial_over(&t->root, "ro " TRIAL, NULL, &t->err), 0);
	is(t, PANIC, "30");
}

/* A boot that GRUB counted: its panic=30 alone, once, to what the line or the kernel says. */
static void test_counted_boot(void **state)
{
	static const struct {
		const char *line, *panic;
	} rows[] = {
		{"ro " BEGUN, "0"},
		{"ro panic=5 " BEGUN, "5"},
		{"ro railhead.begun=3 panic=30 railhead.slot=-a panic=30", "30"},
		{"ro railhead.begun=1 panic=30 panic=30 railhead.slot=a", "30"},
		{"ro railhead.slot=a", "30"},
		{"ro railhead.slot=a panic=30", "30"},
		{"ro " TRIAL, "30"},
	};
	struct tmp *t = *state;

	for (size_t i = 0; i < array_len(rows); i++) {
		tree_write(t, trial, array_len(trial));
		tmp_write(t, "proc/cmdline", rows[i].line);
		assert_int_equal(service_begun_over(&t->root, &t->err), 0);
		are(t, rows[i].panic, "1");
		tmp_write(t, PANIC, "30\n");
		assert_int_equal(service_begun_over(&t->root, &t->err), 0);
		is(t, PANIC, "30");
		if (tree_has(t, "run/railhead/begun-over"))
			tree_remove(t, "run/railhead/begun-over");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_each_has_a_way_back, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_back_to_the_kernels_default, tmp_setup,
						tmp_teardown),
		cmocka_unit_test_setup_teardown(test_back_to_what_the_kernel_was_built_with,
						tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_the_users_arguments, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_what_others_ask_for, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_absent, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_counted_boot, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_when, tmp_setup, tmp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
