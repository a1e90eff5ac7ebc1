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
#include "loader/bootpart.h"
#include "loader/grub.h"
#include "loader/env.h"
#include "loader/place.h"
#include "sys/machine.h"

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
	struct boot_env env;
	struct bootpart b;
	struct err err;
	struct tree t;

	(void)state;
	env_init(&env);
	tree_init(&t);
	/* no /boot at all: a captured machine can be looked at */
	assert_int_equal(bootpart_open(&t.root, true, &b, &err), -ENOENT);
	assert_int_equal(bootpart_open(&t.root, false, &b, &err), 0);
	assert_non_null(b.loader_why);
	assert_int_equal(b.dirfd, -1);
	assert_non_null(strstr(b.loader_why, "no /boot"));
	bootpart_close(&b, NULL);
	/* no GRUB */
	sh(&t, "mkdir -p boot/grub");
	assert_int_equal(bootpart_open(&t.root, false, &b, &err), 0);
	assert_non_null(b.loader_why);
	assert_false(b.entry_lacks_kargs);
	assert_int_equal(b.dirfd, -1);
	assert_non_null(strstr(b.loader_why, "no grub.cfg"));
	assert_non_null(strstr(b.loader_why, "--format=line"));
	bootpart_close(&b, NULL);
	/* GRUB without our snippet */
	sh(&t, "printf 'linux /v ro\\n' > boot/grub/grub.cfg");
	assert_int_equal(bootpart_open(&t.root, true, &b, &err), 0);
	assert_non_null(b.loader_why);
	assert_false(b.writable);
	assert_non_null(strstr(b.loader_why, "05_railhead"));
	bootpart_close(&b, NULL);
	/* all is there; an fstab changes nothing below a root that is not live */
	sh(&t, "mkdir -p etc; echo 'LABEL=boot /boot ext4 defaults 0 2' > etc/fstab; "
	       "printf 'railhead.env\\nexport railhead_kargs\\nlinux /v $railhead_kargs\\n' "
	       "> boot/grub/grub.cfg");
	assert_int_equal(bootpart_open(&t.root, true, &b, &err), 0);
	assert_null(b.loader_why);
	assert_true(b.writable);
	assert_false(b.efi);
	assert_string_equal(b.path, "/boot/grub/railhead.env");
	assert_non_null(strstr(b.found, "LABEL=boot"));
	assert_int_equal(env_create(&t.root, b.dirfd, &env, &err), 0);
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
	assert_non_null(b.loader_why);
	assert_non_null(strstr(b.loader_why, "--format=bootc"));
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
	assert_non_null(b.loader_why);
	assert_true(b.entry_lacks_kargs);
	/* the file is GRUB's to read all the same: what it has is known */
	assert_true(b.dirfd >= 0);
	bootpart_close(&b, NULL);
	sh(&t, "echo 'options root=x $railhead_kargs' > boot/loader/entries/a.conf");
	assert_int_equal(bootpart_open(&t.root, false, &b, &err), 0);
	assert_null(b.loader_why);
	assert_false(b.entry_lacks_kargs);
	bootpart_close(&b, NULL);
	/* a new kernel, made the default: its entry decides */
	sh(&t, "echo 'options root=x' > boot/loader/entries/b.conf; "
	       "printf 'saved_entry=b\\n' > boot/grub2/grubenv");
	assert_int_equal(bootpart_open(&t.root, false, &b, &err), 0);
	assert_true(b.entry_lacks_kargs);
	assert_non_null(strstr(b.loader_why, "/boot/loader/entries/b.conf"));
	bootpart_close(&b, NULL);
	sh(&t, "printf 'saved_entry=a\\n' > boot/grub2/grubenv");
	assert_int_equal(bootpart_open(&t.root, false, &b, &err), 0);
	assert_null(b.loader_why);
	bootpart_close(&b, NULL);
	tree_done(&t);
}

#define REAL "railhead.env\\nexport railhead_kargs\\nlinux /v $railhead_kargs\\n"

/* GRUB for EFI, whose configuration reads railhead.env; fstab mounts a VFAT file system. */
static void lay_efi(const struct tree *t, const char *at)
{
	sh(t,
	   "mkdir -p sys/firmware/efi boot/grub boot/efi etc; printf '%s' > boot/grub/grub.cfg; "
	   "echo 'UUID=AB-1 %s vfat umask=0077 0 1' > etc/fstab",
	   REAL, at);
}

