/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/mem.h"
#include "boot/bootpart.h"
#include "boot/grub.h"
#include "boot/env.h"
#include "boot/place.h"

#define LOADS "\tset railhead_file=\"$prefix/railhead.env\"\nexport railhead_kargs\n"
#define ENTRY "menuentry 'x' {\n\tlinux /vmlinuz root=UUID=1 ro quiet $railhead_kargs\n}\n"
#define PLAIN "menuentry 'x' {\n\tlinux /vmlinuz root=UUID=1 ro single\n}\n"

static void test_grub_cfg(void **state)
{
	static const struct {
		const char *cfg, *bls, *uuid;
		int r;
		const char *says;
	} t[] = {
		{LOADS ENTRY, NULL, NULL, 0, NULL},
		{LOADS ENTRY PLAIN, NULL, NULL, 0, NULL},
		{LOADS PLAIN, NULL, NULL, -ENOENT, "no menu entry"},
		{ENTRY, NULL, NULL, -ENOENT, "does not read railhead.env"},
		{"", NULL, NULL, -ENOENT, "update-grub"},
		{"# railhead.env\n# export railhead_kargs\n" ENTRY, NULL, NULL, -ENOENT,
		 "update-grub"},
		{LOADS "# linux /vmlinuz $railhead_kargs\n", NULL, NULL, -ENOENT, "no menu entry"},
		{LOADS "\tlinux16 /v ${railhead_kargs}", NULL, NULL, 0, NULL},
		/* BLS: the entries count, not grub.cfg */
		{LOADS "blscfg\n", "options root=x $railhead_kargs\n", NULL, 0, NULL},
		{LOADS "blscfg\n" PLAIN, "options root=x\n", NULL, -ENOENT, "grubby"},
		{LOADS ENTRY, "options root=x\n", NULL, 0, NULL},
		/* EFI: the file system that GRUB searches must be the ESP */
		{"set railhead_esp=\"AB-1\"\n" LOADS ENTRY, NULL, "AB-1", 0, NULL},
		{"set railhead_esp=\"AB-2\"\n" LOADS ENTRY, NULL, "AB-1", -ENOENT, "AB-1"},
		{LOADS ENTRY, NULL, "AB-1", -ENOENT, "EFI system partition"},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		struct err err = {0};
		int r = grub_cfg_check(t[i].cfg, t[i].bls, t[i].uuid, &err);

		if (r != t[i].r)
			fail_msg("case %zu: %d (%s)", i, r, err.text);
		if (t[i].says && !strstr(err.text, t[i].says))
			fail_msg("case %zu: %s", i, err.text);
	}
}

struct tree {
	char path[64];
	struct root root;
};

static void __attribute__((format(printf, 2, 3))) sh(const struct tree *t, const char *fmt, ...)
{
	cleanup_free char *script = NULL, *cmd = NULL;
	va_list ap;

	va_start(ap, fmt);
	assert_true(vasprintf(&script, fmt, ap) >= 0);
	va_end(ap);
	cmd = xasprintf("cd '%s' && { %s\n}", t->path, script);
	assert_int_equal(system(cmd), 0);
}

static void tree_init(struct tree *t)
{
	strcpy(t->path, "/tmp/railhead-test.XXXXXX");
	assert_non_null(mkdtemp(t->path));
	assert_int_equal(root_init(&t->root, t->path, NULL), 0);
	assert_false(t->root.live);
}

static void tree_done(struct tree *t)
{
	sh(t, "rm -rf '%s'", t->path);
	root_close(&t->root);
}

