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
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "boot/counters.h"
#include "profile_tmp.h"

#define SIGNATURE "# GRUB Environment Block\n"

enum { GRUB_SIZE = 1024 };

static struct tmp *t;

static int setup(void **state)
{
	int r = tmp_setup(state);

	t = *state;
	return r;
}

/* A block as grub-editenv makes it: 1,024 bytes, the rest is '#'. */
static void add_raw(struct blocks *b, const char *path, const char *text, size_t len, bool raucs)
{
	struct block one = {.path = xstrdup(path),
			    .at = xstrdup("/boot"),
			    .name = xstrdup("grub/grubenv"),
			    .text = xcalloc(len + 1, 1),
			    .len = len,
			    .raucs = raucs};

	memcpy(one.text, text, len);
	vec_push(&b->list, one);
}

static void add(struct blocks *b, const char *path, const char *vars)
{
	char text[GRUB_SIZE + 1];

	memset(text, '#', GRUB_SIZE);
	memcpy(text, SIGNATURE, strlen(SIGNATURE));
	memcpy(text + strlen(SIGNATURE), vars, strlen(vars));
	add_raw(b, path, text, GRUB_SIZE, false);
}

static void judge(const char *vars, const char *cmdline, struct blocks *b, struct counters *ret)
{
	*b = (struct blocks){0};
	add(b, "/boot/grub/grubenv", vars);
	counters_judge(&t->root, b, cmdline, ret);
}

/* vars and a command line; what of the sentence, and what is given back. NULL: none. */
struct row {
	const char *vars, *cmdline, *armed, *what;
};

static void check(const struct row *row)
{
	struct blocks b;
	struct counters c;

	judge(row->vars, row->cmdline, &b, &c);
	if (!c.armed != !row->armed || (row->armed && !strstr(c.armed, row->armed)))
		fail_msg("%s: %s", row->vars, c.armed ? c.armed : "nothing is armed");
	if (!c.block != !row->what || (row->what && !strstr(c.what, row->what)))
		fail_msg("%s: %s", row->vars, c.block ? c.what : "nothing is given back");
	if (c.block) {
		assert_int_equal(c.block->text[c.offset], '1');
		assert_int_equal(c.block->text[c.offset - 1], '=');
	}
	counters_free(&c);
	blocks_free(&b);
}

#define UPDATED "ORDER=A B\nA_OK=1\nB_OK=1\nA_TRY=1\nB_TRY=0\n"

