/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who a site's own program runs as, and which programs and arguments may be used at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/capability.h>

#include "sys/dynamic_user.h"
#include "sys/isolation.h"
#include "sys/privileges.h"
#include "sys/trust.h"
#include "tree.h"

static void test_user(void **state)
{
	struct tmp *t = *state;
	struct privileges p = {.capabilities = 1};

	/* no password file at all: an image that has no users yet */
	assert_int_equal(privileges_user(&t->root, "slurm", &p, &t->err), -ENOENT);
	tmp_write(t, "etc/passwd",
		  "root:x:0:0:root:/root:/bin/sh\n"
		  "nobody2:x:1:1::/:/bin/sh\n"
		  "broken:x:none:1::/:/bin/sh\n"
		  "nobody:x:99:98:nobody:/:/sbin/nologin\n"
		  "slurm:x:64030:64031::/:/sbin/nologin");
	assert_int_equal(privileges_user(&t->root, "nobody", &p, &t->err), 0);
	assert_true(p.uid == 99 && p.gid == 98 && p.capabilities == 1);
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

struct path {
	const char *path;
	int status;
	const char *says; /* a part of the sentence */
};

typedef int (*judgement)(const struct root *root, const char *path, struct err *err);

static void judge_all(struct tmp *t, judgement judge, const struct path *paths, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int r = judge(&t->root, paths[i].path, &t->err);

		if (r != paths[i].status || (r < 0 && !strstr(t->err.text, paths[i].says)))
			fail_msg("%s: %d %s", paths[i].path, r, t->err.text);
	}
}

static int privileges_of(const struct tmp *t, const char *name, mode_t mode, uid_t user)
{
	return chown(tmp_path(t, name), user, 0) < 0 ? -1 : chmod(tmp_path(t, name), mode);
}

/* The root of the tests is as that of a machine: root's, with directories of others. */
static void make_machine(const struct tmp *t)
{
	assert_int_equal(privileges_of(t, "", 0755, 0), 0);
	tmp_write(t, "usr/bin/check", "#!/bin/sh\n");
	tmp_write(t, "usr/bin/notes", "");
	tmp_write(t, "usr/bin/shared", "");
	tmp_write(t, "usr/bin/theirs", "");
	tmp_write(t, "srv/check", "");
	tmp_write(t, "open/check", "");
	tree_dir(t, "usr/data");
	assert_int_equal(mkfifo(tmp_path(t, "usr/fifo"), 0600), 0);
	assert_int_equal(privileges_of(t, "usr/bin/check", 0755, 0), 0);
	assert_int_equal(privileges_of(t, "usr/bin/shared", 0775, 0), 0);
	assert_int_equal(privileges_of(t, "usr/bin/theirs", 0755, 1234), 0);
	assert_int_equal(privileges_of(t, "srv", 0755, 1234), 0);
	assert_int_equal(privileges_of(t, "srv/check", 0755, 0), 0);
	assert_int_equal(privileges_of(t, "open", 01777, 0), 0);
	assert_int_equal(privileges_of(t, "usr/data", 0700, 1234), 0);
	assert_int_equal(privileges_of(t, "usr/fifo", 0600, 1234), 0);
	tree_link(t, "bin", "usr/bin");
	tree_link(t, "srv/link", "/usr/bin/check");
	tree_link(t, "usr/way", "/srv/link");
	tree_link(t, "usr/dangling", "/srv/absent");
	tree_link(t, "usr/loop", "loop");
}

#define THEIRS "belongs to user 1234, not to root: run chown root"

static void test_program(void **state)
{
	static const struct path paths[] = {
		{"bin/check", -EINVAL, "bin/check: write the program's absolute path"},
		{"/no", -ENOENT, "/no: No such file"},
		{"/usr/bin/check", 0, NULL},
		{"/bin/check", 0, NULL},
		{"/usr/bin/notes", -EACCES, "/usr/bin/notes is not executable: run chmod +x"},
		{"/usr/bin", -EACCES, "/usr/bin is not executable"},
		{"/bin/theirs", -EPERM, "/usr/bin/theirs " THEIRS},
		{"/bin/shared", -EPERM, "/usr/bin/shared is writable by users other than root"},
		{"/srv/check", -EPERM, "/srv " THEIRS},
		{"/srv/link", -EPERM, "/srv " THEIRS},
		{"/usr/way", -EPERM, "/srv " THEIRS},
		{"/open/check", -EPERM, "/open is writable by users other than root"},
	};
	struct tmp *t = *state;

	if (geteuid() != 0) /* nothing that it makes is root's */
		return;
	make_machine(t);
	judge_all(t, privileges_program, paths, array_len(paths));
}