static void test_efi(void **state)
{
	struct bootpart b;
	struct err err;
	struct tree t;

	(void)state;
	tree_init(&t);
	lay_efi(&t, "/boot/efi");
	/* The directory comes with the first write. */
	assert_int_equal(bootpart_open(&t.root, false, &b, &err), 0);
	assert_true(b.efi);
	assert_null(b.loader_why);
	assert_int_equal(b.dirfd, -1);
	assert_string_equal(b.path, "/boot/efi/EFI/railhead/railhead.env");
	bootpart_close(&b, NULL);
	assert_int_equal(bootpart_open(&t.root, true, &b, &err), 0);
	assert_true(b.dirfd >= 0);
	bootpart_close(&b, NULL);
	sh(&t, "test -d boot/efi/EFI/railhead");
	lay_efi(&t, "/boot");
	assert_int_equal(bootpart_open(&t.root, true, &b, &err), 0);
	assert_string_equal(b.path, "/boot/EFI/railhead/railhead.env");
	bootpart_close(&b, NULL);
	tree_done(&t);
}

/* A disk with an ESP and an XBOOTLDR partition; the tree's file system is on one of them. */
static void lay_disk(const struct tree *t, int partition)
{
	struct stat st;

	assert_int_equal(root_stat(&t->root, &st, "/boot"), 0);
	sh(t,
	   "rm -rf dev sys/class sys/dev; mkdir -p dev sys/class/block sys/dev/block "
	   "sys/devices/sda/sda1 sys/devices/sda/sda2; "
	   "for n in 1 2; do echo $n > sys/devices/sda/sda$n/partition; "
	   "ln -s ../../devices/sda/sda$n sys/class/block/; done; "
	   "ln -s ../../devices/sda sys/class/block/; "
	   "ln -s ../../devices/sda/sda%d sys/dev/block/%u:%u; truncate -s 8M dev/sda; "
	   "printf 'label: gpt\nsize=2MiB, type=uefi\n"
	   "size=2MiB, type=BC13C2FF-59E6-4262-A352-B275FD6F7172\n' | sfdisk -q dev/sda",
	   partition, major(st.st_dev), minor(st.st_dev));
}

/* systemd mounts a VFAT XBOOTLDR partition at /boot, where an ESP is mounted on other machines. */
static void test_xbootldr(void **state)
{
	struct bootpart b;
	struct err err;
	struct tree t;

	(void)state;
	tree_init(&t);
	lay_efi(&t, "/boot");
	lay_disk(&t, 1);
	assert_int_equal(bootpart_open(&t.root, false, &b, &err), 0);
	assert_string_equal(b.path, "/boot/EFI/railhead/railhead.env");
	bootpart_close(&b, NULL);
	lay_disk(&t, 2);
	assert_int_equal(bootpart_open(&t.root, false, &b, &err), 0);
	assert_null(b.loader_why);
	assert_string_equal(b.path, "/boot/efi/EFI/railhead/railhead.env");
	bootpart_close(&b, NULL);
	tree_done(&t);
}

/* The file that is found, and what is in it. */
static void expect_env(const struct tree *t, bool write, const char *path, const char *args)
{
	struct boot_env env;
	struct bootpart b;
	struct err err;

	assert_int_equal(bootpart_open(&t->root, write, &b, &err), 0);
	assert_string_equal(b.path, path);
	if (args) {
		assert_int_equal(env_read(b.dirfd, &env, &err), 0);
		assert_string_equal(env.slot[0], args);
	} else {
		assert_int_equal(env_read(b.dirfd, &env, &err), -ENOENT);
	}
	bootpart_close(&b, NULL);
}

static void lay_env(const struct tree *t, const char *dir, const char *args)
{
	struct boot_env env = {.good = 'a', .try_ = ENV_NONE, .begun = ENV_NONE};
	cleanup_close int fd = -1;
	char buf[ENV_SIZE];

	sh(t, "mkdir -p %s", dir);
	strcpy(env.slot[0], args);
	env_render(&env, buf);
	fd = root_open(&t->root, O_RDONLY | O_DIRECTORY, NULL, "/%s", dir);
	assert_int_equal(machine_create_durable(&t->root, fd, ENV_FILE_NAME, buf, ENV_SIZE, NULL),
			 0);
}

