/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "boot/detectors.h"
#include "boot/env_layout.h"
#include "boot/service.h"
#include "tree.h"

#define TRIAL "railhead.trial=a " ENV_TRIAL_EXTRA " railhead.slot=a"
#define OLDER_TRIAL "railhead.slot=a railhead.trial=a " ENV_TRIAL_EXTRA
#define SYSCTL "proc/sys/kernel/"
#define RCU "sys/module/rcupdate/parameters/rcu_cpu_stall_timeout"

/* As the trial's words leave it. */
static const struct tree_file trial[] = {
	{SYSCTL "osrelease", "6.1.0\n"},
	{SYSCTL "hung_task_panic", "1\n"},
	{SYSCTL "hung_task_timeout_secs", "300\n"},
	{SYSCTL "softlockup_panic", "1\n"},
	{SYSCTL "hardlockup_panic", "1\n"},
	{SYSCTL "panic_on_rcu_stall", "1\n"},
	{SYSCTL "panic_on_oops", "1\n"},
	{SYSCTL "panic", "30\n"},
	{SYSCTL "watchdog_thresh", "60\n"},
	{RCU, "120\n"},
};

static int set_back(struct tmp *t, const char *cmdline, const struct plan *plan)
{
	tree_write(t, trial, array_len(trial));
	return detectors_set_back(&t->root, cmdline, plan, &t->err);
}

static void is(const struct tmp *t, const char *name, const char *value)
{
	cleanup_free char *text = xstrdup(tree_text(t, name));

	str_chomp(text);
	if (!streq(text, value))
		fail_msg("%s: %s, not %s", name, text, value);
}

static void are_plain(const struct tmp *t)
{
	is(t, SYSCTL "hung_task_panic", "0");
	is(t, SYSCTL "hung_task_timeout_secs", "120");
	is(t, SYSCTL "softlockup_panic", "0");
	is(t, SYSCTL "hardlockup_panic", "0");
	is(t, SYSCTL "panic_on_rcu_stall", "0");
	is(t, SYSCTL "panic_on_oops", "0");
	is(t, SYSCTL "panic", "0");
	is(t, SYSCTL "watchdog_thresh", "10");
	is(t, RCU, "21");
}

/* Each setting that the trial's words make, but those of dracut, has its way back. */
static void test_each_has_a_way_back(void **state)
{
	cleanup_free char *words = xstrdup(ENV_TRIAL_EXTRA);
	char *rest = words, *word;
	struct tmp *t = *state;

	while ((word = strsep(&rest, " "))) {
		const char *name = str_starts(word, "sysctl.") ? word + strlen("sysctl.kernel.")
				   : str_starts(word, "oops=") ? "panic_on_oops=1"
							       : word;
		cleanup_free char *file = NULL, *value = NULL;

		if (str_starts(word, "rd."))
			continue;
		file = str_starts(word, "rcupdate.")
			       ? xstrdup(RCU)
			       : xasprintf(SYSCTL "%.*s", (int)strcspn(name, "="), name);
		value = xasprintf("%s\n", strchr(name, '=') + 1);
		tmp_write(t, file, value);
		assert_int_equal(detectors_set_back(&t->root, "ro " TRIAL, NULL, &t->err), 0);
		if (streq(tree_text(t, file), value))
			fail_msg("%s stays", word);
	}
}

static void test_back_to_the_kernels_default(void **state)
{
	struct tmp *t = *state;

	assert_int_equal(set_back(t, "ro " TRIAL " quiet", NULL), 0);
	are_plain(t);
	assert_int_equal(set_back(t, "ro " OLDER_TRIAL " quiet", NULL), 0);
	are_plain(t);
	/* Those of the profile stand between the trial's and the slot's mark. */
	assert_int_equal(set_back(t,
				  "ro railhead.trial=a " ENV_TRIAL_EXTRA
				  " panic=30 hung_task_panic=1 railhead.slot=a",
				  NULL),
			 0);
	is(t, SYSCTL "panic", "30");
	is(t, SYSCTL "hung_task_panic", "1");
	is(t, SYSCTL "softlockup_panic", "0");
	/* twice done is done */
	assert_int_equal(detectors_set_back(&t->root, "ro " TRIAL, NULL, &t->err), 0);
	are_plain(t);
}

static void test_back_to_what_the_kernel_was_built_with(void **state)
{
	static const char *const places[] = {"boot/config-6.1.0", "lib/modules/6.1.0/config",
					     "usr/lib/modules/6.1.0/config"};
	struct tmp *t = *state;

	for (size_t i = 0; i < array_len(places); i++) {
		tmp_write(t, places[i],
			  "# CONFIG_BOOTPARAM_SOFTLOCKUP_PANIC is not set\n"
			  "CONFIG_BOOTPARAM_SOFTLOCKUP_PANIC_VALUE=0\n"
			  "CONFIG_BOOTPARAM_HARDLOCKUP_PANIC=y\n"
			  "CONFIG_BOOTPARAM_HARDLOCKUP_PANIC_VALUE=1\n"
			  "XCONFIG_PANIC_ON_OOPS=n\nCONFIG_PANIC_ON_OOPS=y\n"
			  "CONFIG_PANIC_TIMEOUT=-1\nCONFIG_DEFAULT_HUNG_TASK_TIMEOUT=90\n"
			  "CONFIG_RCU_CPU_STALL_TIMEOUT=60\n");
		assert_int_equal(set_back(t, "ro " TRIAL, NULL), 0);
		is(t, SYSCTL "softlockup_panic", "0");
		is(t, SYSCTL "hardlockup_panic", "1");
		is(t, SYSCTL "panic_on_oops", "1");
		is(t, SYSCTL "panic", "-1");
		is(t, SYSCTL "hung_task_timeout_secs", "90");
		is(t, RCU, "60");
		tree_remove(t, places[i]);
	}
}