static void test_bios(void **state)
{
	struct boot_id id = {.id = "x"};
	struct bootpart b;
	struct err err;
	struct tree t;

	(void)state;
	tree_init(&t);
	/* no /boot at all: a captured machine can be looked at */
	assert_int_equal(bootpart_open(&t.root, true, &b, &err), -ENOENT);
	assert_int_equal(bootpart_open(&t.root, false, &b, &err), 0);
	assert_int_equal(b.loader, LOADER_NONE);
	assert_int_equal(b.dirfd, -1);
	assert_non_null(strstr(b.loader_why, "no /boot"));
	bootpart_close(&b, NULL);
	/* no GRUB */
	sh(&t, "mkdir -p boot/grub");
	assert_int_equal(bootpart_open(&t.root, false, &b, &err), 0);
	assert_int_equal(b.loader, LOADER_NONE);
	assert_int_equal(b.dirfd, -1);
	assert_non_null(strstr(b.loader_why, "grub.cfg"));
	bootpart_close(&b, NULL);
	/* GRUB without our snippet */
	sh(&t, "printf 'linux /v ro\\n' > boot/grub/grub.cfg");
	assert_int_equal(bootpart_open(&t.root, true, &b, &err), 0);
	assert_int_equal(b.loader, LOADER_NONE);
	assert_false(b.writable);
	assert_non_null(strstr(b.loader_why, "05_railhead"));
	bootpart_close(&b, NULL);
	/* all is there; an fstab changes nothing below a root that is not live */
	sh(&t, "mkdir -p etc; echo 'LABEL=boot /boot ext4 defaults 0 2' > etc/fstab; "
	       "printf 'railhead.env\\nexport railhead_kargs\\nlinux /v $railhead_kargs\\n' "
	       "> boot/grub/grub.cfg");
	assert_int_equal(bootpart_open(&t.root, true, &b, &err), 0);
	assert_int_equal(b.loader, LOADER_GRUB);
	assert_true(b.writable);
	assert_false(b.efi);
	assert_string_equal(b.path, "/boot/grub/railhead.env");
	assert_non_null(strstr(b.found, "LABEL=boot"));
	assert_int_equal(env_create(b.dirfd, &id, NULL, &err), 0);
	bootpart_close(&b, NULL);
	sh(&t, "test -f boot/grub/railhead.env");
	/* Fedora's place */
	sh(&t, "mv boot/grub boot/grub2");
	assert_int_equal(bootpart_open(&t.root, false, &b, &err), 0);
	assert_string_equal(b.path, "/boot/grub2/railhead.env");
	bootpart_close(&b, NULL);
	/* ostree */
	sh(&t, "mkdir run; touch run/ostree-booted");
	assert_int_equal(bootpart_open(&t.root, false, &b, &err), 0);
	assert_int_equal(b.loader, LOADER_NONE);
	bootpart_close(&b, NULL);
	tree_done(&t);
}

static void test_bls(void **state)
{
	struct bootpart b;
	struct err err;
	struct tree t;

	(void)state;
	tree_init(&t);
	sh(&t, "mkdir -p boot/grub2 boot/loader/entries; "
	       "printf 'railhead.env\\nexport railhead_kargs\\nblscfg\\n' > boot/grub2/grub.cfg; "
	       "echo 'options root=x' > boot/loader/entries/a.conf; "
	       "echo 'options root=x $railhead_kargs' > boot/loader/entries/x-0-rescue.conf");
	assert_int_equal(bootpart_open(&t.root, false, &b, &err), 0);
	assert_int_equal(b.loader, LOADER_NONE);
	bootpart_close(&b, NULL);
	sh(&t, "echo 'options root=x $railhead_kargs' > boot/loader/entries/a.conf");
	assert_int_equal(bootpart_open(&t.root, false, &b, &err), 0);
	assert_int_equal(b.loader, LOADER_GRUB);
	bootpart_close(&b, NULL);
	tree_done(&t);
}

static void test_efi(void **state)
{
	struct bootpart b;
	struct err err;
	struct tree t;

	(void)state;
	tree_init(&t);
	sh(&t, "mkdir -p sys/firmware/efi boot/grub boot/efi etc; "
	       "printf 'railhead.env\\nexport railhead_kargs\\nlinux /v $railhead_kargs\\n' "
	       "> boot/grub/grub.cfg; echo 'UUID=AB-1 /boot/efi vfat umask=0077 0 1' > etc/fstab");
	/* The directory comes with the first write. */
	assert_int_equal(bootpart_open(&t.root, false, &b, &err), 0);
	assert_true(b.efi);
	assert_int_equal(b.loader, LOADER_GRUB);
	assert_int_equal(b.dirfd, -1);
	assert_string_equal(b.path, "/boot/efi/EFI/railhead/railhead.env");
	bootpart_close(&b, NULL);
	assert_int_equal(bootpart_open(&t.root, true, &b, &err), 0);
	assert_true(b.dirfd >= 0);
	bootpart_close(&b, NULL);
	sh(&t, "test -d boot/efi/EFI/railhead");
	sh(&t, "echo 'UUID=AB-1 /boot vfat umask=0077 0 1' > etc/fstab");
	assert_int_equal(bootpart_open(&t.root, true, &b, &err), 0);
	assert_string_equal(b.path, "/boot/EFI/railhead/railhead.env");
	bootpart_close(&b, NULL);
	tree_done(&t);
}

