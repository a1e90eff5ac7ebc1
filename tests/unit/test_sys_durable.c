/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that a boot loader reads: what replaces one is its successor to others too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "sys/machine.h"

#define LABEL "system_u:object_r:boot_t:s0"
/* Version 2; user rw-, user 4321 r--, group r--, mask r--, other ---. */
static const unsigned char ACL[] = {
	2, 0,	 0,    0,   1,	 0,   6,  0, 255, 255, 255, 255, 2,   0,   4,
	0, 0xe1, 0x10, 0,   0,	 4,   0,  4, 0,	  255, 255, 255, 255, 16,  0,
	4, 0,	 255,  255, 255, 255, 32, 0, 0,	  0,   255, 255, 255, 255,
};

/* A tree: nothing is flushed as it would be for the machine that runs the test. */
static const struct root ROOT = {.fd = -1};
static char dir_path[64];

static int setup(void **state)
{
	static int dir;

	strcpy(dir_path, "/tmp/railhead-durable-XXXXXX");
	if (!mkdtemp(dir_path))
		return -1;
	dir = open(dir_path, O_RDONLY | O_DIRECTORY);
	*state = &dir;
	return dir < 0;
}

static int teardown(void **state)
{
	int dir = *(int *)*state;

	unlinkat(dir, "f", 0);
	unlinkat(dir, "other", 0);
	close(dir);
	return rmdir(dir_path);
}

static void put(int dir, const char *name, const char *text, mode_t mode)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void holds(int dir, const char *name, const char *text)
{
	char buf[64] = "";
	int fd = openat(dir, name, O_RDONLY);

	assert_int_equal(read(fd, buf, sizeof(buf) - 1), strlen(text));
	assert_string_equal(buf, text);
	close(fd);
}

static void test_new(void **state)
{
	int dir = *(int *)*state;
	mode_t mask = umask(022);
	struct err err;
	struct stat st;

	assert_int_equal(machine_create_durable(&ROOT, dir, "f", "new", 3, &err), 0);
	umask(mask);
	holds(dir, "f", "new");
	assert_int_equal(fstatat(dir, "f", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
}

static void test_inherits(void **state)
{
	int dir = *(int *)*state;
	unsigned char acl[256];
	struct stat before, after;
	char label[64] = "";
	struct err err;
	int fd;

	put(dir, "f", "old and longer", 0640);
	fd = openat(dir, "f", O_RDONLY);
	assert_int_equal(fsetxattr(fd, "system.posix_acl_access", ACL, sizeof(ACL), 0), 0);
	/* only root may set these */
	if (geteuid() == 0) {
		assert_int_equal(fchown(fd, 4321, 1234), 0);
		assert_int_equal(fsetxattr(fd, "security.selinux", LABEL, sizeof(LABEL), 0), 0);
		assert_int_equal(fsetxattr(fd, "security.ima", "\1x", 2, 0), 0);
	} else {
		print_message("not root: owner and label are not tested\n");
	}
	assert_int_equal(fstat(fd, &before), 0);
	close(fd);
	assert_int_equal(machine_create_durable(&ROOT, dir, "f", "new", 3, &err), 0);
	holds(dir, "f", "new");
	fd = openat(dir, "f", O_RDONLY);
	assert_int_equal(fstat(fd, &after), 0);
	assert_int_not_equal(before.st_ino, after.st_ino);
	assert_int_equal(after.st_mode, before.st_mode);
	assert_int_equal(after.st_uid, before.st_uid);
	assert_int_equal(after.st_gid, before.st_gid);
	assert_int_equal(fgetxattr(fd, "system.posix_acl_access", acl, sizeof(acl)), sizeof(ACL));
	assert_memory_equal(acl, ACL, sizeof(ACL));
	if (geteuid() == 0) {
		assert_int_equal(fgetxattr(fd, "security.selinux", label, sizeof(label)),
				 sizeof(LABEL));
		assert_string_equal(label, LABEL);
		/* the hash of what is gone */
		assert_int_equal(fgetxattr(fd, "security.ima", label, sizeof(label)), -1);
		assert_int_equal(errno, ENODATA);
	}
	close(fd);
	assert_int_equal(faccessat(dir, "f.new", F_OK, 0), -1);
}

/* What a link leads to has no say, and stays. */
static void test_link(void **state)
{
	int dir = *(int *)*state;
	struct err err;
	struct stat st;

	put(dir, "other", "other", 0600);
	assert_int_equal(symlinkat("other", dir, "f"), 0);
	assert_int_equal(machine_create_durable(&ROOT, dir, "f", "new", 3, &err), 0);
	assert_int_equal(fstatat(dir, "f", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISREG(st.st_mode));
	holds(dir, "other", "other");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_new, setup, teardown),
		cmocka_unit_test_setup_teardown(test_inherits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_link, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