static void test_the_users_arguments(void **state)
{
	static const struct {
		const char *line, *file, *value;
	} t[] = {
		{"panic=5 " TRIAL, SYSCTL "panic", "5"},
		{TRIAL " panic=5", SYSCTL "panic", "5"},
		{"panic=30 " TRIAL, SYSCTL "panic", "30"},
		{"panic=5 panic=7 " TRIAL, SYSCTL "panic", "7"},
		{"sysctl.kernel.panic=9 " TRIAL, SYSCTL "panic", "9"},
		{"sysctl/kernel/panic=9 " TRIAL, SYSCTL "panic", "9"},
		{"sysctl//kernel.panic=9 " TRIAL, SYSCTL "panic", "9"},
		{TRIAL " -- panic=5", SYSCTL "panic", "0"},
		{"xpanic=5 panic " TRIAL, SYSCTL "panic", "0"},
		{"hung_task_panic=1 " TRIAL, SYSCTL "hung_task_panic", "1"},
		{"hung-task-panic=1 " TRIAL, SYSCTL "hung_task_panic", "1"},
		{"oops=panic " TRIAL, SYSCTL "panic_on_oops", "1"},
		{"nmi_watchdog=1,panic " TRIAL, SYSCTL "hardlockup_panic", "1"},
		{"nmi_watchdog=nopanic " TRIAL, SYSCTL "hardlockup_panic", "0"},
		{"nmi_watchdog=0 " TRIAL, SYSCTL "hardlockup_panic", "0"},
		{"watchdog_thresh=20 " TRIAL, SYSCTL "watchdog_thresh", "20"},
		{"rcupdate.rcu_cpu_stall_timeout=40 " TRIAL, RCU, "40"},
		{"sysctl.kernel.panic_on_rcu_stall=1 " TRIAL, SYSCTL "panic_on_rcu_stall", "1"},
		{"ro " TRIAL " " TRIAL, SYSCTL "panic", "0"},
	};

	for (size_t i = 0; i < array_len(t); i++) {
		assert_int_equal(set_back(*state, t[i].line, NULL), 0);
		is(*state, t[i].file, t[i].value);
	}
}

static void test_what_others_ask_for(void **state)
{
	static const struct kind kind_attr_here = {0};
	struct tmp *t = *state;
	struct plan plan = {0};
	struct change *c;

	tmp_write(t, "etc/sysctl.d/50-x.conf", "kernel.hung_task_panic = 1\n");
	c = plan_add(&plan, "sysctl", &kind_attr_here, STAGE_EARLY, PHASE_SYSCTL, (struct place){0},
		     "sysctl/kernel.panic");
	change_target(c, "/proc/sys/kernel/panic");
	assert_int_equal(set_back(t, "ro " TRIAL, &plan), 0);
	is(t, SYSCTL "hung_task_panic", "1");
	is(t, SYSCTL "panic", "30");
	is(t, SYSCTL "softlockup_panic", "0");
	/* another value: somebody was here since */
	tmp_write(t, SYSCTL "hung_task_timeout_secs", "77\n");
	tmp_write(t, SYSCTL "panic_on_oops", "\n");
	assert_int_equal(detectors_set_back(&t->root, "ro " TRIAL, &plan, &t->err), 0);
	is(t, SYSCTL "hung_task_timeout_secs", "77");
	is(t, SYSCTL "panic_on_oops", "");
	plan_free(&plan);
}

static void test_absent(void **state)
{
	struct tmp *t = *state;

	/* no /proc at all, then a kernel without most of them */
	assert_int_equal(detectors_set_back(&t->root, "ro " TRIAL, NULL, &t->err), 0);
	tmp_write(t, SYSCTL "panic", "30\n");
	assert_int_equal(detectors_set_back(&t->root, "ro " TRIAL, NULL, &t->err), 0);
	is(t, SYSCTL "panic", "0");
	assert_false(tree_has(t, RCU));
}

/* Once, at the verdict of a trial; later the values are the operator's. */
static void test_when(void **state)
{
	struct tmp *t = *state;

	tmp_write(t, SYSCTL "panic", "30\n");
	assert_int_equal(service_trial_over(&t->root, "ro railhead.slot=a panic=30", NULL, &t->err),
			 0);
	is(t, SYSCTL "panic", "30");
	assert_int_equal(service_trial_over(&t->root, "ro " TRIAL, NULL, &t->err), 0);
	is(t, SYSCTL "panic", "0");
	tmp_write(t, SYSCTL "panic", "30\n");
	assert_int_equal(service_trial_over(&t->root, "ro " TRIAL, NULL, &t->err), 0);
	is(t, SYSCTL "panic", "30");
}

/* A boot that GRUB counted: its panic=30 alone, once, to what the line or the kernel says. */
static void test_counted_boot(void **state)
{
	static const struct {
		const char *line, *panic;
	} rows[] = {
		{"ro railhead.begun=1 panic=30 a=1 railhead.slot=a", "0"},
		{"ro panic=5 railhead.begun=1 panic=30 a=1 railhead.slot=a", "5"},
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
		is(t, SYSCTL "panic", rows[i].panic);
		is(t, SYSCTL "hung_task_panic", "1");
		tmp_write(t, SYSCTL "panic", "30\n");
		assert_int_equal(service_begun_over(&t->root, &t->err), 0);
		is(t, SYSCTL "panic", "30");
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
