/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "loader/grub.h"

#define LOADS "\tset railhead_file=\"$prefix/railhead.env\"\nexport railhead_kargs\n"
#define ENTRY "menuentry 'x' {\n\tlinux /vmlinuz root=UUID=1 ro quiet $railhead_kargs\n}\n"
#define PLAIN "menuentry 'x' {\n\tlinux /vmlinuz root=UUID=1 ro single\n}\n"
#define SAVED "set default=\"${saved_entry}\"\n"
#define NEXT "set default=\"${next_entry}\"\n"

static void check(size_t i, const struct grub_config *c, const char *uuid, int want,
		  const char *says)
{
	struct err err = {0};
	int r = grub_cfg_check(c, uuid, &err);

	if (r != want)
		fail_msg("case %zu: %d (%s)", i, r, err.text);
	if (says && !strstr(err.text, says))
		fail_msg("case %zu: %s", i, err.text);
}

static void test_plain(void **state)
{
	static const struct {
		const char *cfg, *uuid;
		int r;
		const char *says;
	} t[] = {
		{LOADS ENTRY, NULL, 0, NULL},
		{LOADS ENTRY PLAIN, NULL, 0, NULL},
		{LOADS PLAIN, NULL, -ESTALE, "no menu entry"},
		{ENTRY, NULL, -ENOENT, "does not read railhead.env"},
		{"", NULL, -ENOENT, "update-grub"},
		{"# railhead.env\n# export railhead_kargs\n" ENTRY, NULL, -ENOENT, "update-grub"},
		{LOADS "# linux /vmlinuz $railhead_kargs\n", NULL, -ESTALE, "no menu entry"},
		{LOADS "\tlinux16 /v ${railhead_kargs}", NULL, 0, NULL},
		{LOADS "linux /v \\$railhead_kargs", NULL, -ESTALE, "no menu entry"},
		{LOADS "linux /v $railhead_kargs_old", NULL, -ESTALE, "no menu entry"},
		{LOADS "linux /v railhead_kargs $", NULL, -ESTALE, "no menu entry"},
		{LOADS "linux /v a=$railhead_kargs;", NULL, 0, NULL},
		{LOADS "linuxxen /v $railhead_kargs", NULL, -ESTALE, "no menu entry"},
		/* blscfg that finds no entry */
		{LOADS "blscfg\n", NULL, -ESTALE, "install a kernel, then run `railhead kargs"},
		{LOADS "blscfg\n" ENTRY, NULL, 0, NULL},
		/* flattened: the variable beside it does not help */
		{LOADS ENTRY "linux /v ro a=1 railhead.slot=b $railhead_kargs\n", NULL, -ESTALE,
		 "GRUB_CMDLINE_LINUX"},
		{LOADS "\n\nlinux /v a=1 railhead.slot=b\n", NULL, -ESTALE, "line 5"},
		{LOADS ENTRY "# linux /v a=1 railhead.slot=b\n", NULL, 0, NULL},
		{LOADS ENTRY "linux /v norailhead.slot=b\n", NULL, 0, NULL},
		/* EFI: the file system that GRUB searches must be the ESP */
		{"set railhead_esp=\"AB-1\"\n" LOADS ENTRY, "AB-1", 0, NULL},
		{"set railhead_esp=\"AB-2\"\n" LOADS ENTRY, "AB-1", -ENOENT, "AB-1"},
		{LOADS ENTRY, "AB-1", -ENOENT, "EFI system partition"},
		/* ... or the file is not read at all, whatever the entries have */
		{LOADS PLAIN, "AB-1", -ENOENT, "EFI system partition"},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++)
		check(i, &(struct grub_config){.cfg = (char *)t[i].cfg}, t[i].uuid, t[i].r,
		      t[i].says);
}

