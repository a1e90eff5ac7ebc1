/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What others write into GRUB's environment, and what railhead makes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "loader/counters.h"
#include "profile_tmp.h"

#define SIGNATURE "# GRUB Environment Block\n"

enum { GRUB_SIZE = 1024 };

static struct tmp *t;

static int setup(void **state)
{
	int r = tmp_setup(state);

	t = *state;
	tmp_write(t, "boot/grub/grub.cfg", "");
	return r;
}

static void put_raw(const char *path, const char *text, size_t len)
{
	FILE *f;

	tmp_write(t, path, "");
	f = fopen(tmp_path(t, path), "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

/* A block as grub-editenv makes it: 1,024 bytes, the rest is '#'. */
static void put(const char *path, const char *vars)
{
	char text[GRUB_SIZE + 1];

	memset(text, '#', GRUB_SIZE);
	memcpy(text, SIGNATURE, strlen(SIGNATURE));
	memcpy(text + strlen(SIGNATURE), vars, strlen(vars));
	put_raw(path, text, GRUB_SIZE);
}

static char *why(void)
{
	struct counters c = {0};
	int fd = open(tmp_path(t, "boot"), O_RDONLY | O_DIRECTORY);
	char *text;

	assert_true(fd >= 0);
	counters_read_blocks(&t->root, fd, "/boot", &c);
	text = counters_why_held(&t->root, &c);
	counters_free(&c);
	close(fd);
	return text;
}

/* what: of the sentence; NULL: nothing is armed. */
static void expect(const char *what, const char *of)
{
	cleanup_free char *text = why();

	if (!text != !what || (what && !strstr(text, what)))
		fail_msg("%s: %s", of, text ? text : "nothing is armed");
}

struct row {
	const char *vars, *slot, *armed; /* slot: of the command line */
};

static void check(const struct row *row)
{
	cleanup_free char *cmdline = xasprintf("ro %s quiet\n", row->slot);

	put("boot/grub/grubenv", row->vars);
	tmp_write(t, "proc/cmdline", cmdline);
	expect(row->armed, row->vars);
}

#define REST "ORDER=A B\nA_OK=1\nB_OK=1\nA_TRY=0\nB_TRY=0\n"
#define RAUC "RAUC counts the boots of slots, of which one is not marked good"

static void test_rauc(void **state)
{
	static const struct row rows[] = {
		/* marked good */
		{REST, "rauc.slot=A", NULL},
		/* what the script sets before it loads the block */
		{"ORDER=A B\nA_OK=1\nB_OK=1\n", "rauc.slot=A", NULL},
		{"ORDER=A  B \nA_OK=1\nB_OK=1\n", "rauc.slot=A", NULL},
		{"ORDER=rootfs.0 rootfs.1\nrootfs.0_OK=1\nrootfs.1_OK=1\n", "rauc.slot=rootfs.0",
		 NULL},
		/* every boot of a RAUC system, until mark-good */
		{"ORDER=A B\nA_OK=1\nB_OK=1\nA_TRY=1\nB_TRY=0\n", "rauc.slot=A",
		 RAUC ", or the slot that runs is not the first of two or more (rauc.slot=A, "
		      "ORDER=A B, A_OK=1 A_TRY=1, B_OK=1 B_TRY=0 in /boot/grub/grubenv); run `rauc "
		      "status mark-good`"},
		/* no slot to fall back on: if a trial died, GRUB would boot none */
		{"ORDER=A B\nA_OK=1\nB_OK=1\nA_TRY=0\nB_TRY=1\n", "rauc.slot=A", RAUC},
		{"ORDER=A B\nA_OK=1\nB_OK=0\n", "rauc.slot=A", RAUC},
		{"ORDER=A B\nA_OK=1\nA_TRY=0\n", "rauc.slot=A", RAUC},
		{"ORDER=A\nA_OK=1\nA_TRY=0\n", "rauc.slot=A", RAUC},
		/* an update was installed in this boot, or the second slot runs: another comes next
		 */
		{REST, "rauc.slot=B", RAUC},
		{"ORDER=B A\nA_OK=1\nB_OK=1\n", "rauc.slot=A", RAUC},
		/* which one booted? */
		{REST, "", RAUC},
		{REST, "rauc.slot=", RAUC},
		{REST, "rauc.slot=R", RAUC},
		{REST, "xrauc.slot=A", RAUC},
		/* other values than RAUC and its script write */
		{"ORDER=A B\nA_OK=1\nA_TRY=2\nB_OK=1\n", "rauc.slot=A", RAUC},
		{"ORDER=A B\nA_OK=yes\nB_OK=1\n", "rauc.slot=A", RAUC},
		/* of two lines GRUB takes the last */
		{"ORDER=A B\nA_OK=1\nA_TRY=1\nA_TRY=0\nB_OK=1\n", "rauc.slot=A", NULL},
		{"ORDER=A B\nA_OK=1\nA_TRY=0\nA_TRY=1\nB_OK=1\n", "rauc.slot=A", RAUC},
		/* nobody's */
		{"ORDER=\nA_OK=1\nA_TRY=1\n", "rauc.slot=A", NULL},
		{"A_OK=1\nA_TRY=1\n", "rauc.slot=A", NULL},
	};

	(void)state;
	for (size_t i = 0; i < array_len(rows); i++)
		check(&rows[i]);
}

static void test_others(void **state)
{
	static const struct row rows[] = {
		{"boot_counter=2\nboot_success=0\n", "", "greenboot counts the boots"},
		{"boot_counter=2\nboot_success=0\n", "",
		 "(boot_counter=2 in /boot/grub/grubenv); let greenboot confirm the boot: the "
		 "first "
		 "boot that no other program counts tries the arguments"},
		{"boot_counter=-1\nboot_success=0\n", "", "boot_counter=-1"},
		{"boot_counter=0\nboot_success=0\n", "", "boot_counter=0"},
		{"boot_counter=2\n", "", "greenboot"},
		/* green */
		{"boot_success=1\n", "", NULL},
		{"boot_counter=2\nboot_success=1\n", "", NULL},
		/* Fedora's and Ubuntu's ways to hide or show the menu count nothing */
		{"saved_entry=x\nmenu_auto_hide=1\nboot_success=0\nboot_indeterminate=1\n", "",
		 NULL},
		{"boot_counter=\nboot_success=0\n", "", NULL},
		{"recordfail=1\nnext_entry=\n", "", NULL},
		{"upgrade_available=1\nbootcount=1\nmender_boot_part=2\n", "",
		 "Mender has an update on trial that is not committed yet (upgrade_available=1 in"},
		{"upgrade_available=0\nbootcount=0\nmender_boot_part=2\n", "", NULL},
		{"kernel_status=trying\n", "", "snapd has a kernel on trial (kernel_status=trying"},
		{"kernel_status=\n", "", NULL},
		{"snap_mode=try\nsnap_try_core=core18_2.snap\n", "", "snapd has a kernel or base"},
		{"snap_mode=\nsnap_core=core18_1.snap\n", "", NULL},
		{"ustate=1\n", "", "SWUpdate has installed an update"},
		{"ustate=2\n", "", "SWUpdate has an update on trial (ustate=2"},
		{"ustate=0\n", "", NULL},
		{"ustate=3\n", "", NULL},
		/* several at once: the first is named */
		{"ORDER=A B\nboot_counter=2\nboot_success=0\n", "rauc.slot=A", "greenboot"},
		{"\n", "", NULL},
		{"boot_counter=\x1b[1m\n", "", "boot_counter=?[1m"},
	};

	(void)state;
	for (size_t i = 0; i < array_len(rows); i++)
		check(&rows[i]);
}

/* Of a block that GRUB does not load it takes nothing; of one that is cut it takes the start. */
static void test_damaged(void **state)
{
	static const char armed[] = SIGNATURE "boot_counter=2\nboot_success=0\n" REST;
	static const char other[] = "# GRUB Environment Clock\nboot_counter=2\n";

	(void)state;
	for (size_t len = 0; len < strlen(armed); len++) {
		put_raw("boot/grub/grubenv", armed, len);
		expect(len >= strlen(SIGNATURE "boot_counter=2\n") ? "greenboot" : NULL, "cut");
	}
	put_raw("boot/grub/grubenv", other, strlen(other));
	put_raw("boot/grub2/grubenv", "\0\0\0\0", 4);
	expect(NULL, "other signatures");
	/* larger than any block */
	put_raw("boot/grub/grubenv", SIGNATURE, strlen(SIGNATURE));
	assert_int_equal(truncate(tmp_path(t, "boot/grub/grubenv"), (64 << 10) + 1), 0);
	expect("a boot counter is armed: /boot/grub/grubenv can't be read (File too large)",
	       "large");
}

static void conf(const char *text)
{
	tmp_write(t, "etc/rauc/system.conf", text);
}

static void test_rauc_conf(void **state)
{
	static const char none[] =
		"and no ORDER is in GRUB's environment; run `rauc status mark-good`";

	(void)state;
	tmp_write(t, "proc/cmdline", "rauc.slot=A\n");
	conf("[system]\ncompatible=x\nbootloader=grub\n\n[slot.rootfs.0]\nbootname=A\n");
	expect(none, "no block");
	put("boot/grub/grubenv", REST);
	expect(NULL, "the usual block");
	/* a block anywhere */
	conf("[system]\nbootloader = grub\ngrubenv = /grubenv/env\n");
	expect("/grubenv/env can't be read (No such file or directory)", "not mounted");
	put("grubenv/env", "x=1\n");
	expect(NULL, "the usual block is RAUC's, too");
	put("grubenv/env", "ORDER=A B\nA_OK=1\nA_TRY=1\n");
	expect("in /grubenv/env); run", "armed in the block that it names");
	unlink(tmp_path(t, "boot/grub/grubenv"));
	put("grubenv/env", "x=1\n");
	expect(none, "nothing in the block that it names");
	put("grubenv/env", REST);
	expect(NULL, "at rest in the block that it names");
	/* others, and none */
	conf("[system]\nbootloader=uboot\n");
	expect("(bootloader=uboot in /etc/rauc/system.conf), which railhead can't read", "uboot");
	conf("[system]\nbootloader=efi\n");
	expect("bootloader=efi", "efi");
	conf("[system]\nbootloader=noop\n");
	expect(NULL, "noop");
	conf("[system]\nbootloaderx=uboot\nbootloader\n");
	expect(NULL, "other keys");
	conf("");
	expect(NULL, "empty");
	/* the first file counts */
	tmp_write(t, "usr/lib/rauc/system.conf", "[system]\nbootloader=uboot\n");
	expect(NULL, "masked");
	unlink(tmp_path(t, "etc/rauc/system.conf"));
	expect("bootloader=uboot in /usr/lib/rauc/system.conf", "the second place");
}

static void test_boot_assessment(void **state)
{
	(void)state;
	expect(NULL, "no variable");
	put_raw("sys/firmware/efi/efivars/LoaderBootCountPath-"
		"4a67b082-0a4c-41cf-b6c7-440b29bb8c4f",
		"\6\0\0\0/\0e\0\0\0", 10);
	expect("counts the boots of its entry (EFI variable LoaderBootCountPath: /e)", "/e");
}

/* Where they lie. */
static void test_places(void **state)
{
	static const char *const places[] = {
		"boot/grub/grubenv",
		"boot/grub2/grubenv",
		"boot/grubenv",
		"boot/EFI/BOOT/grubenv",
		"boot/EFI/BOOT/grub/grubenv",
		"boot/EFI/fedora/grubenv",
		"boot/grub-mender-grubenv/mender_grubenv1/env",
		"boot/grub-mender-grubenv/mender_grubenv2/env",
		"boot/grub/mender_grubenv1/env",
		"boot/EFI/BOOT/mender_grubenv2/env",
		"boot/mender_grubenv1/env",
	};

	(void)state;
	for (size_t i = 0; i < array_len(places); i++) {
		cleanup_free char *shown = xasprintf("upgrade_available=1 in /%s)", places[i]);

		put(places[i], "upgrade_available=1\n");
		expect(shown, places[i]);
		unlink(tmp_path(t, places[i]));
		expect(NULL, "gone");
	}
	/* a link is read under the name of its target; a directory is no block */
	tmp_write(t, "boot/elsewhere/grubenv", SIGNATURE "upgrade_available=1\n");
	assert_int_equal(symlink("../elsewhere/grubenv", tmp_path(t, "boot/grub/grubenv")), 0);
	tmp_write(t, "boot/grub2/grubenv/file", "");
	expect(NULL, "a link and a directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rauc, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_others, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_rauc_conf, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_boot_assessment, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_places, setup, tmp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