/* Two installations on one disk: grub.cfg of each names its own directory. */
static void test_installations(void **state)
{
	struct tree t;

	(void)state;
	tree_init(&t);
	sh(&t, "mkdir -p sys/firmware/efi boot/grub boot/efi etc; "
	       "echo 'UUID=AB-1 /boot/efi vfat umask=0077 0 1' > etc/fstab; "
	       "printf 'set railhead_installation=\"1234-AB\"\\n" REAL "' > boot/grub/grub.cfg");
	lay_env(&t, "boot/efi/EFI/railhead/other", "other=1");
	expect_env(&t, false, "/boot/efi/EFI/railhead/1234-AB/railhead.env", NULL);
	lay_env(&t, "boot/efi/EFI/railhead/1234-AB", "own=1");
	expect_env(&t, true, "/boot/efi/EFI/railhead/1234-AB/railhead.env", "own=1");
	/* A file further up is used where there is none, and taken over by the first write. */
	lay_env(&t, "boot/efi/EFI/railhead", "baked=1");
	expect_env(&t, true, "/boot/efi/EFI/railhead/1234-AB/railhead.env", "own=1");
	sh(&t, "rm boot/efi/EFI/railhead/1234-AB/railhead.env");
	expect_env(&t, false, "/boot/efi/EFI/railhead/railhead.env", "baked=1");
	sh(&t, "rmdir boot/efi/EFI/railhead/1234-AB");
	expect_env(&t, false, "/boot/efi/EFI/railhead/railhead.env", "baked=1");
	expect_env(&t, true, "/boot/efi/EFI/railhead/1234-AB/railhead.env", "baked=1");
	sh(&t, "test ! -e boot/efi/EFI/railhead/railhead.env");
	expect_env(&t, false, "/boot/efi/EFI/railhead/1234-AB/railhead.env", "baked=1");
	/* an empty one is none */
	sh(&t, ": > boot/efi/EFI/railhead/railhead.env; "
	       "rm boot/efi/EFI/railhead/1234-AB/railhead.env");
	expect_env(&t, false, "/boot/efi/EFI/railhead/1234-AB/railhead.env", NULL);
	/* what is no name of a directory of ours is not followed */
	sh(&t, "sed -i 's/1234-AB/..\\/x/' boot/grub/grub.cfg");
	expect_env(&t, false, "/boot/efi/EFI/railhead/railhead.env", NULL);
	tree_done(&t);
}

/* RHEL 8: grub.cfg and grubenv are on the ESP, the entries in /boot. */
static void test_esp_config(void **state)
{
	struct bootpart b;
	struct err err;
	struct tree t;

	(void)state;
	tree_init(&t);
	sh(&t, "mkdir -p sys/firmware/efi boot/efi/EFI/redhat boot/efi/EFI/BOOT boot/grub2; "
	       "printf '" REAL "' > boot/efi/EFI/redhat/grub.cfg");
	assert_int_equal(bootpart_open(&t.root, false, &b, &err), 0);
	assert_null(b.loader_why);
	assert_string_equal(b.path, "/boot/efi/EFI/railhead/railhead.env");
	bootpart_close(&b, NULL);
	/* a stub, an empty file and a copy are no second configuration */
	sh(&t, "cd boot/efi/EFI; mkdir -p fedora centos; "
	       "printf 'search --fs-uuid --set=dev 1\\nset prefix=($dev)/grub2\\n"
	       "configfile $prefix/grub.cfg\\n' > fedora/grub.cfg; "
	       ": > BOOT/grub.cfg; cp redhat/grub.cfg centos/grub.cfg");
	assert_int_equal(bootpart_open(&t.root, false, &b, &err), 0);
	assert_null(b.loader_why);
	bootpart_close(&b, NULL);
	/* another one is */
	sh(&t, "printf 'menuentry x {\\nlinux /v\\n}\\n' > boot/efi/EFI/centos/grub.cfg");
	assert_int_equal(bootpart_open(&t.root, false, &b, &err), 0);
	assert_non_null(b.loader_why);
	assert_false(b.entry_lacks_kargs);
	assert_non_null(strstr(b.loader_why, "EFI/centos/grub.cfg"));
	assert_non_null(strstr(b.loader_why, "EFI/redhat/grub.cfg"));
	bootpart_close(&b, NULL);
	/* /boot goes first, whatever lies on the ESP */
	sh(&t, "printf '" REAL "' > boot/grub2/grub.cfg");
	assert_int_equal(bootpart_open(&t.root, false, &b, &err), 0);
	assert_null(b.loader_why);
	bootpart_close(&b, NULL);
	/* what is not set up is named by the path that grub2-mkconfig needs */
	sh(&t, "rm boot/grub2/grub.cfg boot/efi/EFI/redhat/grub.cfg");
	assert_int_equal(bootpart_open(&t.root, false, &b, &err), 0);
	assert_non_null(b.loader_why);
	assert_non_null(strstr(b.loader_why, "grub2-mkconfig -o /boot/efi/EFI/centos/grub.cfg"));
	bootpart_close(&b, NULL);
	/* grubenv beside it names the entry that boots */
	sh(&t,
	   "mkdir -p boot/loader/entries; rm -r boot/efi/EFI/centos; mkdir boot/efi/EFI/centos; "
	   "printf 'railhead.env\\nexport railhead_kargs\\nblscfg\\n' "
	   "> boot/efi/EFI/centos/grub.cfg; "
	   "printf 'saved_entry=old\\n' > boot/efi/EFI/centos/grubenv; "
	   "echo 'options $kernelopts $railhead_kargs' > boot/loader/entries/old.conf; "
	   "echo 'options $kernelopts' > boot/loader/entries/new.conf");
	assert_int_equal(bootpart_open(&t.root, false, &b, &err), 0);
	assert_null(b.loader_why);
	bootpart_close(&b, NULL);
	sh(&t, "printf 'saved_entry=new\\n' > boot/efi/EFI/centos/grubenv");
	assert_int_equal(bootpart_open(&t.root, false, &b, &err), 0);
	assert_true(b.entry_lacks_kargs);
	bootpart_close(&b, NULL);
	tree_done(&t);
}

