/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Boots in a row that set sysctl, sysfs and mounts, and come up or do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include "engine/hold_back.h"
#include "engine/run.h"
#include "plan/change.h"
#include "profile/section.h"
#include "sys/clock.h"
#include "sys/state.h"
#include "reason.h"
#include "tree.h"

#define HEAD "schema: 1\nname: sku\nversion: 1.0.0\nmatch: {dmi: {sys_vendor: QEMU}}\n"
#define BAD HEAD "sysctl: {vm.swappiness: 10}\n"
#define SWAPPINESS "proc/sys/vm/swappiness"
#define MARK "var/lib/railhead/early-mark"

/* The file system of all directories; the tests' own may be in memory. */
static struct statfs file_system = {.f_type = EXT4_SUPER_MAGIC};

int fstatfs(int fd, struct statfs *ret)
{
	(void)fd;
	*ret = file_system;
	return 0;
}

static int setup(void **state)
{
	struct tmp *t;

	if (tmp_setup(state) < 0)
		return -1;
	t = *state;
	tmp_write(t, "sys/class/dmi/id/sys_vendor", "QEMU\n");
	tmp_write(t, ETC "sku.yaml", BAD);
	tmp_write(t, "proc/cmdline", "ro quiet\n");
	tmp_write(t, "usr/file", "");
	return 0;
}

/* The boot of that number begins, with the file system of /proc anew. */
static void begin_boot(struct tmp *t, unsigned int number)
{
	char id[64];

	snprintf(id, sizeof(id), "%08u-2222-3333-4444-555555555555\n", number);
	tmp_write(t, "proc/sys/kernel/random/boot_id", id);
	tmp_write(t, SWAPPINESS, "60\n");
}

static int begin(struct tmp *t, const struct run *run)
{
	const struct section_ctx ctx = run_sections(run);

	return hold_back_begin(&ctx, &run->plan, &t->err);
}

/* Stage early of a boot; returns whether it has set the value. */
static bool run_early(struct tmp *t)
{
	struct run_options opt = {.freeze = FREEZE_IGNORE};
	struct stage_result result;
	struct sink sink = {0};
	struct run run;
	const struct change *c;
	bool set;

	assert_int_equal(run_open(&t->root, &opt, &run, &t->err), 0);
	assert_int_equal(run.status, RUN_OK);
	assert_int_equal(begin(t, &run), 0);
	run_apply(&run, STAGE_EARLY, 0, clock_usec() + 600000000, &sink, &result);
	c = plan_find(&run.plan, "sysctl/vm.swappiness");
	assert_non_null(c);
	set = c->now.state == CHANGE_SET || c->now.state == CHANGE_SAME;
	if (!set) {
		assert_int_equal(c->now.state, CHANGE_FAILED);
		assert_non_null(strstr(reason_of(c), "the last 2 boots"));
		assert_non_null(strstr(reason_of(c), "railhead apply --retry"));
	}
	run_close(&run);
	return set;
}

static bool boot(struct tmp *t, unsigned int number)
{
	begin_boot(t, number);
	return run_early(t);
}

static void end(struct tmp *t)
{
	assert_int_equal(hold_back_end(&t->root, &t->err), 0);
}

static void test_two_boots(void **state)
{
	struct tmp *t = *state;

	assert_true(boot(t, 1));
	assert_true(boot(t, 2));
	assert_false(boot(t, 3));
	/* later runs of that boot, its orderly end, and the boots after it */
	assert_false(run_early(t));
	end(t);
	assert_false(boot(t, 4));
	assert_false(boot(t, 5));
	/* another profile is set, and is held back by itself */
	tmp_write(t, ETC "sku.yaml", HEAD "sysctl: {vm.swappiness: 11}\n");
	assert_true(run_early(t));
	assert_true(boot(t, 6));
	assert_false(boot(t, 7));
	assert_int_equal(hold_back_forget(&t->root, &t->err), 0);
	assert_true(run_early(t));
	assert_true(boot(t, 8));
}