#define GRUB "grub_users $grub_users\ngrub_arg --unrestricted\n"
#define GOOD "title x\noptions root=x ro $railhead_kargs\n" GRUB
#define LACKS "title x\noptions root=x ro\n" GRUB
#define FLAT "title x\noptions root=x ro iommu=pt railhead.slot=a\n" GRUB
#define FOREIGN "title x\noptions root=x ro\n"

/* Two entries, "a" and "b". */
static void test_entries(void **state)
{
	static const struct {
		const char *cfg, *env, *a, *b;
		int r;
		const char *says;
	} t[] = {
		{LOADS "blscfg\n", NULL, GOOD, GOOD, 0, NULL},
		{LOADS "insmod blscfg\n\tblscfg\n", NULL, GOOD, LACKS, -ESTALE, "b.conf"},
		{LOADS "blscfg\n" ENTRY, NULL, LACKS, GOOD, -ESTALE, "kargs --mend"},
		{LOADS "blscfg\n", NULL, GOOD, FLAT, -ESTALE, "b.conf, has railhead's arguments"},
		{LOADS "blscfg\n", NULL, FLAT, GOOD, -ESTALE, "kargs --mend"},
		{LOADS "blscfg\n", NULL, GOOD, FOREIGN, -ESTALE, "edit its options line"},
		{LOADS "blscfg\n", NULL, GOOD, NULL, -ESTALE, "b.conf can't be read"},
		/* without blscfg grub.cfg counts, and nothing else */
		{LOADS ENTRY, NULL, LACKS, FLAT, 0, NULL},
		{LOADS PLAIN, NULL, GOOD, GOOD, -ESTALE, "no menu entry"},
		/* the one that boots is named */
		{LOADS "blscfg\n", "saved_entry=a\n", GOOD, LACKS, 0, NULL},
		{LOADS "blscfg\n", "# x\nsaved_entry=b\n", GOOD, LACKS, -ESTALE,
		 "b.conf, which GRUB boots by default, has no $railhead_kargs"},
		{LOADS "blscfg\n", "saved_entry=b\n", GOOD, FLAT, -ESTALE,
		 "b.conf, which GRUB boots by default, has railhead's"},
		{LOADS "blscfg\n", "saved_entry=b\nnext_entry=a\n", GOOD, LACKS, 0, NULL},
		{LOADS "blscfg\n", "saved_entry=a\nnext_entry=b\n", GOOD, LACKS, -ESTALE, "b.conf"},
		{LOADS "blscfg\n", "saved_entry=a\nnext_entry=\n", GOOD, LACKS, 0, NULL},
		/* ... or not: all must have it */
		{LOADS "blscfg\n", "saved_entry=\n", GOOD, LACKS, -ESTALE, "b.conf, has no"},
		{LOADS "blscfg\n", "saved_entry=0\n", GOOD, LACKS, -ESTALE, "b.conf, has no"},
		{LOADS "blscfg\n", "saved_entry=Linux (6.1)\n", GOOD, LACKS, -ESTALE, "b.conf"},
		{LOADS "blscfg\n", "saved_entry=a.conf\n", GOOD, LACKS, -ESTALE, "b.conf"},
		{LOADS "blscfg\n", "xsaved_entry=a\n#saved_entry=a\n", GOOD, LACKS, -ESTALE, "b"},
		{LOADS "blscfg\n", "saved_entry=x-0-rescue\n", GOOD, LACKS, -ESTALE, "b.conf"},
		/* a one-time choice that is none of these */
		{LOADS "blscfg\n", "saved_entry=a\nnext_entry=1\n", GOOD, LACKS, -ESTALE, "b.conf"},
		/* what grub.cfg makes of it */
		{LOADS NEXT SAVED "blscfg\n", "saved_entry=a\n", GOOD, LACKS, 0, NULL},
		{LOADS NEXT "set default=\"0\"\nblscfg\n", "saved_entry=a\n", GOOD, LACKS, -ESTALE,
		 "b.conf, has no"},
		{LOADS NEXT "set default=\"0\"\nblscfg\n", "next_entry=a\n", GOOD, LACKS, 0, NULL},
		/* RHEL 8 */
		{LOADS "blscfg\n", "kernelopts=root=x ro\n",
		 "options $kernelopts $tuned_params $railhead_kargs\n" GRUB, GOOD, 0, NULL},
		{LOADS "blscfg\n", "kernelopts=root=x ro\n", "options $kernelopts\n" GRUB, GOOD,
		 -ESTALE, "a.conf"},
		{LOADS "blscfg\n", "kernelopts=root=x $railhead_kargs\n",
		 "options $kernelopts\n" GRUB, GOOD, 0, NULL},
		{LOADS "set kernelopts=\"root=x $railhead_kargs\"\nblscfg\n", NULL,
		 "options $kernelopts\n" GRUB, GOOD, 0, NULL},
		/* grubenv's goes before */
		{LOADS "set kernelopts=\"root=x $railhead_kargs\"\nblscfg\n", "kernelopts=ro\n",
		 "options $kernelopts\n" GRUB, GOOD, -ESTALE, "a.conf"},
		{LOADS "blscfg\n", "kernelopts=root=x a=1 railhead.slot=a\n",
		 "options $kernelopts $railhead_kargs\n" GRUB, GOOD, -ESTALE, "grub2-editenv"},
		/* no options line that GRUB would see */
		{LOADS "blscfg\n", NULL, "title x\n" GRUB, GOOD, -ESTALE, "nor an options line"},
		{LOADS "blscfg\n", NULL, GRUB "\noptions $railhead_kargs\n", GOOD, -ESTALE,
		 "nor an options line"},
		{LOADS "set default_kernelopts=\"root=x $railhead_kargs\"\nblscfg\n", NULL,
		 "title x\n" GRUB, GOOD, 0, NULL},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		struct bls_entry e[] = {{(char *)"a.conf", (char *)t[i].a},
					{(char *)"b.conf", (char *)t[i].b}};

		check(i,
		      &(struct grub_config){.cfg = (char *)t[i].cfg,
					    .env = (char *)t[i].env,
					    .entries = {e, 2, 2}},
		      NULL, t[i].r, t[i].says);
	}
}