static void test_rauc(void **state)
{
	static const struct row rows[] = {
		/* every boot of a RAUC system, until mark-good */
		{UPDATED, "ro rauc.slot=A", NULL, "slot A (A_TRY=1 in /boot/grub/grubenv)"},
		/* marked good */
		{"ORDER=A B\nA_OK=1\nB_OK=1\nA_TRY=0\nB_TRY=0\n", "rauc.slot=A", NULL, NULL},
		/* what the script sets before it loads the block */
		{"ORDER=A B\nA_OK=1\nB_OK=1\n", "rauc.slot=A", NULL, NULL},
		/* B is the fallback, A has died: B is all there is; nor is the second slot filled
		 */
		{"ORDER=A B\nA_OK=1\nB_OK=1\nA_TRY=1\nB_TRY=1\n", "rauc.slot=B",
		 "if a trial fails, RAUC has no slot to boot other than B (ORDER=A B, A_OK=1 "
		 "A_TRY=1",
		 NULL},
		{"ORDER=A B\nA_OK=1\nA_TRY=0\n", "rauc.slot=A",
		 "RAUC has no slot to boot other than A", NULL},
		{"ORDER=A\nA_OK=1\nA_TRY=1\n", "rauc.slot=A",
		 "RAUC has no slot to boot other than A", NULL},
		/* the first slot is bad, the second one runs, the third is the way back */
		{"ORDER=A B C\nA_OK=0\nB_OK=1\nB_TRY=1\nC_OK=1\n", "rauc.slot=B", NULL,
		 "slot B (B_TRY=1"},
		/* an update was installed in this boot: it comes next */
		{"ORDER=B A\nA_OK=1\nB_OK=1\nA_TRY=0\nB_TRY=0\n", "rauc.slot=A",
		 "RAUC would boot slot B next and not slot A, which runs (ORDER=B A, B_OK=1", NULL},
		/* started from the menu: the next boot goes elsewhere */
		{"ORDER=A B\nA_OK=0\nB_OK=1\nA_TRY=1\nB_TRY=0\n", "rauc.slot=A",
		 "slot B next and not slot A", NULL},
		{"ORDER=A B\nA_OK=0\nB_OK=0\n", "rauc.slot=A", "RAUC would boot no slot next",
		 NULL},
		/* which one booted? */
		{UPDATED, "ro", "no slot of its ORDER is named by rauc.slot=", NULL},
		{UPDATED, "rauc.slot=", "no slot of its ORDER is named by rauc.slot=", NULL},
		{UPDATED, "rauc.slot=R", "no slot of its ORDER is named by rauc.slot=", NULL},
		{UPDATED, "xrauc.slot=A", "no slot of its ORDER is named by rauc.slot=", NULL},
		/* three slots; names as in system.conf */
		{"ORDER=rootfs.0 rootfs.1 "
		 "r\nrootfs.0_OK=0\nrootfs.1_OK=1\nrootfs.1_TRY=1\nr_OK=1\n",
		 "rauc.slot=rootfs.1", NULL, "slot rootfs.1 (rootfs.1_TRY=1"},
		/* other values than RAUC and its script write */
		{"ORDER=A B\nA_OK=1\nA_TRY=2\nB_OK=1\n", "rauc.slot=A", "is neither 0 nor 1", NULL},
		{"ORDER=A B\nA_OK=yes\nA_TRY=1\nB_OK=1\n", "rauc.slot=A", "is neither 0 nor 1",
		 NULL},
		{"ORDER=A B\nA_OK=1\nA_TRY=1\nA_TRY=1\nB_OK=1\n", "rauc.slot=A",
		 "the line A_TRY of /boot/grub/grubenv does not have RAUC's format", NULL},
		{"ORDER=A B\nA_OK=1\nA_TRY=\\1\nB_OK=1\n", "rauc.slot=A",
		 "does not have RAUC's format", NULL},
		/* nobody's */
		{"ORDER=\nA_OK=1\nA_TRY=1\n", "rauc.slot=A", NULL, NULL},
		{"A_OK=1\nA_TRY=1\n", "rauc.slot=A", NULL, NULL},
	};

	(void)state;
	for (size_t i = 0; i < array_len(rows); i++)
		check(&rows[i]);
}

static void test_others(void **state)
{
	static const struct row rows[] = {
		{"boot_counter=2\nboot_success=0\n", "", "greenboot counts the boots", NULL},
		{"boot_counter=2\nboot_success=0\n", "", "boot_counter=2 in /boot/grub/grubenv",
		 NULL},
		{"boot_counter=-1\nboot_success=0\n", "", "boot_counter=-1", NULL},
		{"boot_counter=2\n", "", "greenboot", NULL},
		/* green */
		{"boot_success=1\n", "", NULL, NULL},
		{"boot_counter=2\nboot_success=1\n", "", NULL, NULL},
		/* Fedora's and Ubuntu's ways to hide or show the menu count nothing */
		{"saved_entry=x\nmenu_auto_hide=1\nboot_success=0\nboot_indeterminate=1\n", "",
		 NULL, NULL},
		{"boot_counter=\nboot_success=0\n", "", NULL, NULL},
		{"recordfail=1\nnext_entry=\n", "", NULL, NULL},
		{"upgrade_available=1\nbootcount=1\nmender_boot_part=2\n", "",
		 "Mender has an update on trial that is not committed yet (upgrade_available=1, "
		 "bootcount=1",
		 NULL},
		{"upgrade_available=0\nbootcount=0\nmender_boot_part=2\n", "", NULL, NULL},
		{"kernel_status=trying\n", "", "snapd has a kernel on trial", NULL},
		{"kernel_status=\n", "", NULL, NULL},
		/* several at once: the first is named, and nothing is given back */
		{UPDATED "boot_counter=2\nboot_success=0\n", "rauc.slot=A", "greenboot", NULL},
		{"\n", "", NULL, NULL},
	};

	(void)state;
	for (size_t i = 0; i < array_len(rows); i++)
		check(&rows[i]);
}

