/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who a site's own program runs as, and which programs may be run at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/capability.h>

#include "sys/privileges.h"
#include "tree.h"

static void test_user(void **state)
{
	struct tmp *t = *state;
	struct privileges p = {.capabilities = 1};

	/* no password file at all: an image that has no users yet */
	assert_int_equal(privileges_user(&t->root, NULL, &p, &t->err), 0);
	assert_true(p.uid == 65534 && p.gid == 65534 && p.capabilities == 1);
	assert_int_equal(privileges_user(&t->root, "slurm", &p, &t->err), -ENOENT);
	tmp_write(t, "etc/passwd",
		  "root:x:0:0:root:/root:/bin/sh\n"
		  "nobody2:x:1:1::/:/bin/sh\n"
		  "broken:x:none:1::/:/bin/sh\n"
		  "nobody:x:99:98:nobody:/:/sbin/nologin\n"
		  "slurm:x:64030:64031::/:/sbin/nologin");
	assert_int_equal(privileges_user(&t->root, NULL, &p, &t->err), 0);
	assert_true(p.uid == 99 && p.gid == 98);
	assert_int_equal(privileges_user(&t->root, "slurm", &p, &t->err), 0);
	assert_true(p.uid == 64030 && p.gid == 64031);
	assert_int_equal(privileges_user(&t->root, "root", &p, &t->err), 0);
	assert_true(p.uid == 0 && p.gid == 0);
	assert_int_equal(privileges_user(&t->root, "broken", &p, &t->err), -ENOENT);
	assert_text(t->err.text, "/etc/passwd has no user broken");
}

static void test_capabilities(void **state)
{
	struct tmp *t = *state;
	struct privileges p = {0};

	assert_int_equal(privileges_add(&p, "CAP_NET_RAW", &t->err), 0);
	assert_int_equal(privileges_add(&p, "CAP_CHECKPOINT_RESTORE", &t->err), 0);
	assert_true(p.capabilities ==
		    (UINT64_C(1) << CAP_NET_RAW | UINT64_C(1) << CAP_CHECKPOINT_RESTORE));
	assert_int_equal(privileges_add(&p, "CAP_EVERYTHING", &t->err), -EINVAL);
	assert_text(t->err.text, "CAP_EVERYTHING: not a capability");
}

/* 0, or the error; what it says must hold text. */
static int judge(struct tmp *t, const char *path, const char *text)
{
	int r = privileges_program(path, &t->err);

	if (r < 0)
		assert_text(t->err.text, text);
	return r;
}

/* The other ways of a path to another user's hands are test_sys_trust.c's. */
static void test_program(void **state)
{
	struct tmp *t = *state;

	assert_int_equal(judge(t, "bin/sh", "bin/sh: write the program's absolute path"), -EINVAL);
	assert_int_equal(judge(t, "/no", "/no: No such file"), -ENOENT);
	assert_int_equal(judge(t, "/bin/sh", ""), 0);
	assert_int_equal(judge(t, "/etc/passwd", "/etc/passwd is not executable"), -EACCES);
	assert_int_equal(judge(t, "/usr/bin", "/usr/bin is not executable"), -EACCES);
	tmp_write(t, "check", "#!/bin/sh\n");
	assert_int_equal(chmod(tmp_path(t, "check"), 0755), 0);
	assert_int_equal(
		judge(t, tmp_path(t, "check"), "/tmp is writable by users other than root"),
		-EPERM);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, tmp_setup, tmp_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_user),
		TEST(test_capabilities),
		TEST(test_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