/* A file that appears or is exchanged later is as bad as one that is there. */
static void test_way(void **state)
{
	static const struct path paths[] = {
		{"/usr/bin/notes", 0, NULL},
		{"bin/notes", 0, NULL},
		{"/usr/bin/theirs", -EPERM, "/usr/bin/theirs " THEIRS},
		{"usr/../bin/theirs", -EPERM, "/usr/bin/theirs " THEIRS},
		{"/usr/bin/shared", -EPERM, "/usr/bin/shared is writable"},
		{"/usr/fifo", -EPERM, "/usr/fifo " THEIRS},
		/* a directory may be one of scripts: run-parts, PYTHONPATH= */
		{"/usr/bin", 0, NULL},
		{"/usr/data", -EPERM, "/usr/data " THEIRS},
		{"/usr/data/", -EPERM, "/usr/data " THEIRS},
		{"/usr/data/.", -EPERM, "/usr/data " THEIRS},
		{"/open", -EPERM, "/open is writable"},
		{"--verbose", 0, NULL},
		{"", 0, NULL},
		/* nothing is there, and others can make none */
		{"/usr/absent", 0, NULL},
		{"/usr/absent/check", 0, NULL},
		{"/usr/bin/notes/check", 0, NULL},
		{"/usr/loop", 0, NULL},
		/* ... or can */
		{"/usr/data/check", -EPERM, "/usr/data " THEIRS},
		{"/srv/absent/check", -EPERM, "/srv " THEIRS},
		{"/open/absent", -EPERM, "/open is writable"},
		{"/usr/dangling", -EPERM, "/srv " THEIRS},
		/* root's own, by a way that is theirs */
		{"/srv/check", -EPERM, "/srv " THEIRS},
		{"/srv/../usr/bin/notes", -EPERM, "/srv " THEIRS},
		{"/usr/way", -EPERM, "/srv " THEIRS},
	};
	struct tmp *t = *state;
	char script[600];

	if (geteuid() != 0)
		return;
	make_machine(t);
	judge_all(t, trust_way, paths, array_len(paths));
	memset(script, 'x', sizeof(script) - 1); /* of sh -c: longer than any file's name */
	script[sizeof(script) - 1] = '\0';
	assert_int_equal(trust_way(&t->root, script, &t->err), 0);
}

static void test_hidden(void **state)
{
	(void)state;
	assert_true(isolation_hides("/tmp/check") && isolation_hides("tmp/check"));
	assert_true(isolation_hides("/var/tmp/check") && isolation_hides("/dev/shm/check"));
	assert_true(isolation_hides("/tmp") && isolation_hides("/tmp/") && isolation_hides("tmp"));
	assert_false(isolation_hides("/") || isolation_hides("/tmpfs/check"));
	assert_false(isolation_hides("/dev/mqueue/check") || isolation_hides("/usr/tmp/check"));
	assert_false(isolation_hides("/tmp/../home/check"));
}

/* --- a user that no other process has ------------------------------------------------ */

enum { FREE = 61300 }; /* the one that is left by passwd(5) */

static void take_all_but_one(const struct tmp *t)
{
	cleanup_str struct str passwd = {0};

	for (unsigned int id = DYNAMIC_USER_FIRST; id <= DYNAMIC_USER_LAST; id++)
		if (id != FREE)
			str_addf(&passwd, "u%u:x:%u:%u::/:/bin/sh\n", id, id, id);
	tmp_write(t, "etc/passwd", str_get(&passwd));
}

static void expect_none(struct tmp *t)
{
	struct dynamic_user user = {0};

	assert_int_equal(dynamic_user_take(&t->root, &user, &t->err), -EAGAIN);
	assert_text(t->err.text, "no user id of 61184 to 65519 is free");
	assert_int_equal(user.id, 0);
}

static void expect_one(struct tmp *t, struct dynamic_user *ret)
{
	*ret = (struct dynamic_user){0};
	if (dynamic_user_take(&t->root, ret, &t->err) < 0)
		fail_msg("%s", t->err.text);
	assert_int_equal(ret->id, FREE);
}

static void test_dynamic_user(void **state)
{
	struct tmp *t = *state;
	struct dynamic_user user, other;
	char lock[] = "run/systemd/dynamic-uid/61300";

	/* without accounts, processes or systemd */
	assert_int_equal(dynamic_user_take(&t->root, &user, &t->err), -ENOENT); /* nor /proc */
	tmp_write(t, "proc/meminfo", "");
	assert_int_equal(dynamic_user_take(&t->root, &user, &t->err), 0);
	assert_in_range(user.id, 61184, 65519);
	dynamic_user_release(&user);
	dynamic_user_release(&user);

	take_all_but_one(t);
	expect_one(t, &user);
	dynamic_user_release(&user);
	tmp_write(t, "etc/group", "root:x:0:\nstaff:x:61300:\n");
	expect_none(t);
	tmp_write(t, "etc/group", "root:x:0:\nbroken\n");

	tmp_write(t, "proc/7/status", "Name:\tsh\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n");
	expect_one(t, &user);
	dynamic_user_release(&user);
	tmp_write(t, "proc/8/status", "Name:\tsh\nUid:\t0\t0\t61300\t0\nGid:\t0\n");
	expect_none(t);
	tree_remove(t, "proc/8/status");

	/* as systemd does; the file that a killed holder left is nobody's */
	tmp_write(t, lock, "");
	expect_one(t, &user);
	assert_true(tree_has(t, lock));
	assert_int_equal(dynamic_user_take(&t->root, &other, &t->err), -EAGAIN);
	dynamic_user_release(&user);
	assert_false(tree_has(t, lock));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, tmp_setup, tmp_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_user), TEST(test_capabilities), TEST(test_program),
		TEST(test_way),	 TEST(test_hidden),	  TEST(test_dynamic_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
