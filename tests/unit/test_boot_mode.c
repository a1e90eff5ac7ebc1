/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "boot/mode.h"

static void test_cmdline(void **state)
{
	static const struct {
		const char *cmdline;
		enum boot_mode mode;
	} t[] = {
		{"BOOT_IMAGE=/vmlinuz root=UUID=1 ro quiet", BOOT_NORMAL},
		{"railhead=off", BOOT_OFF},
		{"railhead=off single", BOOT_OFF},
		{"railhead=off railhead=on", BOOT_NORMAL},
		{"railhead.profile=x", BOOT_NORMAL},
		{"single", BOOT_SPECIAL},
		{"1", BOOT_SPECIAL},
		{"s", BOOT_SPECIAL},
		{"S", BOOT_SPECIAL},
		{"rescue", BOOT_SPECIAL},
		{"emergency", BOOT_SPECIAL},
		{"-b", BOOT_SPECIAL},
		{"3", BOOT_NORMAL},
		{"systemd.unit=rescue.target", BOOT_SPECIAL},
		{"systemd.unit=emergency.target", BOOT_SPECIAL},
		{"systemd.unit=multi-user.target", BOOT_NORMAL},
		{"systemd.unit=rescue.target systemd.unit=multi-user.target", BOOT_NORMAL},
		{"systemd.unit=kdump-tools-dump.service", BOOT_SPECIAL},
		{"rd.break", BOOT_SPECIAL},
		{"rd.break=pre-mount", BOOT_SPECIAL},
		{"break", BOOT_SPECIAL},
		{"break=bottom,init panic=0", BOOT_SPECIAL},
		/* what a trial boot has on its line is no mode */
		{"panic=30 rd.shell=0 rd.emergency=reboot", BOOT_NORMAL},
		{"init=/bin/sh", BOOT_SPECIAL},
		{"init=/sbin/init", BOOT_NORMAL},
		{"init=/usr/lib/systemd/systemd", BOOT_NORMAL},
		{"boot=live", BOOT_SPECIAL},
		{"root=live:CDLABEL=x", BOOT_SPECIAL},
		{"rd.live.image", BOOT_SPECIAL},
		{"root=/dev/nfs nfsroot=1.2.3.4:/x", BOOT_SPECIAL},
		{"root=nfs:1.2.3.4:/x", BOOT_SPECIAL},
		{"root=nfs4:1.2.3.4:/x", BOOT_SPECIAL},
		{"root=/dev/sda1 netroot=iscsi:@1.2.3.4::::x", BOOT_SPECIAL},
		{"root=/dev/nbd0p1", BOOT_NORMAL},
		{"foo=single", BOOT_NORMAL},
	};
	struct root root;

	(void)state;
	assert_int_equal(root_init(&root, "/tmp", NULL), 0);
	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_free char *why = NULL;

		if (boot_mode(&root, t[i].cmdline, &why) != t[i].mode)
			fail_msg("%s", t[i].cmdline);
		assert_true((why == NULL) == (t[i].mode == BOOT_NORMAL));
		boot_mode(&root, t[i].cmdline, NULL);
	}
	root_close(&root);
}

static void put(int dir, const char *name, const char *text, size_t len)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	close(fd);
}

/* A tree of files that is taken for the machine's own. */
static void test_machine(void **state)
{
	static const char in[] = "HOME=/\0container=lxc\0TERM=linux";
	static const char not_in[] = "HOME=/\0x=container=lxc";
	char path[] = "/tmp/railhead-test.XXXXXX";
	cleanup_free char *cmd = NULL;
	struct root root;
	int dir;

	(void)state;
	assert_non_null(mkdtemp(path));
	dir = open(path, O_RDONLY | O_DIRECTORY);
	assert_int_equal(root_init(&root, path, NULL), 0);
	root.live = true;
	assert_int_equal(boot_mode(&root, "quiet", NULL), BOOT_NORMAL);
	mkdirat(dir, "proc", 0755);
	mkdirat(dir, "proc/1", 0755);
	put(dir, "proc/1/environ", not_in, sizeof(not_in));
	assert_int_equal(boot_mode(&root, "quiet", NULL), BOOT_NORMAL);
	put(dir, "proc/1/environ", in, sizeof(in));
	assert_int_equal(boot_mode(&root, "quiet", NULL), BOOT_SPECIAL);
	put(dir, "proc/1/environ", "", 0);
	assert_int_equal(boot_mode(&root, "quiet", NULL), BOOT_NORMAL);
	put(dir, "proc/vmcore", "", 0);
	assert_int_equal(boot_mode(&root, "quiet", NULL), BOOT_SPECIAL);
	/* Of a captured machine only the command line counts. */
	root.live = false;
	assert_int_equal(boot_mode(&root, "quiet", NULL), BOOT_NORMAL);
	root.live = true;
	unlinkat(dir, "proc/vmcore", 0);
	setenv("IN_KDUMP", "1", 1);
	assert_int_equal(boot_mode(&root, "quiet", NULL), BOOT_SPECIAL);
	unsetenv("IN_KDUMP");
	mkdirat(dir, "run", 0755);
	mkdirat(dir, "run/systemd", 0755);
	put(dir, "run/systemd/container", "docker", 6);
	assert_int_equal(boot_mode(&root, "quiet", NULL), BOOT_SPECIAL);
	root_close(&root);
	close(dir);
	cmd = xasprintf("rm -rf %s", path);
	assert_int_equal(system(cmd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cmdline),
		cmocka_unit_test(test_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