static void test_come_up(void **state)
{
	struct tmp *t = *state;

	for (unsigned int i = 1; i < 6; i++) {
		assert_true(boot(t, i));
		assert_true(root_exists(&t->root, MARK));
		end(t);
		assert_false(root_exists(&t->root, MARK));
		end(t); /* done twice */
	}
	/* not two in a row */
	assert_true(boot(t, 11));
	assert_true(boot(t, 12));
	end(t);
	assert_true(boot(t, 13));
	assert_true(boot(t, 14));
	assert_false(boot(t, 15));
	/* a boot that set nothing (railhead=off) says nothing of those before */
	begin_boot(t, 16);
	end(t);
	assert_false(boot(t, 17));
}

/* Run again in a boot: a soft-reboot, or a person. */
static void test_twice_in_a_boot(void **state)
{
	struct tmp *t = *state;

	assert_true(boot(t, 1));
	for (int i = 0; i < 4; i++)
		assert_true(run_early(t));
	assert_true(boot(t, 2));
	assert_true(run_early(t));
	assert_false(boot(t, 3));
}

/* New kernel arguments are blamed first. */
static void test_on_trial(void **state)
{
	struct tmp *t = *state;

	tmp_write(t, "proc/cmdline", "ro railhead.trial=abc quiet\n");
	for (unsigned int i = 1; i < 5; i++)
		assert_true(boot(t, i));
	tmp_write(t, "proc/cmdline", "ro quiet\n");
	assert_true(boot(t, 5));
	assert_true(boot(t, 6));
	assert_false(boot(t, 7));
	tmp_write(t, "proc/cmdline", "ro railhead.trial=abc quiet\n");
	assert_false(boot(t, 8));
}

static void test_damaged(void **state)
{
	static const char *const texts[] = {"", "boots 9\n", "boots x\nheld no\n", "\n\n\n",
					    "boots 9\nheld maybe\nboot x\n"};
	struct tmp *t = *state;

	for (size_t i = 0; i < array_len(texts); i++) {
		tmp_write(t, MARK, texts[i]);
		assert_true(boot(t, 1));
	}
}

static void begin_fails(struct tmp *t, int error, const char *text)
{
	struct run_options opt = {.freeze = FREEZE_IGNORE};
	struct run run;

	assert_int_equal(run_open(&t->root, &opt, &run, &t->err), 0);
	assert_int_equal(begin(t, &run), error);
	if (error)
		assert_non_null(strstr(t->err.text, text));
	run_close(&run);
}

static void test_no_protection(void **state)
{
	struct tmp *t = *state;

	begin_boot(t, 1);
	file_system.f_type = TMPFS_MAGIC;
	begin_fails(t, -EROFS, "/var/lib/railhead: in memory");
	file_system.f_type = EXT4_SUPER_MAGIC;
	tmp_write(t, "etc/fstab", "# /dev/x /var\nsrv:/home /home nfs\n/dev/sda1 / ext4\n");
	begin_fails(t, 0, NULL);
	tmp_write(t, "etc/fstab", "/dev/sda1 / ext4\nsrv:/v\t/var/lib nfs _netdev\n");
	begin_fails(t, -EBUSY, "/var/lib/railhead: its file system is mounted later");
	tree_remove(t, "etc/fstab");
	tree_remove(t, MARK);
	/* nothing that needs it */
	tmp_write(t, ETC "sku.yaml", HEAD "expect: {numa_nodes: 1}\n");
	begin_fails(t, 0, NULL);
	assert_false(root_exists(&t->root, MARK));
	tmp_write(t, ETC "sku.yaml", BAD);
	tmp_write(t, MARK "/file", ""); /* a directory in its place */
	begin_fails(t, -EISDIR, "early-mark");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, tmp_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_two_boots), TEST(test_come_up), TEST(test_twice_in_a_boot),
		TEST(test_on_trial),  TEST(test_damaged), TEST(test_no_protection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