static void test_bad_fstab(void **state)
{
	struct bootpart b;
	struct err err;
	struct tree t;

	(void)state;
	tree_init(&t);
	sh(&t, "mkdir -p boot/grub etc/fstab");
	assert_true(bootpart_open(&t.root, false, &b, &err) < 0);
	assert_non_null(strstr(err.text, "fstab"));
	tree_done(&t);
}

/* A place's own device decides; btrfs does, whatever its device number is. */
static void test_place_no_trial(void **state)
{
	cleanup_free char *plain = NULL, *raid = NULL, *btrfs = NULL;
	struct place p = {.fd = -1};
	struct stat st;
	struct tree t;

	(void)state;
	tree_init(&t);
	p.fd = open(t.path, O_RDONLY | O_DIRECTORY);
	assert_true(p.fd >= 0 && fstat(p.fd, &st) == 0);
	plain = place_no_trial_why(&t.root, &p);
	assert_null(plain);
	p.fstype = (char *)"btrfs";
	btrfs = place_no_trial_why(&t.root, &p);
	assert_non_null(strstr(btrfs, "btrfs"));
	p.fstype = (char *)"ext4";
	sh(&t,
	   "mkdir -p sys/devices/md9/md sys/class/block sys/dev/block; "
	   "ln -s ../../devices/md9 sys/class/block/md9; "
	   "ln -s ../../devices/md9 sys/dev/block/%u:%u",
	   major(st.st_dev), minor(st.st_dev));
	raid = place_no_trial_why(&t.root, &p);
	assert_non_null(strstr(raid, "can't write to the RAID array /dev/md9,"));
	close(p.fd);
	tree_done(&t);
}

/* What generates the snippet agrees with what looks for it. */
static void test_snippet(void **state)
{
	cleanup_free char *cfg = NULL, *path = NULL;
	struct tree t;
	struct err err = {0};
	size_t n;
	FILE *f;

	(void)state;
	/* make runs the tests from the top of the source tree */
	assert_int_equal(access("src/boot/gen-snippet.sh", X_OK), 0);
	tree_init(&t);
	sh(&t, "cd '%s' && src/boot/gen-snippet.sh > %s/05_railhead",
	   getenv("PWD") ? getenv("PWD") : ".", t.path);
	/* ... but railhead is not installed where it is built */
	sh(&t, "sed -i '/-x .usr.sbin.railhead/d' 05_railhead");
	sh(&t, "printf '#!/bin/sh\\ncase $1 in *=fs) echo fat;; *) echo AB-1;; esac\\n' > probe; "
	       "chmod +x probe; mkdir efi; grub_probe=./probe sh 05_railhead > grub.cfg; "
	       "echo 'linux /v $railhead_kargs' >> grub.cfg; "
	       "! command -v grub-script-check >/dev/null || grub-script-check grub.cfg");
	path = xasprintf("%s/grub.cfg", t.path);
	f = fopen(path, "re");
	assert_non_null(f);
	cfg = xcalloc(1, 65536);
	n = fread(cfg, 1, 65535, f);
	fclose(f);
	assert_true(n > 0);
	assert_int_equal(grub_cfg_check(cfg, NULL, NULL, &err), 0);
	if (strstr(cfg, "AB-1"))
		assert_int_equal(grub_cfg_check(cfg, NULL, "AB-1", &err), 0);
	tree_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grub_cfg),  cmocka_unit_test(test_bios),
		cmocka_unit_test(test_bls),	  cmocka_unit_test(test_efi),
		cmocka_unit_test(test_bad_fstab), cmocka_unit_test(test_place_no_trial),
		cmocka_unit_test(test_snippet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