/* Of a block that GRUB does not load it takes nothing; of one that is cut it takes the start. */
static void test_damaged(void **state)
{
	static const char armed[] = SIGNATURE "boot_counter=2\nboot_success=0\n" UPDATED;
	static const char other[] = "# GRUB Environment Clock\nboot_counter=2\n";
	struct blocks b;
	struct counters c;

	(void)state;
	for (size_t len = 0; len < strlen(armed); len++) {
		b = (struct blocks){0};
		add_raw(&b, "/boot/grub/grubenv", armed, len, false);
		counters_judge(&t->root, &b, "rauc.slot=A", &c);
		assert_int_equal(c.armed != NULL, len >= strlen(SIGNATURE "boot_counter=2\n"));
		assert_null(c.block);
		counters_free(&c);
		blocks_free(&b);
	}
	b = (struct blocks){0};
	add_raw(&b, "/boot/grub/grubenv", other, strlen(other), false);
	add_raw(&b, "/boot/grub2/grubenv", "\0\0\0\0", 4, false);
	counters_judge(&t->root, &b, "rauc.slot=A", &c);
	assert_null(c.armed);
	counters_free(&c);
	b.trouble = xstrdup("/boot/grub/grubenv can't be read (Input/output error)");
	counters_judge(&t->root, &b, "", &c);
	assert_non_null(
		strstr(c.armed, "boot counter is active: /boot/grub/grubenv can't be read"));
	counters_free(&c);
	blocks_free(&b);
}

static void conf(const char *text)
{
	tmp_write(t, "etc/rauc/system.conf", text);
}

static void expect_armed(struct blocks *b, const char *cmdline, const char *what)
{
	struct counters c;

	counters_judge(&t->root, b, cmdline, &c);
	if (!c.armed != !what || (what && !strstr(c.armed, what)))
		fail_msg("%s", c.armed ? c.armed : "nothing is armed");
	counters_free(&c);
}

static void test_rauc_conf(void **state)
{
	static const char raucs[] = SIGNATURE UPDATED;
	struct blocks b = {0};
	struct counters c;

	(void)state;
	conf("[system]\ncompatible=x\nbootloader=grub\n\n[slot.rootfs.0]\nbootname=A\n");
	expect_armed(&b, "rauc.slot=A", "no ORDER is in GRUB's environment (/boot/grub/grubenv)");
	conf("[system]\nbootloader = grub\ngrubenv = grub/env\n");
	expect_armed(&b, "rauc.slot=A", "environment (/etc/rauc/grub/env)");
	/* a second ORDER: whose counts? */
	conf("[system]\nbootloader=grub\n");
	add(&b, "/boot/grub/grubenv", UPDATED);
	add(&b, "/boot/efi/EFI/BOOT/grubenv", UPDATED);
	expect_armed(&b, "rauc.slot=A", "can't tell which environment block GRUB uses");
	/* the one that RAUC names, whatever else lies around */
	add_raw(&b, "/grubenv/env", raucs, strlen(raucs), true);
	counters_judge(&t->root, &b, "rauc.slot=A", &c);
	assert_null(c.armed);
	assert_string_equal(c.block->path, "/grubenv/env");
	counters_free(&c);
	blocks_free(&b);
	/* the key of another section; a file without it */
	conf("[keyring]\nbootloader=uboot\n[system]\nbootloaderx=uboot\n");
	expect_armed(&b, "", NULL);
	conf("");
	expect_armed(&b, "", NULL);
	conf("[system]\nbootloader=noop\n");
	expect_armed(&b, "", NULL);
	conf("[system]\nbootloader=uboot\n");
	expect_armed(&b, "", "(bootloader=uboot in /etc/rauc/system.conf), which railhead can't");
	conf("[system]\nbootloader=custom\n");
	expect_armed(&b, "", "bootloader=custom");
}