#define VENDOR "-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"

/* A variable of efivarfs: four bytes of attributes, the text as UTF-16, a NUL or none. */
static void variable(const struct tree *t, const char *name, const char *text)
{
	cleanup_free char *path = xasprintf("%s/sys/firmware/efi/efivars/%s" VENDOR, t->path, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fwrite("\x06\0\0\0", 1, 4, f);
	for (const char *p = text; *p; p++) {
		fputc(*p, f);
		fputc('\0', f);
	}
	fwrite("\0\0", 1, 2, f);
	fclose(f);
}

/* What booted the machine counts, not the grub.cfg that lies around. */
static void test_booted(void **state)
{
	static const struct {
		const char *loader, *stub;
		const char *says; /* NULL: GRUB */
		const char *remedy;
	} cases[] = {
		{NULL, NULL, NULL, NULL},
		{"GRUB 2.12", NULL, NULL, NULL},
		{"GRUB 2.12", "systemd-stub 255", NULL, NULL},
		{"rEFInd 0.14", NULL, NULL, NULL},
		{"", "", NULL, NULL},
		{"systemd-boot 252.39-1", NULL, "systemd-boot 252.39-1 booted",
		 "/etc/kernel/cmdline"},
		{NULL, "systemd-stub 255.4", "unified kernel image", "--format=line"},
		{"systemd-boot 255.4", "systemd-stub 255.4", "started by systemd-boot 255.4",
		 "--format=uki"},
		{"rEFInd 0.14", "systemd-stub 255.4", "started by rEFInd 0.14", "--format=uki"},
		{"systemd-boot \n\x7f%s%n", NULL, "systemd-boot ??%s%n booted", "--format=line"},
	};
	struct bootpart b;
	struct err err;
	struct tree t;

	(void)state;
	tree_init(&t);
	sh(&t, "mkdir -p sys/firmware/efi/efivars boot/grub boot/efi; "
	       "printf '" REAL "' > boot/grub/grub.cfg");
	for (size_t i = 0; i < array_len(cases); i++) {
		sh(&t, "rm -f sys/firmware/efi/efivars/*");
		if (cases[i].loader)
			variable(&t, "LoaderInfo", cases[i].loader);
		if (cases[i].stub)
			variable(&t, "StubInfo", cases[i].stub);
		assert_int_equal(bootpart_open(&t.root, false, &b, &err), 0);
		if (!b.loader_why != !cases[i].says || b.entry_lacks_kargs)
			fail_msg("case %zu: %s", i, b.loader_why ? b.loader_why : "GRUB");
		if (cases[i].says && (!strstr(b.loader_why, cases[i].says) ||
				      !strstr(b.loader_why, cases[i].remedy)))
			fail_msg("case %zu: %s", i, b.loader_why);
		bootpart_close(&b, NULL);
	}
	/* what can't be read as text says nothing */
	sh(&t, "rm -f sys/firmware/efi/efivars/*; cd sys/firmware/efi/efivars; "
	       "printf 'x' > LoaderInfo" VENDOR "; head -c 9000 /dev/zero > StubInfo" VENDOR);
	assert_int_equal(bootpart_open(&t.root, false, &b, &err), 0);
	assert_null(b.loader_why);
	bootpart_close(&b, NULL);
	tree_done(&t);
}

/* As ESP:/EFI is reached by /boot/efi where the ESP is mounted at /boot: another device than the
 * root's. */
static void test_place_is_mount_point(void **state)
{
	struct root live;

	(void)state;
	assert_int_equal(root_init(&live, NULL, NULL), 0);
	assert_true(place_is_mount_point(&live, "/proc"));
	assert_false(place_is_mount_point(&live, "/proc/sys"));
	assert_false(place_is_mount_point(&live, "/usr/bin"));
	assert_false(place_is_mount_point(&live, "/nowhere"));
	assert_false(place_is_mounted_vfat(&live, "/proc"));
	assert_false(place_is_mounted_vfat(&live, "/nowhere"));
	root_close(&live);
}

/* The mount at which a tree's file system is opened, with these lines as its mountinfo; or NULL. */
static void expect_mount(const struct tree *t, const char *lines, const char *at)
{
	struct place p = {.fd = -1};
	struct stat st;

	assert_int_equal(root_stat(&t->root, &st, "/"), 0);
	sh(t, "sed 's/DEV/%u:%u/' >proc/self/mountinfo <<'E'\n%sE", major(st.st_dev),
	   minor(st.st_dev), lines);
	assert_int_equal(place_open_mounted(&t->root, &p, st.st_dev), at != NULL);
	if (at) {
		assert_true(p.fd >= 0 && p.mounted);
		assert_string_equal(p.at, at);
	}
	place_free(&p);
}

static void test_place_open_mounted(void **state)
{
	struct tree t;

	(void)state;
	tree_init(&t);
	sh(&t, "mkdir -p proc/self efi mnt/an\\ esp");
	expect_mount(&t, "30 1 DEV / /efi rw,relatime - vfat /dev/sda1 rw\n", "/efi");
	expect_mount(&t, "30 1 DEV / /efi ro - vfat /dev/sda1 ro\n", "/efi");
	/* a writable mount first; octal digits stand for a blank */
	expect_mount(&t,
		     "30 1 DEV / /efi ro - vfat /dev/sda1 rw\n"
		     "31 1 DEV / /mnt/an\\040esp rw - vfat /dev/sda1 rw\n",
		     "/mnt/an esp");
	/* a directory of it, another file system, a place that is gone */
	expect_mount(&t,
		     "30 1 DEV /EFI /efi rw - vfat /dev/sda1 rw\n"
		     "31 1 8:99 / /efi rw - vfat /dev/sda2 rw\n"
		     "32 1 DEV / /gone rw - vfat /dev/sda1 rw\n",
		     NULL);
	expect_mount(&t, "", NULL);
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
	cleanup_grub_config struct grub_config c = {0};
	cleanup_free char *path = NULL;
	struct tree t;
	struct err err = {0};
	size_t n;
	FILE *f;

	(void)state;
	/* make runs the tests from the top of the source tree */
	assert_int_equal(access("src/loader/gen-snippet.sh", X_OK), 0);
	tree_init(&t);
	sh(&t, "cd '%s' && src/loader/gen-snippet.sh > %s/05_railhead",
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
	c.cfg = xcalloc(1, 65536);
	n = fread(c.cfg, 1, 65535, f);
	fclose(f);
	assert_true(n > 0);
	assert_int_equal(grub_cfg_check(&c, NULL, &err), 0);
	assert_int_equal(grub_cfg_check(&c, "AB-1", &err), 0);
	tree_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bios),
		cmocka_unit_test(test_bls),
		cmocka_unit_test(test_efi),
		cmocka_unit_test(test_xbootldr),
		cmocka_unit_test(test_installations),
		cmocka_unit_test(test_esp_config),
		cmocka_unit_test(test_booted),
		cmocka_unit_test(test_bad_fstab),
		cmocka_unit_test(test_place_is_mount_point),
		cmocka_unit_test(test_place_open_mounted),
		cmocka_unit_test(test_place_no_trial),
		cmocka_unit_test(test_snippet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