/* The remedy is the distribution's own command. */
static void test_remedy(void **state)
{
	struct grub_config c = {
		.cfg = (char *)"", .dir = "grub", .path = (char *)"/boot/grub/grub.cfg"};

	(void)state;
	check(0, &c, NULL, -ENOENT, "run update-grub");
	c.dir = "grub2";
	c.path = (char *)"/boot/grub2/grub.cfg";
	check(1, &c, NULL, -ENOENT, "run grub2-mkconfig -o /boot/grub2/grub.cfg after");
	c.dir = NULL;
	c.path = (char *)"/boot/efi/EFI/redhat/grub.cfg";
	check(2, &c, NULL, -ENOENT, "run grub2-mkconfig -o /boot/efi/EFI/redhat/grub.cfg after");
}

static void test_kernelopts(void **state)
{
	static const struct {
		const char *cfg, *env, *value;
	} t[] = {
		{NULL, NULL, NULL},
		{"x\n", "y=1\n", NULL},
		{"set kernelopts=\"a b\"\n", NULL, "a b"},
		{"  set kernelopts=a", "kernelopts=\n", "a"},
		{"set kernelopts=\"a\n", NULL, "\"a"},
		{"set kernelopts=\"a\"\n", "kernelopts=b c=\\\\d\\x\n", "b c=\\dx"},
		{NULL, "kernelopts=b\\", "b\\"},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		struct grub_config c = {.cfg = (char *)t[i].cfg, .env = (char *)t[i].env};
		cleanup_free char *value = grub_kernelopts(&c);

		if (!value != !t[i].value || (value && !streq(value, t[i].value)))
			fail_msg("case %zu: %s", i, value ? value : "(none)");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_remedy),
		cmocka_unit_test(test_kernelopts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