static void variable(const char *name, unsigned int attribute, unsigned int one, unsigned int two)
{
	cleanup_free char *path =
		xasprintf("sys/firmware/efi/efivars/%s-8be4df61-93ca-11d2-aa0d-00e098032b8c", name);
	const unsigned char raw[] = {(unsigned char)attribute,
				     0,
				     0,
				     0,
				     (unsigned char)one,
				     (unsigned char)(one >> 8),
				     (unsigned char)two,
				     (unsigned char)(two >> 8)};
	FILE *f = fopen(tmp_path(t, path), "w");

	assert_non_null(f);
	assert_int_equal(fwrite(raw, 1, sizeof(raw), f), sizeof(raw));
	fclose(f);
}

static void test_rauc_efi(void **state)
{
	struct blocks b = {0};

	(void)state;
	conf("[system]\nbootloader=efi\n");
	expect_armed(&b, "", "BootCurrent and BootOrder, which can't be read");
	variable("BootCurrent", 6, 0x0102, 0);
	variable("BootOrder", 7, 0x0102, 3);
	expect_armed(&b, "", NULL);
	variable("BootOrder", 7, 3, 0x0102);
	expect_armed(&b, "", "the firmware booted entry 0102, and boots 0003 next");
	variable("BootNext", 7, 0x0102, 0);
	expect_armed(&b, "", "RAUC has the firmware boot entry 0102 next");
}

static void test_boot_assessment(void **state)
{
	static const char path[] = "sys/firmware/efi/efivars/LoaderBootCountPath-"
				   "4a67b082-0a4c-41cf-b6c7-440b29bb8c4f";
	struct blocks b = {0};
	FILE *f;

	(void)state;
	expect_armed(&b, "", NULL);
	f = fopen(tmp_path(t, path), "w");
	assert_non_null(f);
	fwrite("\6\0\0\0/\0e\0\0\0", 1, 10, f);
	fclose(f);
	expect_armed(&b, "",
		     "counts the boots of its entry (EFI variable LoaderBootCountPath: /e)");
}

/* Where they lie. */
static void test_places(void **state)
{
	static const char *const found[] = {
		"/boot/grub/grubenv",
		"/boot/EFI/BOOT/grubenv",
		"/boot/EFI/fedora/grubenv",
		"/boot/grub-mender-grubenv/mender_grubenv1/env",
		"/boot/grub-mender-grubenv/mender_grubenv2/env",
	};
	cleanup_free char *top = xasprintf("%s/boot", t->dir);
	struct blocks b = {0};
	int fd;

	(void)state;
	for (size_t i = 0; i < array_len(found); i++)
		tmp_write(t, found[i] + 1, SIGNATURE "x=1\n");
	tmp_write(t, "boot/grub2/grub.cfg", "");
	assert_int_equal(symlink("../EFI/fedora/grubenv", tmp_path(t, "boot/grub2/grubenv")), 0);
	fd = open(top, O_RDONLY | O_DIRECTORY);
	assert_true(fd >= 0);
	blocks_read(fd, "/boot", "/boot", &b);
	assert_int_equal(b.list.n, array_len(found));
	for (size_t i = 0; i < b.list.n; i++)
		assert_string_equal(b.list.v[i].path, found[i]);
	assert_string_equal(b.list.v[0].name, "grub/grubenv");
	assert_string_equal(b.list.v[0].text, SIGNATURE "x=1\n");
	assert_null(b.trouble);
	close(fd);
	blocks_free(&b);
	/* Not a directory, or none: no block, no trouble. */
	blocks_read(-1, NULL, "ESP:", &b);
	assert_int_equal(b.list.n, 0);
	blocks_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rauc, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_others, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_rauc_conf, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_rauc_efi, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_boot_assessment, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_places, setup, tmp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
